"""`OpenedFile`: the footer and the row groups of a Parquet file, which pyarrow decodes. The engine calls it, and takes the
memory of whole batches: no value becomes a Python object here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace._parquet.pyarrow import pyarrow, pyarrow_parquet

__all__ = ["OpenedFile"]

# Of a batch, about, as its row group says.
_BATCH_BYTES = 8 << 20
_MOST_ROWS = 1 << 16
# That are read at once of each column.
_BUFFER_BYTES = 1 << 20


class OpenedFile:
    """Raises what pyarrow raises."""

    def __init__(self, path: bytes) -> None:
        self._path = path
        file = self._open()
        self._metadata = file.metadata
        self.schema = file.schema_arrow
        self.group_rows = [self._metadata.row_group(i).num_rows for i in range(self._metadata.num_row_groups)]

    def read(self, group: int, columns: list[str]) -> Iterator[Any]:
        """The RecordBatches of a row group, with these columns."""
        # Each reading has a file of its own: pyarrow's are for one thread.
        batches = self._open(self._metadata).iter_batches(
            batch_size=self._batch_rows(group), row_groups=[group], columns=columns, use_threads=False
        )
        return (batch.select(columns) for batch in batches)

    def _open(self, metadata: Any = None) -> Any:
        source = pyarrow().OSFile(self._path)
        # Decoding reads what it needs next, not whole columns.
        return pyarrow_parquet().ParquetFile(source, metadata=metadata, pre_buffer=False, buffer_size=_BUFFER_BYTES)

    def _batch_rows(self, group: int) -> int:
        """As many as fill a batch, if what the footer says is true."""
        found = self._metadata.row_group(group)
        rows: int = _BATCH_BYTES * found.num_rows // max(1, found.total_byte_size)
        return max(1, min(_MOST_ROWS, rows))
