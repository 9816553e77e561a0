"""MXNet's CSV dialect: trailing empty lines are ignored; with several fields, all empty lines are."""

import os
from collections.abc import Sequence

import headrace
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._files.opened_file import open_to_read
from headrace._files.system_error import system_error

__all__ = ["CsvFiles"]

_BLOCK = 1 << 20
_LINE_ENDS = b"\r\n"
_MARK = b"\xef\xbb\xbf"
# As much of a file's end as shows whether its last line is empty.
_END = 4


class CsvFiles:
    """Files without a header, in the order of `headrace.Csv`.

    Args:
        patterns: The files.
        memory: The budget in which they are looked for, as for `Dataset.options`.
        of: The iterator, for messages.

    Raises:
        NotFoundError: A pattern matches no file, or a file cannot be read.
    """

    def __init__(self, patterns: Sequence[str], memory: int | str | None, of: str) -> None:
        self._patterns = patterns
        listing = headrace.Files(patterns, columns=["path"]).options(memory=memory)
        self._paths: list[str] = [options.file_path("path", row["path"], of) for row in listing]
        self._counts: dict[str, int] = {}  # the lines of files that were counted

    def rows(self, column: str, dtype: str, fields: int) -> Dataset:
        """The lines, each a vector of so many fields."""
        runs = self._runs()
        patterns = [self._patterns] if len(runs) == 1 else [paths for paths, _ in runs]
        first, *others = (
            _taken(headrace.Csv(each, {column: (dtype, (fields,))}, header=False), lines)
            for each, (_, lines) in zip(patterns, runs, strict=True)
        )
        return first.concat(*others) if others else first

    def lines(self, fields: int = 1) -> int:
        """How many rows of so many fields there are: of several fields, no empty line is one. Reads each file once,
        without a look at what is in the lines."""
        return sum(map(self._count if fields == 1 else _count_filled, self._paths))

    def _count(self, path: str) -> int:
        if path not in self._counts:
            self._counts[path] = _count(path)
        return self._counts[path]

    def _runs(self) -> list[tuple[list[str], int | None]]:
        """Files that follow each other and are read as they are, with None; or one with empty lines at its end, with the
        number of those before."""
        runs: list[tuple[list[str], int | None]] = []
        for path in self._paths:
            if _ends_empty(path):
                runs.append(([path], self._count(path)))
            elif runs and runs[-1][1] is None:
                runs[-1][0].append(path)
            else:
                runs.append(([path], None))
        return runs


def _taken(rows: Dataset, lines: int | None) -> Dataset:
    return rows if lines is None else rows.take(lines)


def _ends_empty(path: str) -> bool:
    try:
        with open_to_read(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _END, 0))
            end = file.read()
    except OSError as raised:
        raise system_error(f"cannot read {path}", raised) from None
    line_ends = end[len(end.rstrip(_LINE_ENDS)) :]
    return b"\n" in line_ends[:-1] or 0 < len(line_ends) == size


def _count(path: str) -> int:
    """The lines of a file, but for empty ones at its end."""
    lines = ends = 0
    try:
        with open_to_read(path) as file:
            block = file.read(_BLOCK).removeprefix(_MARK)
            while block:
                text = block.rstrip(_LINE_ENDS)
                if text:
                    lines = ends + text.count(b"\n") + 1
                ends += block.count(b"\n")
                block = file.read(_BLOCK)
    except OSError as raised:
        raise system_error(f"cannot read {path}", raised) from None
    return lines


def _count_filled(path: str) -> int:
    """The lines of a file that are not empty."""
    try:
        with open_to_read(path) as file:
            first = file.readline().removeprefix(_MARK)
            return bool(first.strip(_LINE_ENDS)) + sum(line not in (b"\n", b"\r\n", b"\r") for line in file)
    except OSError as raised:
        raise system_error(f"cannot read {path}", raised) from None
