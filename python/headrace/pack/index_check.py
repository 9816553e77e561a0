"""Compares an index, `.idx`, with the records that it leads to."""

import codecs
from collections.abc import Iterable

from headrace._files.opened_file import open_to_read
from headrace._files.system_error import system_error
from headrace.errors import DataError

__all__ = ["IndexLine", "check_index", "read_index"]

IndexLine = tuple[int, int]
"""Key and offset."""

# A line is at most so long, 20 digits each with spaces around them, and a record has at least the bytes of its head.
_LINE_BYTES = 64
_HEAD_BYTES = 8
# Digits of 64 bits.
_DIGITS = 20
# What is wrong is named so often; the rest is counted.
_NAMED = 1000


class _Faults:
    """Sentences, of which there are no more than are read."""

    def __init__(self) -> None:
        self._named: list[str] = []
        self._more = 0

    def add(self, sentence: str) -> None:
        if len(self._named) < _NAMED:
            self._named.append(sentence)
        else:
            self._more += 1

    @property
    def all(self) -> list[str]:
        return [*self._named, f"{self._more:,} more faults"] if self._more else self._named


def read_index(path: str, record_bytes: int) -> tuple[list[IndexLine], list[str]]:
    """Its lines, and what is wrong with those that are none.

    Raises DataError if it is longer than that of a file of so many bytes can be, UnsupportedError if it is not a regular
    file, and the errors of the system.
    """
    faults = _Faults()
    return _lines(path, record_bytes, faults), faults.all


def check_index(path: str, offsets: Iterable[int], record_bytes: int) -> list[str]:
    """What is wrong with the index, a sentence each; `offsets` are those of the file's records, which has so many bytes.
    Empty: nothing. Raises as `read_index`."""
    faults = _Faults()
    lines = _lines(path, record_bytes, faults)
    heads = set(offsets)
    keys: set[int] = set()
    led_to: set[int] = set()
    for key, offset in lines:
        if key in keys:
            faults.add(f"key {key} stands there twice")
        if offset not in heads:
            faults.add(f"key {key} leads to byte {offset:,}, where no record begins")
        keys.add(key)
        led_to.add(offset)
    missing = sorted(heads - led_to)
    if missing:
        faults.add(f"{len(missing):,} records are not in it, the first of them at byte {missing[0]:,}")
    return faults.all


def _lines(path: str, record_bytes: int, faults: _Faults) -> list[IndexLine]:
    lines = _text(path, record_bytes).removeprefix(codecs.BOM_UTF8).splitlines()
    good: list[IndexLine] = []
    for number, line in enumerate(lines, 1):
        fields = [_number(field) for field in line.split(b"\t")]
        if len(fields) == 2 and fields[0] is not None and fields[1] is not None:
            good.append((fields[0], fields[1]))
        elif line.strip():
            faults.add(f"line {number} is no key and offset")
    return good


def _text(path: str, record_bytes: int) -> bytes:
    most = max(record_bytes // _HEAD_BYTES, 1) * _LINE_BYTES
    try:
        with open_to_read(path) as file:
            text = file.read(most + 1)
    except OSError as error:
        raise system_error(f"cannot read the index {path}", error) from None
    if len(text) > most:
        raise DataError(f"{path} is no index of the file beside it: it has more than {most:,} bytes")
    return text


def _number(field: bytes) -> int | None:
    """None: it is no number of 64 bits."""
    digits = field.strip()
    if not digits.isdigit() or len(digits) > _DIGITS:
        return None
    number = int(digits)
    return number if number < 1 << 64 else None
