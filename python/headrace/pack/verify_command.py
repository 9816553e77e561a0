"""`headrace verify`: whether every record of a file can be read, found by its index, and decoded."""

import argparse

from headrace._arguments.options import local_path
from headrace._arguments.printed import say
from headrace.pack.verification import verify_records

HELP = "check every record of a RecordIO file, and its index"
DESCRIPTION = (
    "Reads every record, compares the index beside the file with them, and decodes every image. Names what is wrong, "
    "one line each, and ends with code 1 if anything is."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("file", metavar="FILE", help="the file, .rec")
    command.add_argument("--raw", action="store_true", help="the records are no images: decode nothing")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    path = local_path("FILE", options.file, "verify")
    found = verify_records(path, decodes=not options.raw)
    for fault in found.faults:
        say(fault)
    index = "no index" if found.index is None else f"index {found.index}"
    faults = _counted(len(found.faults), "fault") if found.faults else "nothing wrong"
    images = "" if options.raw else f", {_counted(found.images, 'image')} decoded"
    say(f"{path}: {_counted(found.records, 'record')}{images}, {index}: {faults}")
    return 1 if found.faults else 0


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
