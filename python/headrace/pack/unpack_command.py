"""`headrace unpack`: the rows of files as files of their own."""

from __future__ import annotations

import argparse
import sys

from headrace import _formats
from headrace._arguments.counted import counted
from headrace._arguments.options import file_path
from headrace._arguments.printed import say
from headrace.errors import GraphError
from headrace.pack.record_file import is_record_file
from headrace.pack.unpacking import unpack_records

HELP = "write the rows of files to files of their own"
DESCRIPTION = (
    "Of a RecordIO file it writes each image to FOLDER/LABEL/ID.jpg, or .png, .webp, .gif, .tif or .bmp, as its bytes say, else .bin, and "
    "FOLDER/list.lst, from which `headrace pack --pass-through` packs them again. Of other formats it writes the "
    "bytes of each row to FOLDER/NUMBER.jpg, or what they are, and all other columns to FOLDER/metadata.jsonl."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("file", metavar="PATH", help="a file, a folder, or a pattern in quotes")
    command.add_argument("folder", metavar="FOLDER", help="where to write; it must be new or empty")
    command.add_argument("--raw", action="store_true", help="of RecordIO: write each record to FOLDER/NUMBER.bin")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    file, folder = file_path("PATH", options.file, "unpack"), file_path("FOLDER", options.folder, "unpack")
    if not is_record_file(file):
        return _unpack_rows(_formats.found_at(file, "unpack"), folder, options.raw)
    done = unpack_records(file, folder, options.raw)
    for each in done.lost:
        say(f"{file}: byte {each.offset:,}: {each.bytes:,} bytes lost: {each.reason}", file=sys.stderr)
    listed = "" if done.listing is None else f", listed in {done.listing}"
    empty = f"; {done.empty:,} records hold no image" if done.empty else ""
    say(f"{folder}: {done.files:,} files{listed}{empty}")
    return 1 if done.lost else 0


def _unpack_rows(found: _formats.Found, folder: str, raw: bool) -> int:
    if raw:
        raise GraphError(f"unpack: --raw is for records of RecordIO, and this is {found.format.name}; leave it out")
    done = _formats.unpack_rows(found, folder)
    for fault in done.faults:
        say(fault, file=sys.stderr)
    say(f"{folder}: {counted(done.files, 'file')} of {counted(done.rows, 'row')}, listed in {done.listing}")
    return 1 if done.faults else 0
