"""`RowReading` goes over all rows of what was found, also after damage, which it names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from headrace._datasets.dataset import Dataset
from headrace._formats.first_bytes import escaped
from headrace._formats.opening import Found
from headrace._formats.row_bar import RowBar
from headrace._runs.skipped_log import SkippedLog, SkippedRow, kept_rows
from headrace.errors import DataError, NotFoundError

__all__ = ["RowReading"]

_ALL = (1 << 63) - 1


class RowReading:
    """Iterating reads everything once. Bytes are views until the next row."""

    def __init__(self, found: Found, changed: Callable[[Dataset], Dataset] = lambda dataset: dataset) -> None:
        """`changed` adds steps to the source, such as decoding."""
        self.found = found
        self.options = found.proposed({})
        self.faults: list[str] = []
        """A sentence each, in the order in which they were met. Filled while iterating."""
        self._changed = changed
        self.dataset = changed(found.format.read(found.place.paths, **self.options))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self.faults.clear()
        place = self.found.place
        with RowBar(os.path.basename(place.files[0])) as bar:
            for dataset in self._datasets():
                for row in self._rows_of(dataset):
                    bar.add()
                    yield row

    def _datasets(self) -> Iterator[Dataset]:
        """One for each file, where a file can be read alone."""
        form, files = self.found.format, self.found.place.files
        if not form.reads_files_alone or len(files) == 1:
            yield self.dataset
            return
        for path in files:
            yield self._changed(form.read(escaped(path) if form.takes_patterns else path, **self.options))

    def _rows_of(self, dataset: Dataset) -> Iterator[dict[str, Any]]:
        with SkippedLog() as log:
            skipping = dataset.on_error("skip", max_errors=_ALL, log=log.path)
            given = skipping.options(
                as_=None, as_tuple=None, device=None, bytes_as="memoryview", shard=(0, 1), even=None
            )
            try:
                with given.iterate() as rows:
                    yield from kept_rows(rows)
            except (DataError, NotFoundError) as error:
                self.faults += map(_fault, log.new())
                self.faults.append(_ended(error))
            else:
                self.faults += map(_fault, log.new())


def _fault(row: SkippedRow) -> str:
    message = row.message.partition("\n")[0]
    if row.file is None:
        return f"row {row.key:,}: {message}"
    return f"{row.file}: {message}" if row.offset is None else f"{row.file}, byte {row.offset:,}: {message}"


def _ended(error: DataError | NotFoundError) -> str:
    message = str(error).partition("\n")[0]
    return message if error._file is None else f"{error._file}: {message}"
