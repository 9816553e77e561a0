"""Lines of the lists of sets: words, numbers and fields of CSV, with the line that is wrong."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from headrace._sets.set_file import SetFile

__all__ = ["csv_rows", "floats", "text_of", "whole_numbers"]


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


def floats(file: SetFile, line: int, words: Sequence[str], what: str) -> list[float]:
    try:
        return [float(word) for word in words]
    except ValueError:
        file.fail(f"{what} must be numbers, and are {' '.join(words)[:80]}", line)


def text_of(file: SetFile, line: int, text: str) -> str:
    """The text, which must be UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        file.fail("it is not UTF-8", line)
    return text
