"""`headrace verify`: whether every record of a file can be read, found by its index, and decoded."""

import argparse

from headrace import _formats
from headrace._arguments.counted import counted
from headrace._arguments.options import file_path
from headrace._arguments.printed import say
from headrace.pack.record_file import is_record_file
from headrace.pack.verification import verify_records

HELP = "check every row of files, whatever their format"
DESCRIPTION = (
    "Reads every row, with its checksums where the format has some, and decodes every image; of a RecordIO file it also "
    "compares the index beside the file. Names what is wrong, one line each, and ends with code 1 if anything is."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("file", metavar="PATH", help="a file, a folder, or a pattern in quotes")
    command.add_argument("--raw", action="store_true", help="decode nothing: the rows hold no images")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    path = file_path("PATH", options.file, "verify")
    if not is_record_file(path):
        return _verify_rows(path, decodes=not options.raw)
    found = verify_records(path, decodes=not options.raw)
    for fault in found.faults:
        say(fault)
    index = "no index" if found.index is None else f"index {found.index}"
    faults = counted(len(found.faults), "fault") if found.faults else "nothing wrong"
    images = "" if options.raw else f", {counted(found.images, 'image')} decoded"
    say(f"{path}: {counted(found.records, 'record')}{images}, {index}: {faults}")
    return 1 if found.faults else 0


def _verify_rows(path: str, decodes: bool) -> int:
    found = _formats.found_at(path, "verify")
    checked = _formats.check_rows(found, decodes)
    for fault in checked.faults:
        say(fault)
    faults = counted(len(checked.faults), "fault") if checked.faults else "nothing wrong"
    images = f", {counted(checked.images, 'image')} decoded" if checked.images else ""
    say(f"{path}: {found.format.name}, {counted(checked.rows, 'good row')}{images}: {faults}")
    return 1 if checked.faults else 0
