"""`CelebList` is a list of CelebA: numbers for each picture, by its name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import number_rows, text_of, whole_numbers

__all__ = ["CelebList", "read_list"]


class CelebList:
    def __init__(self, file: SetFile, head: list[str], rows: dict[str, tuple[int, str]]) -> None:
        self.path = file.path
        self.head = head
        self.rows = rows
        self._file = file

    def numbers(self, names: Sequence[str], width: int) -> Any:
        """int64 of shape (n, width)."""
        absent = next((name for name in names if name not in self.rows), None)
        if absent is not None:
            self._file.fail(f"it does not name {absent}, which another list does")
        return number_rows(self._file, [self.rows[name] for name in names], width).reshape(-1, width)


def read_list(file: SetFile) -> CelebList:
    """As the publisher gives it, with a count and a head in front where it has them, or as CSV with a head."""
    lines = list(file.lines())
    if not lines:
        file.fail("it is empty")
    first, text = lines[0]
    if "," in text:
        return _joined(file, text.split(",")[1:], ((line, each.replace(",", " ")) for line, each in lines[1:]))
    if len(text.split()) > 1:
        return _joined(file, [], lines)
    (count,) = whole_numbers(file, first, text.split(), "the number of pictures")
    if len(lines) != count + 2:
        file.fail(f"it says that it has {count:,} pictures, and has {max(len(lines) - 2, 0):,}")
    return _joined(file, lines[1][1].split(), lines[2:])


def _joined(file: SetFile, head: list[str], lines: Iterable[tuple[int, str]]) -> CelebList:
    rows: dict[str, tuple[int, str]] = {}
    for line, text in lines:
        name, _, numbers = text.strip().partition(" ")
        if name in rows:
            file.fail(f"{name} comes twice", line)
        rows[name] = (line, numbers)
    return CelebList(file, [text_of(file, 1, each) for each in head], rows)
