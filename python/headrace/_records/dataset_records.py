"""Writes the rows of any dataset as records: `Dataset.write_records`."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace._arguments import options
from headrace._records.image_payload import image_header, is_rounded
from headrace._records.record_draft import RecordDraft, index_path
from headrace.errors import DataError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.base import ColumnType
    from headrace._datasets.dataset import Dataset

__all__ = ["Written", "write_records"]

_CHECKPOINT_S = 0.5
_IMAGE_COLUMNS = {"image", "label", "id"}
# The key of a record and the pieces of its payload.
_Record = tuple[int, list[Any]]


@dataclass
class Written:
    """What `write_records` wrote."""

    path: str
    index: str
    records: int
    bytes: int
    """Of the records' file."""
    seconds: float


def write_records(dataset: "Dataset", path: str | os.PathLike[str], given: dict[str, Any]) -> Written:
    """As Dataset.write_records, which describes it; `given` are options of the run."""
    path = options.local_path("path", path, "write_records")
    record_of = _chosen(dataset.schema)
    started = time.monotonic()
    # What is kept with the dataset for its loops is not for files.
    rows_of = dataset.options(**given).options(as_=None, device=None, bytes_as="memoryview")
    # Without a job that it could go on for: a dataset has none that lasts.
    with RecordDraft.create(path, "") as draft, rows_of.iterate(epoch=dataset.epoch) as rows:
        position, last = 0, started
        for row in rows:
            draft.append(*record_of(row, position))
            position += 1
            if time.monotonic() - last > _CHECKPOINT_S:
                draft.checkpoint(position, ())
                last = time.monotonic()
        draft.checkpoint(position, ())
        written = Written(path, index_path(path), draft.records, draft.record_bytes, time.monotonic() - started)
        draft.finish()
    return written


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
        "column of bytes: choose and name them with project() and rename()"
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
