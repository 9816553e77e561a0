"""`OpenedFile`: the footer and the row groups of a Parquet file, which pyarrow decodes. The engine calls it, and takes
batches from pyarrow's C stream: no value becomes a Python object, and decoding takes no turn of the interpreter."""

from __future__ import annotations

import os
from typing import Any

from headrace import _engine
from headrace._files.far_file import FarFile
from headrace._parquet.fixed_shapes import array_type
from headrace._parquet.pyarrow import pyarrow, pyarrow_dataset

__all__ = ["OpenedFile"]

# Of a batch, about, as its row group says.
_BATCH_BYTES = 8 << 20
_MOST_ROWS = 1 << 16
# That are read at once of each column.
_BUFFER_BYTES = 1 << 20


class OpenedFile:
    """Raises what pyarrow raises. Used by any thread."""

    def __init__(self, path: bytes, far: _engine.ReadFile | None = None) -> None:
        """`far`: the file, where the engine reads it."""
        dataset = pyarrow_dataset()
        if far is None:
            # Decoding reads what it needs next, not whole columns.
            options = dataset.ParquetFragmentScanOptions(
                use_buffered_stream=True, buffer_size=_BUFFER_BYTES, pre_buffer=False
            )
            # Not by its path, which need not be UTF-8.
            source = pyarrow().OSFile(path)
        else:
            # Each request takes as long as many bytes do: the columns of a row group come in few.
            options = dataset.ParquetFragmentScanOptions(pre_buffer=True)
            source = pyarrow().PythonFile(FarFile(os.fsdecode(path), far), mode="r")
        form = dataset.ParquetFileFormat(default_fragment_scan_options=options)
        self._fragment = form.make_fragment(source)
        self._metadata = self._fragment.metadata
        self._written = self._fragment.physical_schema
        found = {field.name: array_type(field) for field in self._written}
        # Columns that are stored as lists of any length, and whose axes are stated.
        self._arrays = {name: each for name, each in found.items() if each is not None}
        self.array_columns = list(self._arrays)
        self.schema = self._with_arrays(self._written)
        self.group_rows = [self._metadata.row_group(i).num_rows for i in range(self._metadata.num_row_groups)]

    def read(self, group: int, columns: list[str]) -> Any:
        """A RecordBatchReader of a row group, with these columns."""
        return (
            self._fragment.subset(row_group_ids=[group], schema=self._written)
            .scanner(
                schema=self._written,
                columns=self._projection(columns),
                batch_size=self._batch_rows(group),
                batch_readahead=1,
                fragment_readahead=1,
            )
            .to_reader()
        )

    def _with_arrays(self, schema: Any) -> Any:
        for number, field in enumerate(schema):
            if field.name in self._arrays:
                made = pyarrow().field(field.name, self._arrays[field.name], field.nullable)
                schema = schema.set(number, made)
        return schema

    def _projection(self, columns: list[str]) -> Any:
        """What a scanner takes for these columns."""
        if not any(name in self._arrays for name in columns):
            return columns
        field = pyarrow_dataset().field
        return {name: field(name).cast(self._arrays[name]) if name in self._arrays else field(name) for name in columns}

    def _batch_rows(self, group: int) -> int:
        """As many as fill a batch, if what the footer says is true."""
        found = self._metadata.row_group(group)
        rows: int = _BATCH_BYTES * found.num_rows // max(1, found.total_byte_size)
        return max(1, min(_MOST_ROWS, rows))
