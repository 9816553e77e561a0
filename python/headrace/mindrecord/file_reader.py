"""`FileReader` reads the rows of MindRecord files one after the other."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from headrace._arguments.options import at_once, shown, texts
from headrace._runs.iterator import Iterator as Rows
from headrace.errors import GraphError
from headrace.mindrecord.plain_row import plain_row
from headrace.sources import MindRecord

__all__ = ["FileReader"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class FileReader:
    """Reads MindRecord files from the first row to the last.

    Args:
        file_name: A file, which stands for the set that it is of, or a list of files, which are read alone.
        num_consumer: How many tasks read at once, at most.
        columns: The fields to read; None, or none: all.
    """

    def __init__(self, file_name: Paths, num_consumer: int = 4, columns: Sequence[str] | None = None) -> None:
        self._workers = max(1, at_once("num_consumer", num_consumer, "FileReader"))
        self._all = MindRecord(file_name)
        chosen = None if columns is None or len(columns) == 0 else _listed(columns)
        self._dataset = self._all if chosen is None else MindRecord(file_name, columns=chosen)
        self._open: list[Rows] = []

    def get_next(self) -> Iterator[dict[str, Any]]:
        """The rows, each a dict; every call begins with the first."""
        with self._dataset.iterate(epoch=0, workers=self._workers) as rows:
            self._open.append(rows)
            try:
                for row in rows:
                    yield plain_row(row)
            finally:
                self._open.remove(rows)

    def len(self) -> int:
        """How many rows there are."""
        return len(self._all)

    def schema(self) -> dict[str, dict[str, Any]]:
        """From the names of the fields to their types: `{"label": {"type": "int32"}}`."""
        return {name: _described(dtype, shape) for name, (dtype, shape) in self._all.schema.items()}

    def close(self) -> None:
        """Ends all reading."""
        for rows in list(self._open):
            rows.close()


def _listed(columns: Any) -> list[str]:
    if isinstance(columns, str):
        raise GraphError(f"FileReader: columns is {shown(columns)}; give a list of names")
    return texts("columns", columns, "FileReader")


def _described(dtype: str, shape: tuple[int | None, ...] | None) -> dict[str, Any]:
    if not shape:
        return {"type": dtype}
    return {"shape": [-1 if size is None else size for size in shape], "type": dtype}
