"""`SkippedLog` follows the log of skipped rows, `on_error("skip", log=…)`, while a run writes it."""

import json
import os
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace._files.opened_file import open_to_read
from headrace.errors import Error

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SkippedLog", "SkippedRow", "kept_rows"]


class SkippedRow(NamedTuple):
    key: int
    """Of the row's identity: its number in a source with random access."""
    file: str | None
    offset: int | None
    """Of the file's byte at which it begins."""
    message: str


class SkippedLog:
    """A file in a folder of its own, which lasts as long as a `with` block. A row stands there before the next one is
    given."""

    def __enter__(self) -> "Self":
        self._folder = tempfile.TemporaryDirectory(prefix="headrace-skipped-")
        self.path = os.path.join(self._folder.name, "log")
        self._read = 0
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def new(self) -> list[SkippedRow]:
        """Those since the last call."""
        try:
            with open_to_read(self.path) as file:
                file.seek(self._read)
                lines = file.read()
        except FileNotFoundError:
            return []
        self._read += len(lines)
        return [_row(json.loads(line)) for line in lines.splitlines()]


def _row(line: dict[str, Any]) -> SkippedRow:
    file, offset = line.get("file"), line.get("offset")
    return SkippedRow(
        int(str(line["key"])),
        None if file is None else str(file),
        offset if type(offset) is int else None,
        str(line["message"]),
    )


def kept_rows(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of a pipeline, whose end is also the end of an epoch of which every row failed."""
    try:
        yield from rows
    except Error as error:
        if not error._nothing_left:
            raise
