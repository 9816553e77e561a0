"""Lines of the lists of sets: words, numbers and fields of CSV, with the line that is wrong."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from headrace._sets.set_file import SetFile

__all__ = ["csv_rows", "floats", "number_rows", "text_of", "whole_numbers"]

# What is read at once, in texts of digits, signs and spaces alone.
_PLAIN = set("0123456789- ")
_NO_NUMBER = re.compile(r"-(?!\d)|\d-|\d{19}")

_MOST = 1e30


def csv_rows(file: SetFile, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """The fields of each line of CSV with double quotes, and its number."""
    numbered = list(file.lines())
    reader = csv.reader((text for _, text in numbered), delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            yield numbered[reader.line_num - 1][0], row
    except csv.Error as error:
        file.fail(str(error), numbered[max(reader.line_num, 1) - 1][0])


def whole_numbers(file: SetFile, line: int, words: Sequence[str], what: str) -> list[int]:
    try:
        found = [int(word) for word in words]
    except ValueError:
        file.fail(f"{what} must be whole numbers, and are {' '.join(words)[:80]}", line)
    if any(abs(each) >= 1 << 62 for each in found):
        file.fail(f"{what} has a number beyond 62 bits", line)
    return found


def number_rows(file: SetFile, entries: Sequence[tuple[int, str]], width: int) -> Any:
    """int64 of shape (n, width), of lines and their texts."""
    for line, text in entries:
        if len(text.split()) != width:
            file.fail(f"it must have {width} numbers, and has {len(text.split())}", line)
    joined = " ".join(text for _, text in entries)
    if set(joined) <= _PLAIN and not _NO_NUMBER.search(joined):
        return np.fromstring(joined, np.int64, sep=" ").reshape(-1, width)
    # Slowly, to name the line, or for what is a number only to Python.
    return np.array([whole_numbers(file, line, text.split(), "it") for line, text in entries], np.int64)


def floats(file: SetFile, line: int, words: Sequence[str], what: str) -> list[float]:
    """Numbers that float32 can hold."""
    try:
        found = [float(word) for word in words]
    except ValueError:
        file.fail(f"{what} must be numbers, and are {' '.join(words)[:80]}", line)
    if not all(abs(each) < _MOST for each in found):
        file.fail(f"{what} has a number that is not finite, or beyond {_MOST:g}", line)
    return found


def text_of(file: SetFile, line: int | None, text: str) -> str:
    """The text, which must be UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        file.fail("it is not UTF-8", line)
    return text
