"""`headrace im2rec`: MXNet's packer in C++ by its own arguments."""

import argparse

from headrace._arguments.options import file_path
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole
from headrace.errors import GraphError, UnsupportedError
from headrace.pack.interpolation_numbers import interpolation_of
from headrace.pack.list_packing import Labels, Part
from headrace.pack.packed_report import pack_and_report
from headrace.pack.recipe import Recipe
from headrace.pack.run_options import add_run_options

HELP = "pack the images of a list into records, as MXNet's im2rec does"
DESCRIPTION = (
    "Packs the images of LIST, whose paths are relative to ROOT, into OUT, and writes an index beside it, which the "
    "C++ tool does not. The arguments behind are that tool's: color=1 (0: grey, -1: as it is, which keeps 16 bits in "
    "a .png), resize=-1 (pixels of the shorter edge), label_width=1, pack_label=0, nsplit=1 and part=0 (packs one of "
    "several parts of the list, into OUT.part000), center_crop=0 (the middle square), quality=95, encoding=.jpg or "
    ".png, inter_method=1 (0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 cubic to enlarge and area to "
    "shrink), unchanged=0 (1 packs the files as they are)."
)

_DEFAULTS = {
    "color": 1,
    "resize": -1,
    "label_width": 1,
    "pack_label": 0,
    "nsplit": 1,
    "part": 0,
    "center_crop": 0,
    "quality": 95,
    "inter_method": 1,
    "unchanged": 0,
}
_AT_RANDOM = 10
# Beyond 9 the C++ tool takes this for PNG.
_PNG_COMPRESSION = 3


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("list", metavar="LIST", help="the list, .lst")
    command.add_argument("root", metavar="ROOT", help="the folder of the images")
    command.add_argument("out", metavar="OUT", help="the file to write, .rec")
    command.add_argument("settings", metavar="KEY=VALUE", nargs="*", help="as above")
    add_run_options(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    numbers, encoding = _parsed(options.settings)
    listing = file_path("LIST", options.list, "im2rec")
    part, path = _part(listing, file_path("OUT", options.out, "im2rec"), numbers["nsplit"], numbers["part"])
    pack_and_report(
        listing,
        file_path("ROOT", options.root, "im2rec"),
        path,
        _recipe(numbers, encoding),
        labels=_labels(numbers),
        part=part,
        on_error=options.on_error,
        resume=options.resume,
        workers=options.num_thread,
    )
    return 0


def _parsed(settings: list[str]) -> tuple[dict[str, int], str]:
    numbers, encoding = dict(_DEFAULTS), ".jpg"
    for each in settings:
        key, equals, value = each.partition("=")
        if key == "encoding":
            encoding = value
        elif key in numbers and equals:
            numbers[key] = _number(key, value)
        else:
            known = ", ".join([*_DEFAULTS, "encoding"])
            raise GraphError(f"im2rec: {each!r} is no setting; write KEY=VALUE with a key of {known}")
    return numbers, encoding


def _number(key: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise GraphError(f"im2rec: {key} is {value!r}; it must be a whole number") from None


def _recipe(numbers: dict[str, int], encoding: str) -> Recipe:
    method = numbers["inter_method"]
    if method == _AT_RANDOM:
        raise UnsupportedError(
            f"im2rec: inter_method is {method}, which has the C++ tool choose for each image at random, by the "
            "system's entropy, so that no two runs agree; choose one, or 9 (by the sizes)"
        )
    interpolation = interpolation_of(method, "inter_method", "im2rec")
    quality = numbers["quality"]
    if encoding == ".png" and quality > 9:
        quality = _PNG_COMPRESSION
    return Recipe(
        numbers["unchanged"] == 1,
        max(0, numbers["resize"]),
        numbers["center_crop"] != 0,
        quality,
        numbers["color"],
        encoding,
        interpolation,
    ).checked("im2rec")


def _labels(numbers: dict[str, int]) -> Labels:
    width, packs_all = numbers["label_width"], numbers["pack_label"] != 0
    if width < 1:
        raise GraphError(f"im2rec: label_width is {width}; it must be at least 1")
    if packs_all and width == 1:
        raise GraphError("im2rec: pack_label is for lists of several labels; say how many with label_width")
    return Labels(packs_all, first_in_header=packs_all, width=width)


def _part(listing: str, out: str, count: int, number: int) -> tuple[Part | None, str]:
    if count < 1 or not 0 <= number < count:
        raise GraphError(f"im2rec: part is {number} of nsplit {count}; parts go from 0 to nsplit - 1")
    if count == 1:
        return None, out
    return _lines_of_part(listing, count, number), f"{out}.part{number:03}"


def _lines_of_part(listing: str, count: int, number: int) -> Part:
    """The lines whose first byte is in the part's bytes; the one at its border belongs to the part before."""
    try:
        data = read_whole(listing)
    except OSError as error:
        raise system_error(f"cannot read the list {listing}", error) from None
    step = -(-len(data) // count)
    begins, offset = [], 0
    # A name may have other line ends in it.
    for line in data.split(b"\n"):
        if line.strip():
            begins.append(offset)
        offset += len(line) + 1

    def lines_before(border: int) -> int:
        return sum(begin <= border for begin in begins) if border > 0 else 0

    return Part(lines_before(step * number), lines_before(step * (number + 1)) if number + 1 < count else len(begins))
