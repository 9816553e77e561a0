"""`RowEncoder` makes the bytes of MindRecord rows. A value goes in as it is, or is an error that names row and field."""

import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from headrace._arguments.options import shown
from headrace._mindrecord.message_pack import pack_real, pack_text, pack_whole
from headrace._mindrecord.packed_integers import pack_integers
from headrace._mindrecord.schema import Field, Schema
from headrace.errors import DataError

__all__ = ["RowEncoder", "UnfitValue", "of_dataset", "of_user"]

_LENGTH = struct.Struct("<Q")
_FRAME = struct.Struct(">Q")
_RANGES = {"int32": 1 << 31, "int64": 1 << 63}
_MOST_FLOAT32 = float(np.finfo(np.float32).max)
_NO_BLOB = b"\0\0\0\0"
_DTYPES = {"int32": "<i4", "int64": "<i8", "float32": "<f4", "float64": "<f8"}


class UnfitValue(Exception):
    """A value is not one of its field. The text follows the field's name."""


# From a field and a value to an int, a float, a text, bytes or an array.
Take = Callable[[Field, Any], Any]


class RowEncoder:
    """Makes the two parts of a row, each with its length in front.

    Args:
        schema: The fields.
        take: What it does with a value first: `of_user` or `of_dataset`.
        packs: Whether arrays of integers are packed, as in version 3.0.
    """

    def __init__(self, schema: Schema, take: Take, packs: bool = True) -> None:
        self.saved = 0
        """Bytes that packing has saved so far."""
        self._schema = schema
        self._take = take
        self._packs = packs
        self._head = _map_head(len(schema.scalars))
        self._keys = [pack_text(field.name) for field in schema.scalars]

    def encode(self, row: Mapping[str, Any], where: str) -> tuple[list[Any], list[Any]]:
        """The pieces of the scalars and of the blob. DataError, which begins with `where`."""
        return self._scalars(row, where), self._blob(row, where)

    def _value(self, field: Field, row: Mapping[str, Any], where: str) -> Any:
        if field.name not in row:
            raise DataError(f'{where} has no "{field.name}", which the schema has')
        try:
            return self._take(field, row[field.name])
        except UnfitValue as unfit:
            raise DataError(f'{where}: "{field.name}" {unfit}') from None

    def _scalars(self, row: Mapping[str, Any], where: str) -> list[Any]:
        pieces = [self._head]
        for field, key in zip(self._schema.scalars, self._keys, strict=True):
            value = self._value(field, row, where)
            pack = pack_text if field.type == "string" else pack_whole if field.type in _RANGES else pack_real
            pieces += (key, pack(value))
        if not self._keys:
            # As MindSpore has it, in place of an empty map.
            pieces = [b"\x81\xa2id\x00"]
        data = b"".join(pieces)
        return [_LENGTH.pack(len(data)), data]

    def _blob(self, row: Mapping[str, Any], where: str) -> list[Any]:
        parts = [self._bytes(field, self._value(field, row, where)) for field in self._schema.blobs]
        if not parts:
            pieces: list[Any] = [_NO_BLOB]
        elif len(parts) == 1:
            pieces = parts
        else:
            pieces = [piece for part in parts for piece in (_FRAME.pack(len(part)), part)]
        return [_LENGTH.pack(sum(len(piece) for piece in pieces)), *pieces]

    def _bytes(self, field: Field, value: Any) -> Any:
        if field.shape is None:
            return value
        plain = np.ascontiguousarray(value, _DTYPES[field.type])
        if not self._packs or field.type not in _RANGES:
            return plain.tobytes()
        packed = pack_integers(plain)
        self.saved += plain.nbytes - len(packed)
        return packed


def _map_head(count: int) -> bytes:
    if count < 16:
        return bytes((0x80 | count,))
    return struct.pack(">BH", 0xDE, count) if count < 1 << 16 else struct.pack(">BI", 0xDF, count)


# ---- values of users ----

# By the name of a value's type, the types of fields that take it.
_TAKEN = {
    "int": ("int32", "int64"),
    "float": ("float32", "float64"),
    "str": ("string",),
    "bytes": ("bytes",),
    **{name: (name,) for name in _DTYPES},
}
_WANTED = {"string": "a str", "bytes": "bytes", "int32": "an int", "int64": "an int"}
_WANTED |= {"float32": "a float", "float64": "a float"}


def of_user(field: Field, value: Any) -> Any:
    """Of `write_raw_data`, whose values have MindSpore's types."""
    if field.shape is not None:
        if type(value) is not np.ndarray:
            raise UnfitValue(f"is {_kind(value)}; {field.type} with a shape takes an array of NumPy")
        return _array(field, value)
    if field.type not in _TAKEN.get(type(value).__name__, ()):
        raise UnfitValue(f"is {_kind(value)}; {field.type} takes {_WANTED[field.type]}")
    return _scalar(field, value.item() if isinstance(value, np.generic) else value)


def of_dataset(field: Field, value: Any) -> Any:
    """Of a dataset's row, whose columns have the types of the schema."""
    if field.type in ("string", "bytes"):
        if not isinstance(value, str if field.type == "string" else (bytes, memoryview)):
            raise UnfitValue(f"is {_kind(value)}, where {field.type} was declared")
        return _scalar(field, value)
    if getattr(value, "dtype", None) != np.dtype(field.type):
        raise UnfitValue(f"is {_kind(value)}, where {field.type} was declared")
    return _scalar(field, value.item()) if field.shape is None else _array(field, value)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return f"{shown(value)}, of the type {type(value).__name__}"


def _scalar(field: Field, value: Any) -> Any:
    most = _RANGES.get(field.type)
    if most is not None and not -most <= value < most:
        raise UnfitValue(f"is {value}, which {field.type} does not hold")
    if field.type == "float32" and math.isfinite(value) and abs(value) > _MOST_FLOAT32:
        raise UnfitValue(f"is {value}, which float32 does not hold")
    if field.type == "string":
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UnfitValue(f"is {shown(value)}, a text that UTF-8 does not hold") from None
    return value


def _array(field: Field, value: Any) -> Any:
    """One axis may stand for all of them; of as many axes as the shape has, each must fit."""
    shape = field.shape or ()
    if value.dtype.name != field.type:
        raise UnfitValue(f"is {_kind(value)}; the field's type is {field.type}")
    known = math.prod(size for size in shape if size > 0)
    fits = value.size % known == 0 if -1 in shape else value.size == known
    if fits and value.ndim == len(shape):
        fits = all(size in (-1, given) for size, given in zip(shape, value.shape, strict=True))
    if not fits:
        raise UnfitValue(f"is {_kind(value)}, which does not have the shape {list(shape)}")
    return value
