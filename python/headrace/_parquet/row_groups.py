"""`OpenedFile`: the footer and the row groups of a Parquet file, which pyarrow decodes. The engine calls it, and takes
batches from pyarrow's C stream: no value becomes a Python object, and decoding takes no turn of the interpreter."""

from __future__ import annotations

from typing import Any

from headrace._parquet.pyarrow import pyarrow, pyarrow_dataset

__all__ = ["OpenedFile"]

# Of a batch, about, as its row group says.
_BATCH_BYTES = 8 << 20
_MOST_ROWS = 1 << 16
# That are read at once of each column.
_BUFFER_BYTES = 1 << 20


class OpenedFile:
    """Raises what pyarrow raises. Used by any thread."""

    def __init__(self, path: bytes) -> None:
        dataset = pyarrow_dataset()
        # Decoding reads what it needs next, not whole columns.
        options = dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, buffer_size=_BUFFER_BYTES, pre_buffer=False
        )
        form = dataset.ParquetFileFormat(default_fragment_scan_options=options)
        # Not by its path, which need not be UTF-8.
        self._fragment = form.make_fragment(pyarrow().OSFile(path))
        self._metadata = self._fragment.metadata
        self.schema = self._fragment.physical_schema
        self.group_rows = [self._metadata.row_group(i).num_rows for i in range(self._metadata.num_row_groups)]

    def read(self, group: int, columns: list[str]) -> Any:
        """A RecordBatchReader of a row group, with these columns."""
        return (
            self._fragment.subset(row_group_ids=[group], schema=self.schema)
            .scanner(
                schema=self.schema,
                columns=columns,
                batch_size=self._batch_rows(group),
                batch_readahead=1,
                fragment_readahead=1,
            )
            .to_reader()
        )

    def _batch_rows(self, group: int) -> int:
        """As many as fill a batch, if what the footer says is true."""
        found = self._metadata.row_group(group)
        rows: int = _BATCH_BYTES * found.num_rows // max(1, found.total_byte_size)
        return max(1, min(_MOST_ROWS, rows))
