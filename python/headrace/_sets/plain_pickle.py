"""`read_pickle` reads pickles of plain values and NumPy arrays, as CIFAR has them. It runs nothing that a pickle names."""

from __future__ import annotations

import io
import math
import pickletools
from typing import Any

import numpy as np

from headrace._sets.set_file import SetFile

__all__ = ["read_pickle"]

_MARK = object()
_DTYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")


class _Name:
    """A function or class that the pickle names: known here, never imported."""

    def __init__(self, what: str) -> None:
        self.what = what


class _Array:
    def __init__(self) -> None:
        self.value: Any = None


class _DType:
    def __init__(self, code: str) -> None:
        self.code = code
        self.order = "<"


_NAMES = {
    ("numpy.core.multiarray", "_reconstruct"): "array",
    ("numpy._core.multiarray", "_reconstruct"): "array",
    ("numpy", "ndarray"): "class",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_NUMBERS = {"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "INT", "LONG"}
_TEXTS = {
    "SHORT_BINSTRING", "BINSTRING", "STRING", "BINUNICODE", "SHORT_BINUNICODE", "UNICODE", "BINBYTES", "SHORT_BINBYTES"
}  # fmt: skip


def read_pickle(file: SetFile) -> Any:
    """The value: dicts, lists, tuples, texts, bytes, numbers and arrays. DataError for anything else."""
    data = bytes(file.rest())
    machine = _Machine(file)
    try:
        for operation, argument, place in pickletools.genops(io.BytesIO(data)):
            if operation.name == "STOP":
                return machine.result()
            machine.run(operation.name, argument, place or 0)
    except (ValueError, IndexError, TypeError, KeyError, AttributeError, UnicodeError, OverflowError) as error:
        file.fail(f"it is not a pickle of plain values and arrays ({type(error).__name__}: {error})")
    file.fail("it is cut off")


class _Machine:
    """The stack on which the operations of a pickle work."""

    def __init__(self, file: SetFile) -> None:
        self._file = file
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def result(self) -> Any:
        (value,) = self._stack
        return _plain(value)

    def run(self, name: str, argument: Any, place: int) -> None:
        if name in ("PROTO", "FRAME"):
            return
        if name in _NUMBERS or name in _TEXTS:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[argument] = self._stack[-1]
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = self._stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            self._stack.append(self._memo[argument])
        elif name == "MARK":
            self._stack.append(_MARK)
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            self._name(name, argument, place)
        elif name in ("EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE"):
            self._stack.append({"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}[name]())
        elif name in ("REDUCE", "BUILD"):
            self._call(name)
        else:
            self._gather(name, place)

    def _name(self, name: str, argument: Any, place: int) -> None:
        if name == "GLOBAL":
            module, _, attribute = argument.partition(" ")
        else:
            attribute, module = self._stack.pop(), self._stack.pop()
        known = _NAMES.get((module, attribute))
        if known is None:
            self._file.fail(f"byte {place} names {module}.{attribute}, and only arrays of numpy are read")
        self._stack.append(_Name(known))

    def _gather(self, name: str, place: int) -> None:
        """Operations on the last values."""
        if name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            values = tuple(self._last(int(name[-1])))
            self._stack.append(values)
        elif name in ("APPEND", "SETITEM"):
            values = tuple(self._last(1 if name == "APPEND" else 2))
            self._put(values)
        elif name in ("TUPLE", "LIST", "APPENDS", "SETITEMS"):
            gathered = self._after_mark()
            if name in ("TUPLE", "LIST"):
                self._stack.append(tuple(gathered) if name == "TUPLE" else gathered)
            else:
                self._put(tuple(gathered))
        else:
            self._file.fail(f"byte {place} has the operation {name}, which a pickle of plain values does not need")

    def _put(self, values: tuple[Any, ...]) -> None:
        """Into the list or dict that is last."""
        target = self._stack[-1]
        if isinstance(target, list):
            target.extend(values)
        else:
            target.update(zip(values[::2], values[1::2], strict=True))

    def _last(self, count: int) -> list[Any]:
        if len(self._stack) < count:
            raise IndexError("it takes more values than there are")
        values = self._stack[-count:]
        del self._stack[-count:]
        return values

    def _after_mark(self) -> list[Any]:
        begin = len(self._stack) - 1
        while self._stack[begin] is not _MARK:
            begin -= 1
            if begin < 0:
                raise IndexError("a mark is missing")
        values = self._stack[begin + 1 :]
        del self._stack[begin:]
        return values

    def _call(self, name: str) -> None:
        subject, arguments = self._last(2)
        if name == "BUILD":
            _build(subject, arguments)
            self._stack.append(subject)
            return
        made: Any
        if subject.what == "array":
            made = _Array()
        elif subject.what == "dtype":
            made = _DType(_text(arguments[0]).lstrip("<|>="))
        elif subject.what == "encode" and arguments[1] in ("latin1", "latin-1"):
            made = arguments[0].encode("latin-1")
        else:
            raise ValueError("it calls what is not a function")
        self._stack.append(made)


def _build(subject: Any, state: Any) -> None:
    if isinstance(subject, _DType):
        subject.order = _text(state[1])
        return
    _, shape, dtype, by_columns, values = state
    if dtype.code not in _DTYPES or dtype.order not in ("<", ">", "|", "=") or len(shape) > 8:
        raise ValueError("an array is not one of numbers")
    raw = values.encode("latin-1") if isinstance(values, str) else values
    kind = np.dtype(("<" if dtype.order in ("|", "=") else dtype.order) + dtype.code)
    if any(type(size) is not int or size < 0 for size in shape) or math.prod(shape) * kind.itemsize != len(raw):
        raise ValueError(f"an array of shape {shape} has {len(raw)} bytes")
    array = np.frombuffer(raw, kind).astype(kind.newbyteorder("="), copy=False)
    subject.value = array.reshape(shape, order="F" if by_columns else "C")


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _plain(value: Any) -> Any:
    """With texts as keys, and arrays in place of what stands for them."""
    if not isinstance(value, dict):
        return value
    return {_text(key): each.value if isinstance(each, _Array) else each for key, each in value.items()}
