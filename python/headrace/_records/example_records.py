"""Writes the rows of any dataset as records of TFRecord files: `Dataset.write_tfrecord`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments import options
from headrace._writing.encoding import DRAFT, Encoding, Part, Stream
from headrace._writing.part_paths import MOST_FILES, set_pattern
from headrace._writing.set_writer import WriteSet, write_set
from headrace.errors import DataError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.base import ColumnType
    from headrace._datasets.dataset import Dataset

__all__ = ["WrittenTFRecords", "write_tfrecord"]

_OF = "write_tfrecord"
# A dataset of this column alone has records already.
_PAYLOAD = "record"
_LARGEST = (1 << 63) - 1
# What is written at once.
_BYTES_AT_ONCE = 1 << 20


@dataclass
class WrittenTFRecords:
    """What `write_tfrecord` wrote."""

    path: str
    """The file; of several a pattern that matches them."""
    records: int
    bytes: int
    """Of the files."""
    seconds: float
    """Of this run."""
    paths: list[str] = field(default_factory=list)
    """The files, in the order of their rows."""
    kept: int = 0
    """Of the files, those that an earlier run had finished."""


def write_tfrecord(
    dataset: "Dataset",
    path: str | os.PathLike[str],
    files: Any,
    resume: Any,
    given: dict[str, Any],
    write: WriteSet = write_set,
) -> WrittenTFRecords:
    """As Dataset.write_tfrecord, which describes it; `given` are options of the run; `write` writes the set."""
    path = options.file_path("path", path, _OF)
    files = options.whole("files", files, 1, _OF, MOST_FILES)
    resume = options.flag("resume", resume, _OF)
    written = write(dataset, path, _ExampleEncoding(dataset.schema), given, files=files, resume=resume)
    return WrittenTFRecords(
        set_pattern(path, files), sum(written.rows), written.bytes, written.seconds, written.paths, written.kept
    )


class _ExampleEncoding(Encoding):
    of = _OF

    def __init__(self, schema: "dict[str, ColumnType]") -> None:
        for name, column in schema.items():
            _check_column(name, column.dtype)
        # In one order, so that equal rows are equal bytes.
        self._names = sorted(schema)
        only = schema.get(_PAYLOAD) if len(schema) == 1 else None
        self._payloads = only is not None and only.dtype == "bytes" and only.shape == ()

    @property
    def identity(self) -> Any:
        return self._names

    def begin(self, path: str) -> Part:
        return _PayloadPart(path) if self._payloads else _ExamplePart(path, self._names)


class _RecordsPart(Part):
    def __init__(self, path: str) -> None:
        self._stream = _engine.OutputStream(os.fsencode(path), DRAFT)
        self._frames: list[bytes] = []
        self._bytes = 0

    @property
    def streams(self) -> Sequence[Stream]:
        return (self._stream,)

    def _add(self, frame: bytes) -> None:
        self._frames.append(frame)
        self._bytes += len(frame)
        if self._bytes >= _BYTES_AT_ONCE:
            self.finish()

    def finish(self) -> None:
        self._stream.append(self._frames)
        self._frames.clear()
        self._bytes = 0


class _PayloadPart(_RecordsPart):
    """Records whose payloads the rows have."""

    def append(self, row: dict[str, Any], number: int) -> None:
        try:
            self._add(_engine.tf_record([row[_PAYLOAD]]))
        except DataError as error:
            raise DataError(f"{_OF}: row {number}: {error}") from None


class _ExamplePart(_RecordsPart):
    """Records that are tf.train.Example."""

    def __init__(self, path: str, names: list[str]) -> None:
        super().__init__(path)
        self._names = names

    def append(self, row: dict[str, Any], number: int) -> None:
        values = [_values_of(name, row[name], number) for name in self._names]
        try:
            self._add(_engine.example_record(self._names, values))
        except DataError as error:
            raise DataError(f"{_OF}: row {number}: {error}") from None
        except UnicodeEncodeError as error:
            raise DataError(
                f"{_OF}: row {number} has the text {options.shown(error.object)}, which is not UTF-8; encode it, and "
                "write bytes"
            ) from None


def _check_column(name: str, dtype: str) -> None:
    if dtype == "float64":
        raise GraphError(
            f"{_OF}: {name} is float64, and features hold float32: round it where that is meant, by "
            f'.map(T.TypeCast("float32"), "{name}")'
        )
    if dtype == "bfloat16":
        raise GraphError(
            f'{_OF}: {name} is bfloat16, and features hold float32: convert it by .map(T.TypeCast("float32"), "{name}")'
        )


def _values_of(name: str, value: Any, number: int) -> Any:
    """As `example_record` takes them: a list of texts or bytes, or an array of int64 or float32."""
    import numpy as np

    if isinstance(value, (bytes, memoryview, str)):
        return [value]
    kind = value.dtype.kind
    if kind in "biu":
        if kind == "u" and value.dtype.itemsize == 8 and value.size > 0 and int(value.max()) > _LARGEST:
            raise DataError(
                f"{_OF}: {name} of row {number} is {int(value.max())}, and features hold int64, up to {_LARGEST}"
            )
        return np.ascontiguousarray(value, np.int64)
    if kind == "f" and value.dtype.itemsize <= 4:
        return np.ascontiguousarray(value, np.float32)
    if kind == "O":
        return value.reshape(-1).tolist()
    raise DataError(
        f"{_OF}: {name} of row {number} is {value.dtype}; features hold int64, float32 and bytes: convert it by "
        f'.map(T.TypeCast(…), "{name}")'
    )
