"""`ColumnArray`: the values of a column of a dataset, row by row, as an Arrow array of a row group."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown
from headrace._parquet.pyarrow import pyarrow
from headrace.errors import DataError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.base import ColumnType

__all__ = ["ColumnArray"]

# What Arrow calls otherwise than NumPy.
_ARROW = {"bool": "bool_", "bytes": "binary"}
_FEATURES = {"bytes": "binary"}


class ColumnArray:
    """Collects values, and makes an array of them. `of`: the call, for messages."""

    def __init__(self, name: str, column: ColumnType, of: str, *, image: bool, classes: Sequence[str] | None) -> None:
        self.name = name
        self._of = of
        self._image = image
        self._classes = classes
        self._dtype = column.dtype
        self._shape = _checked_shape(name, column, of)
        if image and (column.dtype != "bytes" or self._shape != ()):
            raise GraphError(
                f'{of}: images names "{name}", which is {column.dtype} of shape {column.shape}; encode the images with '
                f'.map(V.EncodeJpeg(), "{name}")'
            )
        if column.shape != () or not column.dtype.startswith(("int", "uint")):
            self._classes = None
        # Numbers of classes are int64, as readers of the metadata expect.
        self._stored = "int64" if self._classes is not None else self._dtype
        self._values: list[Any] = []

    @property
    def is_bytes(self) -> bool:
        return self._dtype == "bytes"

    @property
    def type(self) -> Any:
        pa = pyarrow()
        made = getattr(pa, _ARROW.get(self._stored, self._stored))()
        if self._image:
            return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        for length in reversed(self._shape):
            made = pa.list_(made) if length is None else pa.list_(made, length)
        return made

    @property
    def feature(self) -> dict[str, Any]:
        """As Hugging Face's metadata describes the column."""
        if self._image:
            return {"_type": "Image"}
        if self._classes is not None:
            return {"names": list(self._classes), "_type": "ClassLabel"}
        made: dict[str, Any] = {"dtype": _FEATURES.get(self._stored, self._stored), "_type": "Value"}
        for length in reversed(self._shape):
            made = {"feature": made, "length": -1 if length is None else length, "_type": "List"}
        return made

    def append(self, value: Any, number: int) -> int:
        """Returns the value's size in bytes. Raises DataError for one that does not fit, with the row's number."""
        if self._dtype in ("bytes", "string"):
            return self._append_text(value, number)
        if value.dtype.name != self._dtype or not self._fits(value.shape):
            raise self._unfit(f"{value.dtype} of shape {value.shape}", number)
        self._values.append(value.copy())
        return int(value.nbytes)

    def _append_text(self, value: Any, number: int) -> int:
        if isinstance(value, str):
            given: Any = self._encoded(value, number)
        elif isinstance(value, (bytes, memoryview)):
            given = bytes(value)
        else:
            if not self._fits(value.shape):
                raise self._unfit(f"{self._dtype} of shape {value.shape}", number)
            texts = value.reshape(-1).tolist()
            given = [self._encoded(each, number) if isinstance(each, str) else bytes(each) for each in texts]
            self._values.append((value.shape, given))
            return sum(map(len, given))
        if self._shape != ():
            raise self._unfit("a single value", number)
        self._values.append(given)
        return len(given)

    def _encoded(self, text: str, number: int) -> bytes:
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{self._of}: row {number} has the text {shown(text)} in {self.name}, which is not UTF-8; encode it, and "
                "write bytes"
            ) from None

    def _fits(self, shape: tuple[int, ...]) -> bool:
        return len(shape) == len(self._shape) and all(
            wanted is None or wanted == length for wanted, length in zip(self._shape, shape, strict=True)
        )

    def _unfit(self, what: str, number: int) -> DataError:
        return DataError(
            f"{self._of}: {self.name} of row {number} is {what}, and the column is {self._dtype} of shape {self._shape}"
        )

    def take(self) -> Any:
        """The array of the values, which are then forgotten."""
        pa = pyarrow()
        values, self._values = self._values, []
        if self._image:
            return pa.StructArray.from_arrays(
                [pa.array(values, pa.binary()), pa.nulls(len(values), pa.string())], fields=list(self.type)
            )
        if self._dtype in ("bytes", "string"):
            stored = getattr(pa, _ARROW.get(self._stored, self._stored))()
            if self._shape == ():
                return pa.array(values, pa.binary()).cast(stored)
            flat = pa.array([text for _, texts in values for text in texts], pa.binary()).cast(stored)
            return self._nested(flat, [shape for shape, _ in values])
        return self._of_numbers(values)

    def _of_numbers(self, values: list[Any]) -> Any:
        import numpy as np

        pa = pyarrow()
        if self._shape == ():
            return pa.array(np.array(values, self._stored))
        flat = np.concatenate([each.reshape(-1) for each in values])
        return self._nested(pa.array(flat), [each.shape for each in values])

    def _nested(self, flat: Any, shapes: list[tuple[int, ...]]) -> Any:
        """Lists of the elements of all rows, from the innermost axis on; only the first may differ from row to row."""
        pa = pyarrow()
        made = flat
        for length in reversed(self._shape[1:]):
            made = pa.FixedSizeListArray.from_arrays(made, length)
        if self._shape[0] is not None:
            return pa.FixedSizeListArray.from_arrays(made, self._shape[0])
        ends = [0, *itertools.accumulate(shape[0] for shape in shapes)]
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), made)


def _checked_shape(name: str, column: ColumnType, of: str) -> tuple[int | None, ...]:
    if column.shape is None and column.dtype in ("bytes", "string"):
        # Of a function, which states no more.
        return ()
    if column.dtype == "unknown" or column.shape is None:
        raise GraphError(
            f'{of}: the type of {name} is not known before a run; state it with types=, as in map(function, "{name}", '
            f'types={{"{name}": "float32"}})'
        )
    if column.dtype == "bfloat16":
        raise GraphError(
            f'{of}: {name} is bfloat16, which Parquet does not have: convert it by .map(T.TypeCast("float32"), "{name}")'
        )
    if None in column.shape[1:]:
        raise GraphError(
            f"{of}: {name} has the shape {column.shape}, and only the first axis of a list may differ from row to row: "
            f'encode images with .map(V.EncodeJpeg(), "{name}"), or resize them'
        )
    if 0 in column.shape:
        raise GraphError(f"{of}: {name} has the shape {column.shape}, which has no elements; leave the column out")
    return column.shape
