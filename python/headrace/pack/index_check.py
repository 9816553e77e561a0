"""Compares an index, `.idx`, with the records that it leads to."""

import codecs
from collections.abc import Iterable

from headrace._files.system_error import system_error

__all__ = ["IndexLine", "check_index", "read_index"]

_MOST_DIGITS = 20

IndexLine = tuple[int, int]
"""Key and offset."""


def read_index(path: str) -> tuple[list[IndexLine], list[str]]:
    """Its lines, and what is wrong with those that are none."""
    try:
        with open(path, "rb") as file:
            lines = file.read().removeprefix(codecs.BOM_UTF8).splitlines()
    except OSError as error:
        raise system_error(f"cannot read the index {path}", error) from None
    good: list[IndexLine] = []
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        fields = line.split(b"\t")
        # More digits than 64 bits have are no number of an index, and Python does not read any number of them.
        if len(fields) == 2 and all(field.strip().isdigit() and len(field) <= _MOST_DIGITS for field in fields):
            good.append((int(fields[0]), int(fields[1])))
        elif line.strip():
            wrong.append(f"line {number} is no key and offset")
    return good, wrong


def check_index(path: str, offsets: Iterable[int]) -> list[str]:
    """What is wrong with the index, a sentence each; `offsets` are those of the file's records. Empty: nothing."""
    lines, wrong = read_index(path)
    heads = set(offsets)
    keys: set[int] = set()
    led_to: set[int] = set()
    for key, offset in lines:
        if key in keys:
            wrong.append(f"key {key} stands there twice")
        if offset not in heads:
            wrong.append(f"key {key} leads to byte {offset:,}, where no record begins")
        keys.add(key)
        led_to.add(offset)
    missing = sorted(heads - led_to)
    if missing:
        wrong.append(f"{len(missing):,} records are not in it, the first of them at byte {missing[0]:,}")
    return wrong
