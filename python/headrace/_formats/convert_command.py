"""`headrace convert`: the rows of files in another format."""

import argparse
import sys
import time

from headrace import _formats
from headrace._arguments import options as check
from headrace._arguments.counted import counted
from headrace._arguments.printed import say
from headrace.errors import GraphError

HELP = "write the rows of files in another format"
DESCRIPTION = (
    "Reads whatever headrace.open reads, and writes its rows, in their order, as RecordIO (.rec), MindRecord (.mindrecord), "
    "TFRecord (.tfrecord), a tar archive for WebDataset (.tar) or Parquet (.parquet). The bytes are the same whatever the "
    "number of workers. Files get their names together, when all are complete."
)
_OF = "convert"
_MOST_FILES = 99_999


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("source", metavar="SOURCE", help="a file, a folder, or a pattern in quotes")
    command.add_argument("target", metavar="TARGET", help="the file to write; of several what their names begin with")
    command.add_argument("--to", metavar="FORMAT", help="of TARGET: recordio, mindrecord, tfrecord, tar or parquet")
    command.add_argument(
        "--columns",
        metavar="COLUMN[=NAME]",
        nargs="+",
        default=[],
        help="the columns to write, in this order, with new names after =; otherwise all",
    )
    command.add_argument(
        "--cast",
        metavar="COLUMN=DTYPE",
        nargs="+",
        default=[],
        help="columns of SOURCE to convert, such as score=float32",
    )
    command.add_argument(
        "--files", type=int, default=1, metavar="N", help="how many files the rows are divided among (1)"
    )
    command.add_argument("--workers", type=int, metavar="N", help="the most rows at once; otherwise the engine chooses")
    command.add_argument("--resume", action="store_true", help="go on after the files that an earlier run had finished")
    command.add_argument("--overwrite", action="store_true", help="replace files of TARGET's name")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    wanted = _formats.Conversion(
        check.file_path("SOURCE", options.source, _OF),
        check.file_path("TARGET", options.target, _OF),
        None if options.to is None else options.to.lower(),
        _pairs("--columns", options.columns, is_whole=False),
        _pairs("--cast", options.cast, is_whole=True),
        check.whole("--files", options.files, 1, _OF, _MOST_FILES),
        None if options.workers is None else check.at_once("--workers", options.workers, _OF),
        options.resume,
        options.overwrite,
    )
    begun = time.monotonic()
    try:
        done = _formats.convert(wanted)
    except BaseException as error:
        for note in getattr(error, "__notes__", ()):
            say(note.replace("the same call with resume=True", "the same command with --resume"), file=sys.stderr)
        raise
    kept = f", {counted(done.kept, 'file')} kept" if done.kept else ""
    files = "" if len(done.paths) == 1 else f" in {counted(len(done.paths), 'file')}"
    seconds = time.monotonic() - begun
    say(f"{wanted.path}: {counted(done.rows, 'row')}{files}, {done.bytes:,} bytes{kept}, {seconds:,.1f} s")
    return 0


def _pairs(option: str, given: list[str], is_whole: bool) -> dict[str, str]:
    """From "a=b" to {"a": "b"}; "a" alone stands for "a=a" unless a pair `is_whole`."""
    pairs: dict[str, str] = {}
    for text in given:
        old, equals, new = text.partition("=")
        if not equals and not is_whole:
            new = old
        if not old or not new:
            raise GraphError(f"{_OF}: {option} has {check.shown(text)}; write names as in a=b")
        if old in pairs:
            raise GraphError(f"{_OF}: {option} names {check.shown(old)} twice")
        pairs[old] = new
    return pairs
