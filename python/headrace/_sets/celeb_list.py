"""`CelebList` is a list of CelebA: numbers for each picture, by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import text_of, whole_numbers

__all__ = ["CelebList", "read_list"]


class CelebList:
    def __init__(self, file: SetFile, head: list[str], rows: dict[str, tuple[int, list[str]]]) -> None:
        self.path = file.path
        self.head = head
        self.rows = rows
        self._file = file

    def of(self, name: str) -> list[int]:
        if name not in self.rows:
            self._file.fail(f"it does not name {name}, which another list does")
        line, words = self.rows[name]
        return whole_numbers(self._file, line, words, f"what is said of {name}")

    def numbers(self, names: Sequence[str], width: int) -> Any:
        """int64 of shape (n, width)."""
        found = np.empty((len(names), width), np.int64)
        for row, name in enumerate(names):
            numbers = self.of(name)
            if len(numbers) != width:
                self._file.fail(f"{name} must have {width} numbers, and has {len(numbers)}", self.rows[name][0])
            found[row] = numbers
        return found


def read_list(file: SetFile) -> CelebList:
    """As the publisher gives it, with a count and a head in front where it has them, or as CSV with a head."""
    lines = list(file.lines())
    if not lines:
        file.fail("it is empty")
    if "," in lines[0][1]:
        words = [(line, text.split(",")) for line, text in lines]
        return _joined(file, words[0][1][1:], words[1:])
    words = [(line, text.split()) for line, text in lines]
    if len(words[0][1]) > 1:
        return _joined(file, [], words)
    (count,) = whole_numbers(file, words[0][0], words[0][1], "the number of pictures")
    if len(words) != count + 2:
        file.fail(f"it says that it has {count:,} pictures, and has {max(len(words) - 2, 0):,}")
    return _joined(file, [text_of(file, words[1][0], each) for each in words[1][1]], words[2:])


def _joined(file: SetFile, head: list[str], words: Sequence[tuple[int, list[str]]]) -> CelebList:
    rows: dict[str, tuple[int, list[str]]] = {}
    for line, (name, *numbers) in words:
        if name in rows:
            file.fail(f"{name} comes twice", line)
        rows[name] = (line, numbers)
    return CelebList(file, head, rows)
