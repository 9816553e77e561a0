"""Writes the rows of any dataset as Parquet files: `Dataset.write_parquet`."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments import options
from headrace._parquet.column_arrays import ColumnArray
from headrace._parquet.pyarrow import check_pyarrow, pyarrow, pyarrow_parquet
from headrace._writing.encoding import DRAFT, Encoding, Part, Stream
from headrace._writing.part_paths import MOST_FILES, set_pattern
from headrace._writing.set_writer import WriteSet, write_set
from headrace.errors import ClosedError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.base import ColumnType
    from headrace._datasets.dataset import Dataset

__all__ = ["WrittenParquet", "write_parquet"]

_OF = "write_parquet"
_COMPRESSIONS = ("zstd", "snappy", "gzip", "brotli", "lz4", "none")
# Of a row group, where the number of its rows is not given: so many images that shuffling row groups mixes them well.
_GROUP_BYTES = 16 << 20
_GROUP_ROWS = 1 << 20


@dataclass
class WrittenParquet:
    """What `write_parquet` wrote."""

    path: str
    """The file; of several a pattern that matches them."""
    rows: int
    bytes: int
    """Of the files."""
    seconds: float
    """Of this run."""
    paths: list[str] = field(default_factory=list)
    """The files, in the order of their rows."""
    kept: int = 0
    """Of the files, those that an earlier run had finished."""


def write_parquet(
    dataset: Dataset,
    path: str | os.PathLike[str],
    files: Any,
    row_group_rows: Any,
    compression: Any,
    images: Any,
    classes: Mapping[str, Sequence[str]],
    resume: Any,
    given: dict[str, Any],
    write: WriteSet = write_set,
) -> WrittenParquet:
    """As Dataset.write_parquet, which describes it; `classes`: of the columns that have some; `given` are options of the
    run; `write` writes the set."""
    path = options.file_path("path", path, _OF)
    files = options.whole("files", files, 1, _OF, MOST_FILES)
    if row_group_rows is not None:
        row_group_rows = options.whole("row_group_rows", row_group_rows, 1, _OF)
    compression = options.choice("compression", compression, _COMPRESSIONS, _OF)
    resume = options.flag("resume", resume, _OF)
    check_pyarrow(_OF)
    chosen = [] if images is None else options.texts("images", images, _OF)
    encoding = _ParquetEncoding(dataset.schema, row_group_rows, compression, chosen, classes)
    written = write(dataset, path, encoding, given, files=files, resume=resume)
    return WrittenParquet(
        set_pattern(path, files), sum(written.rows), written.bytes, written.seconds, written.paths, written.kept
    )


class _ParquetEncoding(Encoding):
    of = _OF

    def __init__(
        self,
        schema: dict[str, ColumnType],
        group_rows: int | None,
        compression: str,
        images: list[str],
        classes: Mapping[str, Sequence[str]],
    ) -> None:
        for name in images:
            if name not in schema:
                raise GraphError(f'{_OF}: images names "{name}", not a column (columns: {", ".join(schema)})')
        self._columns = schema
        self._group_rows = group_rows
        self._compression = compression
        self._images = images
        self._classes = classes
        # Says what cannot be written before there is a file.
        self._schema = self._arrow_schema(self._arrays())

    @property
    def identity(self) -> Any:
        return [str(self._schema), self._metadata, self._group_rows, self._compression, pyarrow().__version__]

    def _arrays(self) -> list[ColumnArray]:
        return [
            ColumnArray(name, column, _OF, image=name in self._images, classes=self._classes.get(name))
            for name, column in self._columns.items()
        ]

    def _arrow_schema(self, arrays: list[ColumnArray]) -> Any:
        pa = pyarrow()
        features = {each.name: each.feature for each in arrays}
        known = any(each["_type"] in ("Image", "ClassLabel") for each in features.values())
        self._metadata = {"huggingface": json.dumps({"info": {"features": features}})} if known else None
        return pa.schema([pa.field(each.name, each.type) for each in arrays], self._metadata)

    def begin(self, path: str) -> Part:
        return _ParquetPart(path, self._schema, self._arrays(), self._group_rows, self._compression)


class _ParquetPart(Part):
    def __init__(
        self, path: str, schema: Any, columns: list[ColumnArray], group_rows: int | None, compression: str
    ) -> None:
        self._columns = columns
        self._schema = schema
        self._group_rows = group_rows
        self._rows = 0
        self._bytes = 0
        self._stream = _engine.OutputStream(os.fsencode(path), DRAFT)
        try:
            self._writer = pyarrow_parquet().ParquetWriter(
                pyarrow().PythonFile(_Sink(self._stream), mode="w"),
                schema,
                compression=compression,
                # Encoded images have no value twice.
                use_dictionary=[each.name for each in columns if not each.is_bytes],
            )
        except BaseException:
            # A traceback may keep it alive.
            self._stream.discard()
            raise

    @property
    def streams(self) -> Sequence[Stream]:
        return (self._stream,)

    def append(self, row: dict[str, Any], number: int) -> None:
        for column in self._columns:
            self._bytes += column.append(row[column.name], number)
        self._rows += 1
        full = self._bytes >= _GROUP_BYTES or self._rows == _GROUP_ROWS
        if full if self._group_rows is None else self._rows == self._group_rows:
            self._write_group()

    def finish(self) -> None:
        if self._rows > 0:
            self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        table = pyarrow().Table.from_arrays([each.take() for each in self._columns], schema=self._schema)
        self._writer.write_table(table, row_group_size=self._rows)
        self._rows = 0
        self._bytes = 0


class _Sink(io.RawIOBase):
    """Gives the engine's stream what pyarrow writes."""

    def __init__(self, stream: _engine.OutputStream) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        # A writer that was not finished still ends its file, whose draft is gone.
        with contextlib.suppress(ClosedError):
            self._stream.append([data])
        return len(data)

    def tell(self) -> int:
        return self._stream.size
