"""Arrays of the Arrow C data interface by hand: a small producer in ctypes, so that tests need no library."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["Array", "Stream", "Table", "bits", "dictionary", "fixed_list", "lists", "numbers", "record", "texts"]


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GET_SCHEMA),
    ("get_next", _GET_NEXT),
    ("get_last_error", _GET_ERROR),
    ("release", _RELEASE_STREAM),
    ("private_data", ctypes.c_void_p),
]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# What structs point to, by their addresses, until they are released; and what holds structs in capsules.
_alive: dict[int, Any] = {}
_capsules: list[Any] = []


@dataclass
class Array:
    """An array and its type. `buffers`: bytes, or None for a null pointer."""

    format: str
    length: int
    buffers: Sequence[bytes | None]
    name: str = ""
    children: Sequence[Array] = ()
    dictionary: Array | None = None
    null_count: int = 0
    offset: int = 0
    metadata: dict[bytes, bytes] = field(default_factory=dict)
    # Those of releases, of the whole array.
    released: list[str] = field(default_factory=list)

    def named(self, name: str) -> Array:
        return replace(self, name=name)

    def with_missing(self, *valid: bool) -> Array:
        return replace(self, buffers=[bits(valid), *self.buffers[1:]], null_count=-1)

    def __arrow_c_schema__(self) -> Any:
        return _capsule(_schema(self), b"arrow_schema")

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self.__arrow_c_schema__(), _capsule(_array(self), b"arrow_array")


class Stream:
    """Batches of one schema, given once."""

    def __init__(self, batches: Sequence[Array], error: str = "") -> None:
        self._batches = list(batches)
        self._error = ctypes.create_string_buffer(error.encode())
        self.released = 0

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        left = iter(self._batches)
        first = self._batches[0]

        def get_schema(stream: Any, out: Any) -> int:
            _move(_schema(first), out)
            return 0

        def get_next(stream: Any, out: Any) -> int:
            batch = next(left, None)
            if batch is not None:
                _move(_array(batch), out)
                return 0
            ctypes.memset(out, 0, ctypes.sizeof(_Array))
            return 5 if self._error.value else 0

        def release(stream: Any) -> None:
            self.released += 1
            stream.contents.release = _RELEASE_STREAM()

        made = _Stream(
            _GET_SCHEMA(get_schema),
            _GET_NEXT(get_next),
            _GET_ERROR(lambda stream: ctypes.addressof(self._error)),
            _RELEASE_STREAM(release),
        )
        return _capsule(made, b"arrow_array_stream")


class Table(Stream):
    """The same, with a length, as often as it is asked for."""

    def __len__(self) -> int:
        return sum(batch.length for batch in self._batches)


# ---- kinds of arrays ----


def bits(valid: Sequence[bool]) -> bytes:
    made = bytearray((len(valid) + 7) // 8)
    for at, each in enumerate(valid):
        made[at // 8] |= int(each) << at % 8
    return bytes(made)


def numbers(format_: str, values: Any) -> Array:
    """`values`: an array of NumPy."""
    return Array(format_, len(values), [None, values.tobytes()])


def texts(values: Sequence[str | bytes], format_: str = "u") -> Array:
    encoded = [value.encode() if isinstance(value, str) else value for value in values]
    return Array(format_, len(values), [None, _offsets(map(len, encoded)), b"".join(encoded)])


def lists(lengths: Sequence[int], elements: Array) -> Array:
    return Array("+l", len(lengths), [None, _offsets(iter(lengths))], children=[elements.named("item")])


def fixed_list(size: int, elements: Array) -> Array:
    return Array(f"+w:{size}", elements.length // size, [None], children=[elements.named("item")])


def record(**columns: Array) -> Array:
    length = next(iter(columns.values())).length
    return Array("+s", length, [None], children=[column.named(name) for name, column in columns.items()])


def dictionary(indices: Sequence[int], values: Sequence[str]) -> Array:
    return Array("c", len(indices), [None, struct.pack(f"{len(indices)}b", *indices)], dictionary=texts(values))


def _offsets(lengths: Iterator[int]) -> bytes:
    offsets = [0]
    for length in lengths:
        offsets.append(offsets[-1] + length)
    return struct.pack(f"{len(offsets)}i", *offsets)


# ---- structs ----


def _capsule(made: Any, name: bytes) -> Any:
    _capsules.append((made, name))
    return _new_capsule(ctypes.addressof(made), name, None)


def _move(made: Any, out: Any) -> None:
    ctypes.memmove(out, ctypes.addressof(made), ctypes.sizeof(made))


def _pointers(structs: Sequence[Any], kind: Any) -> Any:
    return (ctypes.POINTER(kind) * len(structs))(*map(ctypes.pointer, structs)) if structs else None


def _metadata(entries: dict[bytes, bytes]) -> bytes | None:
    if not entries:
        return None
    packed = struct.pack("i", len(entries))
    for text in (each for entry in entries.items() for each in entry):
        packed += struct.pack("i", len(text)) + text
    return packed


def _keep(held: Any) -> int:
    key = id(held)
    _alive[key] = held
    return key


def _schema(array: Array) -> _Schema:
    children = [_schema(child) for child in array.children]
    inner = None if array.dictionary is None else _schema(array.dictionary)
    format_, name, metadata = array.format.encode(), array.name.encode(), _metadata(array.metadata)

    def release(schema: Any) -> None:
        array.released.append("schema")
        _alive.pop(schema.contents.private_data)
        schema.contents.release = _RELEASE_SCHEMA()

    callback = _RELEASE_SCHEMA(release)
    pointers = _pointers(children, _Schema)
    held = (children, inner, callback, pointers, format_, name, metadata)
    return _Schema(
        format_,
        name,
        metadata,
        2,
        len(children),
        pointers,
        None if inner is None else ctypes.pointer(inner),
        callback,
        _keep(held),
    )


def _array(array: Array) -> _Array:
    children = [_array(child) for child in array.children]
    inner = None if array.dictionary is None else _array(array.dictionary)
    blocks = [None if each is None else ctypes.create_string_buffer(each, len(each)) for each in array.buffers]
    addresses = [None if each is None else ctypes.addressof(each) for each in blocks]

    def release(released: Any) -> None:
        array.released.append("array")
        _alive.pop(released.contents.private_data)
        released.contents.release = _RELEASE_ARRAY()

    callback = _RELEASE_ARRAY(release)
    pointers = _pointers(children, _Array)
    buffers = (ctypes.c_void_p * len(blocks))(*addresses)
    held = (children, inner, callback, pointers, blocks, buffers)
    return _Array(
        array.length,
        array.null_count,
        array.offset,
        len(blocks),
        len(children),
        buffers,
        pointers,
        None if inner is None else ctypes.pointer(inner),
        callback,
        _keep(held),
    )
