"""`headed_csv` reads a list of CSV by the names of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import csv_rows, floats, text_of, whole_numbers

__all__ = ["HeadedCsv", "headed_csv"]


class HeadedCsv:
    """The rows of a list, each with its line."""

    def __init__(self, file: SetFile, places: Mapping[str, int], rows: Sequence[tuple[int, list[str]]]) -> None:
        self._file = file
        self._places = places
        self._rows = rows

    def chosen(self, numbers: Sequence[int]) -> HeadedCsv:
        return HeadedCsv(self._file, self._places, [self._rows[number] for number in numbers])

    def fields(self, name: str) -> list[str]:
        place = self._places[name]
        return [fields[place] for _, fields in self._rows]

    def names(self, name: str) -> list[str]:
        """Of files in one folder."""
        place = self._places[name]
        for line, fields in self._rows:
            if "/" in fields[place] or not fields[place]:
                self._file.fail(f"{name} must be the name of a file, and is {fields[place][:80]!r}", line)
        return self.fields(name)

    def numbers(self, name: str) -> Any:
        place = self._places[name]
        return np.array(
            [whole_numbers(self._file, line, [fields[place]], name)[0] for line, fields in self._rows], np.int64
        )

    def floats(self, name: str) -> Any:
        place = self._places[name]
        return np.array([floats(self._file, line, [fields[place]], name)[0] for line, fields in self._rows], np.float64)

    def flags(self, name: str) -> Any:
        place = self._places[name]
        for line, fields in self._rows:
            if fields[place] not in ("True", "False"):
                self._file.fail(f"{name} must be True or False, and is {fields[place][:80]!r}", line)
        return np.array([fields[place] == "True" for _, fields in self._rows], bool)

    def classes(self, name: str, label: str) -> dict[str, int]:
        """Labels by class name, which each row has both, in the order of the labels."""
        found: dict[str, int] = {}
        names: dict[int, str] = {}
        numbers = self.numbers(label).tolist()
        for (line, _), text, number in zip(self._rows, self.fields(name), numbers, strict=True):
            if found.setdefault(text, number) != number or names.setdefault(number, text) != text:
                self._file.fail(f"{name} {text[:80]!r} and {label} {number} belong to others in the lines above", line)
        return dict(sorted(found.items(), key=lambda item: item[1]))


def headed_csv(file: SetFile, names: Sequence[str]) -> HeadedCsv:
    """`names`: columns that it must have."""
    numbered = [(line, [text_of(file, line, field) for field in fields]) for line, fields in csv_rows(file)]
    if not numbered:
        file.fail("it is empty")
    (first, head), *rows = numbered
    for name in names:
        if name not in head:
            file.fail(f"its head must have {', '.join(names)}, and lacks {name}", first)
    for line, fields in rows:
        if len(fields) != len(head):
            file.fail(f"it must have {len(head)} fields, and has {len(fields)}", line)
    if not rows:
        file.fail("it has no rows")
    return HeadedCsv(file, {name: head.index(name) for name in names}, rows)
