"""`headrace unpack`: the records of a file as files."""

import argparse
import sys

from headrace._arguments.options import local_path
from headrace._arguments.printed import say
from headrace.pack.unpacking import unpack_records

HELP = "write the records of a RecordIO file to files"
DESCRIPTION = (
    "Writes each image to FOLDER/LABEL/ID.jpg, or .png, .webp, .gif, .tif or .bmp, as its bytes say, else .bin, and "
    "FOLDER/list.lst, from which `headrace pack --pass-through` packs them again."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("file", metavar="FILE", help="the file, .rec")
    command.add_argument("folder", metavar="FOLDER", help="where to write; it must be new or empty")
    command.add_argument("--raw", action="store_true", help="write the bytes of each record to FOLDER/NUMBER.bin")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    file, folder = local_path("FILE", options.file, "unpack"), local_path("FOLDER", options.folder, "unpack")
    done = unpack_records(file, folder, options.raw)
    for each in done.lost:
        say(f"{file}: byte {each.offset:,}: {each.bytes:,} bytes lost: {each.reason}", file=sys.stderr)
    listed = "" if done.listing is None else f", listed in {done.listing}"
    empty = f"; {done.empty:,} records hold no image" if done.empty else ""
    say(f"{folder}: {done.files:,} files{listed}{empty}")
    return 1 if done.lost else 0
