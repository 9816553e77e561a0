"""Writes the rows of any dataset as records: `Dataset.write_records`."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments import options
from headrace._records.image_payload import image_header, is_rounded
from headrace._records.record_draft import index_path
from headrace._writing.encoding import DRAFT, Encoding, Part, Stream
from headrace._writing.part_paths import MOST_FILES, set_pattern
from headrace._writing.set_writer import WriteSet, write_set
from headrace.errors import DataError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.base import ColumnType
    from headrace._datasets.dataset import Dataset

__all__ = ["Written", "write_records"]

_IMAGE_COLUMNS = {"image", "label", "id"}
# Of an index that are written at once.
_LINES = 1024
# The key of a record and the pieces of its payload.
_Record = tuple[int, list[Any]]


@dataclass
class Written:
    """What `write_records` wrote."""

    path: str
    """The file; of several a pattern that matches them."""
    index: str
    """The index, or a pattern likewise."""
    records: int
    bytes: int
    """Of the records' files."""
    seconds: float
    """Of this run."""
    paths: list[str] = field(default_factory=list)
    """The files, in the order of their rows."""
    kept: int = 0
    """Of the files, those that an earlier run had finished."""


def write_records(
    dataset: "Dataset",
    path: str | os.PathLike[str],
    files: Any,
    resume: Any,
    given: dict[str, Any],
    write: WriteSet = write_set,
) -> Written:
    """As Dataset.write_records, which describes it; `given` are options of the run; `write` writes the set."""
    path = options.file_path("path", path, "write_records")
    files = options.whole("files", files, 1, "write_records", MOST_FILES)
    resume = options.flag("resume", resume, "write_records")
    written = write(dataset, path, _RecordEncoding(dataset.schema), given, files=files, resume=resume)
    return Written(
        set_pattern(path, files),
        set_pattern(index_path(path), files),
        sum(written.rows),
        written.bytes,
        written.seconds,
        written.paths,
        written.kept,
    )


class _RecordEncoding(Encoding):
    of = "write_records"

    def __init__(self, schema: "dict[str, ColumnType]") -> None:
        self._record_of = _chosen(schema)

    def files(self, path: str) -> list[str]:
        return [path, index_path(path)]

    def begin(self, path: str) -> Part:
        return _RecordPart(path, self._record_of)


class _RecordPart(Part):
    """Records, and lines of their index."""

    def __init__(self, path: str, record_of: Callable[[dict[str, Any], int], _Record]) -> None:
        self._record_of = record_of
        self._lines: list[str] = []
        self._writer = _engine.RecordWriter(os.fsencode(path))
        try:
            self._index = _engine.OutputStream(os.fsencode(index_path(path)), DRAFT)
        except BaseException:
            # A traceback may keep it alive.
            self._writer.discard()
            raise

    @property
    def streams(self) -> Sequence[Stream]:
        return self._writer, self._index

    def append(self, row: dict[str, Any], number: int) -> None:
        key, payload = self._record_of(row, number)
        self._lines.append(f"{key}\t{self._writer.append(payload)}\n")
        if len(self._lines) == _LINES:
            self.finish()

    def finish(self) -> None:
        self._index.append(["".join(self._lines).encode()])
        self._lines.clear()


def _chosen(schema: "dict[str, ColumnType]") -> Callable[[dict[str, Any], int], _Record]:
    """What makes a record of a row, and its number."""
    names = set(schema)
    if "image" in names and "label" in names and names <= _IMAGE_COLUMNS:
        _check_bytes("image", schema["image"])
        for name in names - {"image"}:
            _check_numbers(name, schema[name])
        return _image_record
    if len(names) == 1:
        (name,) = names
        _check_bytes(name, schema[name])
        return lambda row, position: (position, [_bytes_of(name, row[name], position)])
    raise GraphError(
        f"write_records: the columns are {', '.join(sorted(names))}; it takes image and label, perhaps with id, or one "
        "column of bytes: choose and name them with project() and rename(), or write all columns with their types by "
        "write_mindrecord(), write_tfrecord() or write_parquet()"
    )


def _check_bytes(name: str, column: "ColumnType") -> None:
    of_one_row = column.shape in ((), None)
    if column.dtype == "string" and of_one_row:
        raise GraphError(
            f"write_records: {name} is a text, and records are bytes: encode it with .map(lambda text: text.encode(), "
            f'"{name}", types={{"{name}": "bytes"}})'
        )
    if column.dtype not in ("bytes", "unknown") or not of_one_row:
        encode = "" if column.dtype == "string" else f'encode images with .map(V.EncodeJpeg(), "{name}"), and '
        raise GraphError(
            f"write_records: {name} is {column.dtype} of shape {column.shape}; it must be the bytes of one row: "
            f"{encode}leave batch() out"
        )


def _check_numbers(name: str, column: "ColumnType") -> None:
    if column.dtype in ("bytes", "string"):
        raise GraphError(f"write_records: {name} is {column.dtype}, and records hold numbers there; number the classes")


def _bytes_of(name: str, value: Any, position: int) -> Any:
    """Whose type may not be known before the run."""
    if isinstance(value, (bytes, memoryview)):
        return value
    kind = "a text" if isinstance(value, str) else f"{value.dtype} of shape {value.shape}"
    raise DataError(
        f"write_records: {name} is {kind} in row {position}; it must be the bytes of one row: encode it, as images with "
        f'.map(V.EncodeJpeg(), "{name}")'
    )


def _image_record(row: dict[str, Any], position: int) -> _Record:
    key = position if "id" not in row else _id_of(row["id"], position)
    image = _bytes_of("image", row["image"], position)
    labels = row["label"]
    if isinstance(labels, (str, bytes, memoryview)) or labels.dtype.kind not in "biuf":
        raise DataError(f"write_records: the label of row {position} is {options.shown(labels)}; it must be numbers")
    numbers = labels.reshape(-1).tolist()
    for number in numbers:
        if is_rounded(number):
            raise DataError(
                f"write_records: the label of row {position} is {number}, a whole number that float32, the type of labels "
                "in records, does not hold; number the classes from 0, or keep such numbers in id"
            )
    try:
        header = image_header(key, numbers, labels.ndim > 0, first_in_header=False)
    except OverflowError:
        raise DataError(
            f"write_records: the label of row {position} is {options.shown(labels)}, which is beyond float32"
        ) from None
    return key, [header, image]


def _id_of(given: Any, position: int) -> int:
    whole = not isinstance(given, (str, bytes, memoryview)) and given.ndim == 0 and given.dtype.kind in "biu"
    if not whole or given < 0:
        shown = given.item() if whole else options.shown(given)
        raise DataError(f"write_records: the id of row {position} is {shown}; ids are whole numbers from 0 on")
    return int(given)
