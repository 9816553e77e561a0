"""`headrace pack`: MXNet's im2rec.py by its own options."""

import argparse
import os
import sys

from headrace._arguments.options import file_path
from headrace._arguments.printed import say, say_text
from headrace._files.places import absolute, is_file, is_folder, list_folder
from headrace.errors import NotFoundError
from headrace.pack.list_making import DEFAULT_EXTS, make_lists
from headrace.pack.list_packing import Labels, NothingPackedError
from headrace.pack.packed_report import pack_and_report
from headrace.pack.recipe import ENCODINGS, Recipe
from headrace.pack.run_options import add_run_options

HELP = "list images, and pack them into records, as im2rec.py does"
DESCRIPTION = (
    "With --list, writes the lists PREFIX*.lst of the images below ROOT. Without, packs the images of every list "
    "whose path begins with PREFIX into a .rec and a .idx beside it, in the list's order. The options are those of "
    "MXNet's im2rec.py, and so are the results."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("prefix", metavar="PREFIX", help="what the paths of the lists begin with")
    command.add_argument("root", metavar="ROOT", help="the folder of the images")
    _add_list_options(command.add_argument_group("lists"))
    _add_image_options(command.add_argument_group("records"))
    add_run_options(command.add_argument_group("the run"))
    command.set_defaults(run=run)


def _add_list_options(group: "argparse._ArgumentGroup") -> None:
    group.add_argument("--list", action="store_true", help="write lists; nothing is packed")
    group.add_argument(
        "--exts", nargs="+", default=list(DEFAULT_EXTS), metavar="EXT", help="endings of images (.jpeg .jpg .png)"
    )
    group.add_argument("--chunks", type=int, default=1, metavar="N", help="divide the images among N lists (1)")
    group.add_argument(
        "--train-ratio", type=float, default=1.0, metavar="R", help="the part of the images for training (1.0)"
    )
    group.add_argument(
        "--test-ratio", type=float, default=0.0, metavar="R", help="the part for tests; the rest is for validation (0)"
    )
    group.add_argument("--recursive", action="store_true", help="folders below ROOT, too, each with its own label")
    group.add_argument(
        "--no-shuffle", dest="shuffle", action="store_false", help="keep the order of names; else shuffled by seed 100"
    )


def _add_image_options(group: "argparse._ArgumentGroup") -> None:
    group.add_argument("--pass-through", action="store_true", help="pack the files as they are")
    group.add_argument("--resize", type=int, default=0, metavar="N", help="pixels of the shorter edge (0: as it is)")
    group.add_argument("--center-crop", action="store_true", help="cut the largest square out of the middle first")
    group.add_argument(
        "--quality", type=int, default=95, metavar="N", help="of JPEG, 1 to 100; of PNG the compression, 0 to 9 (95)"
    )
    group.add_argument(
        "--color",
        type=int,
        default=1,
        choices=(-1, 0, 1),
        help="1: three channels, 0: grey, -1: as the file has them, 16 bits too, which need .png",
    )
    group.add_argument("--encoding", default=".jpg", choices=ENCODINGS, help="what is packed (.jpg)")
    group.add_argument("--pack-label", action="store_true", help="pack all labels of a line that has several")
    group.add_argument(
        "--entry-points",
        action="store_true",
        help="write a .rec.points, too: where decoding of each JPEG can begin, which makes crops faster",
    )


def run(options: argparse.Namespace) -> int:
    prefix = absolute(file_path("PREFIX", options.prefix, "pack"))
    root = absolute(file_path("ROOT", options.root, "pack"))
    return _list(options, prefix, root) if options.list else _pack(options, prefix, root)


def _list(options: argparse.Namespace, prefix: str, root: str) -> int:
    made = make_lists(
        prefix,
        root,
        recursive=options.recursive,
        exts=options.exts,
        shuffle=options.shuffle,
        chunks=options.chunks,
        train_ratio=options.train_ratio,
        test_ratio=options.test_ratio,
    )
    for folder, label in made.classes.items():
        say(f"{folder} {label}")
    say(f"{made.pictures:,} images in {', '.join(made.paths)}")
    return 0


def lists_of(prefix: str) -> list[str]:
    """The lists whose paths begin with the prefix, sorted. NotFoundError if there is none."""
    folder = prefix if is_folder(prefix) else os.path.dirname(prefix)
    paths = sorted(os.path.join(folder, name) for name, _ in list_folder(folder) if name.endswith(".lst"))
    found = [path for path in paths if path.startswith(prefix) and is_file(path)]
    if not found:
        raise NotFoundError(f"there is no list {prefix}*.lst; make one with `headrace pack --list`")
    return found


def _pack(options: argparse.Namespace, prefix: str, root: str) -> int:
    recipe = Recipe(
        options.pass_through,
        options.resize,
        options.center_crop,
        options.quality,
        options.color,
        options.encoding,
    ).checked("pack")
    code = 0
    for listing in lists_of(prefix):
        try:
            pack_and_report(
                listing,
                root,
                f"{os.path.splitext(listing)[0]}.rec",
                recipe,
                labels=Labels(packs_all=options.pack_label),
                on_error=options.on_error,
                resume=options.resume,
                workers=options.num_thread,
                entry_points=options.entry_points,
            )
        except NothingPackedError as error:
            # The images of the other lists may be good.
            say_text(f"headrace: {error}", sys.stderr)
            code = 1
    return code
