"""`headrace index`: writes the index of a RecordIO file that has none."""

import argparse
import contextlib
import sys

from headrace._arguments.options import file_path
from headrace._arguments.printed import say
from headrace._files.whole_file import write_whole
from headrace._records.entry_point_file import EntryPointFile, check_entry_points, entry_points_path
from headrace._records.image_payload import image_payload
from headrace._records.record_draft import index_path
from headrace.errors import DataError
from headrace.pack.kept_input import check_other_file
from headrace.pack.record_scan import RecordScan, ScannedRecord

HELP = "write the index of a RecordIO file"
DESCRIPTION = (
    "Reads a RecordIO file once and writes its .idx: a line for each record, of a key and the byte at which it begins. "
    "Keys are the records' numbers, as MXNet's rec2idx has them, or the ids in image records, as its im2rec has them. "
    "With --entry-points it also writes FILE.points, by which crops of JPEGs are decoded faster from the first epoch on."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("file", metavar="FILE", help="the file, .rec")
    command.add_argument("index", metavar="INDEX", nargs="?", help="what to write; FILE with .idx if not given")
    command.add_argument("--ids", action="store_true", help="the keys are the ids in image records")
    command.add_argument(
        "--on-damage",
        default="fail",
        choices=("fail", "skip"),
        help="of a damaged file: no index, or one of the records that are good (fail)",
    )
    command.add_argument(
        "--entry-points", action="store_true", help="write FILE.points, too: where decoding of each JPEG can begin"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    file = file_path("FILE", options.file, "index")
    path = file_path("INDEX", options.index, "index") if options.index else index_path(file)
    check_other_file("INDEX", path, file, "index")
    if options.entry_points:
        check_entry_points(file, "index")
        check_other_file("INDEX", path, entry_points_path(file), "index")
    with EntryPointFile(file) if options.entry_points else contextlib.nullcontext() as points:
        _index(options, file, path, points)
    return 0


def _index(options: argparse.Namespace, file: str, path: str, points: EntryPointFile | None) -> None:
    scan = RecordScan(file)
    keys: dict[int, int] = {}
    for number, record in enumerate(scan):
        key = _id(file, record) if options.ids else number
        if key in keys:
            raise DataError(
                f"{file}: the records at bytes {keys[key]:,} and {record.offset:,} have the same id, {key}; leave "
                "--ids out to number them"
            )
        keys[key] = record.offset
        if points is not None:
            points.add(record.payload)
    for each in scan.lost:
        say(f"{file}: byte {each.offset:,}: {each.bytes:,} bytes lost: {each.reason}", file=sys.stderr)
    if scan.lost and options.on_damage == "fail":
        raise DataError(f"{file} is damaged; --on-damage skip writes an index of the records that are good")
    text = "".join(f"{key}\t{offset}\n" for key, offset in keys.items())
    write_whole(path, text.encode(), f"cannot write the index {path}", named=False)
    say(f"{path}: {len(keys):,} records")
    if points is not None:
        images = points.finish()
        say(f"{points.path}: entry points of {images:,} images")


def _id(path: str, record: ScannedRecord) -> int:
    image = image_payload(record.payload)
    if image is None:
        raise DataError(f"{path}: the record at byte {record.offset:,} is no image record, so it has no id")
    return image.key
