"""`read_pickle` reads pickles of plain values and NumPy arrays, as CIFAR has them. It runs nothing that a pickle names."""

from __future__ import annotations

import io
import math
import pickletools
import re
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from headrace._sets.latin1_text import latin1_bytes
from headrace._sets.set_file import SetFile
from headrace.errors import DataError

__all__ = ["read_pickle"]

_MARK = object()
_STOP = ord(".")
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
    ("numpy.core.numeric", "_frombuffer"): "bytes",
    ("numpy._core.numeric", "_frombuffer"): "bytes",
    ("numpy", "ndarray"): "class",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, type] = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
_NUMBERS = {
    name: struct.Struct(form)
    for name, form in {"BININT": "<i", "BININT1": "<B", "BININT2": "<H", "BINFLOAT": ">d"}.items()
}
# Of places in the memo.
_PUTS = {"BINPUT": struct.Struct("<B"), "LONG_BINPUT": struct.Struct("<I")}
_GETS = {"BINGET": struct.Struct("<B"), "LONG_BINGET": struct.Struct("<I")}
_IGNORED = {"PROTO": 1, "FRAME": 8}
# A pickle of CIFAR has 10,000 labels after each other.
_SMALL_NUMBERS = re.compile(rb"(?:K.){2,10000}", re.DOTALL)


def _bytes(held: memoryview) -> bytes | memoryview:
    return bytes(held) if len(held) < _OF_ARRAYS else held


def _wide(held: memoryview) -> str | memoryview:
    return str(held, "utf-8", "surrogatepass") if len(held) < _OF_ARRAYS else held


def _long(held: memoryview) -> int:
    return int.from_bytes(held, "little", signed=True)


# Before which their size is, and what is made of them. Texts of Python 2 are bytes.
_SIZED: dict[str, tuple[struct.Struct, Callable[[memoryview], Any]]] = {
    "SHORT_BINSTRING": (struct.Struct("<B"), _bytes),
    "BINSTRING": (struct.Struct("<i"), _bytes),
    "SHORT_BINUNICODE": (struct.Struct("<B"), _wide),
    "BINUNICODE": (struct.Struct("<I"), _wide),
    "SHORT_BINBYTES": (struct.Struct("<B"), _bytes),
    "BINBYTES": (struct.Struct("<I"), _bytes),
    "BINBYTES8": (struct.Struct("<Q"), _bytes),
    "BYTEARRAY8": (struct.Struct("<Q"), _bytes),
    "LONG1": (struct.Struct("<B"), _long),
}
# Bytes as many are those of an array, and are neither copied nor decoded.
_OF_ARRAYS = 1 << 16
# So many bytes are made of each byte of the file at most. A text is encoded once, and the bytes of an array are swapped
# once, but a damaged pickle may ask for that again and again.
_MOST_TIMES = 4
# A line that is longer is looked for again, twice as far each time.
_LINE = 256
# As text up to the end of a line, which Python's own table of operations reads.
_LINES = {"INT", "LONG", "FLOAT", "STRING", "UNICODE", "PUT", "GET", "GLOBAL"}


def read_pickle(file: SetFile) -> Any:
    """The value: dicts, lists, tuples, texts, bytes, numbers and arrays. DataError for anything else."""
    machine = _Machine(file, file.rest())
    try:
        return machine.result()
    except DataError:
        raise
    except (ValueError, IndexError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        file.fail(f"it is not a pickle of plain values and arrays ({type(error).__name__}: {error})")


class _Machine:
    """The operations of a pickle, and the stack on which they work."""

    def __init__(self, file: SetFile, data: memoryview) -> None:
        self._file = file
        self._data = data
        self._size = len(data)
        self._place = 0
        self._left = _MOST_TIMES * len(data)
        """How many bytes may be made of those of the file."""
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        # By their codes. Each begins after its own, and most take 10,000 of CIFAR's names and labels.
        self._operations = {ord(each.code): self._operation(each) for each in pickletools.opcodes}

    def result(self) -> Any:
        data, operations = self._data, self._operations
        while self._place < self._size:
            code = data[self._place]
            if code == _STOP:
                (value,) = self._stack
                return _plain(value)
            operation = operations.get(code)
            if operation is None:
                self._file.fail(f"byte {self._place} is not an operation of a pickle")
            self._place += 1
            operation()
        self._cut_off(self._place, 1)

    def _operation(self, known: pickletools.OpcodeInfo) -> Callable[[], None]:
        name = known.name
        if name == "BININT1":
            return self._small_numbers
        if name in _NUMBERS:
            return partial(self._push_number, _NUMBERS[name])
        if name in _SIZED:
            return partial(self._push_sized, *_SIZED[name])
        if name in _PUTS:
            return partial(self._remember, _PUTS[name])
        if name in _GETS:
            return partial(self._recall, _GETS[name])
        if name == "MEMOIZE":
            return self._memoize
        if name in _CONSTANTS:
            return partial(self._stack.append, _CONSTANTS[name])
        if name in _IGNORED:
            return partial(self._skip, _IGNORED[name])
        return partial(self._run, known)

    def _run(self, operation: pickletools.OpcodeInfo) -> None:
        """One that comes a few times in a pickle."""
        name = operation.name
        begin = self._place - 1
        line: Any = self._text_line(operation) if name in _LINES else None
        if name == "PUT":
            self._memo[line] = self._stack[-1]
        elif name == "GET":
            self._stack.append(self._memo[line])
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            self._name(name, line, begin)
        elif name in _LINES:
            self._stack.append(line)
        elif name == "MARK":
            self._stack.append(_MARK)
        elif name in _EMPTY:
            self._stack.append(_EMPTY[name]())
        elif name in ("REDUCE", "BUILD"):
            self._call(name)
        else:
            self._gather(name, begin)

    def _small_numbers(self) -> None:
        """With those that follow it."""
        run = _SMALL_NUMBERS.match(self._data, self._place - 1)
        if run is None:
            self._push_number(_NUMBERS["BININT1"])
            return
        self._stack.extend(self._data[self._place : run.end() : 2])
        self._place = run.end()

    def _push_number(self, form: struct.Struct) -> None:
        self._stack.append(self._number(form))

    def _push_sized(self, size: struct.Struct, made: Callable[[memoryview], Any]) -> None:
        count = self._number(size)
        self._stack.append(made(self._take(count)))

    def _remember(self, form: struct.Struct) -> None:
        self._memo[self._number(form)] = self._stack[-1]

    def _memoize(self) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _recall(self, form: struct.Struct) -> None:
        self._stack.append(self._memo[self._number(form)])

    def _skip(self, count: int) -> None:
        self._take(count)

    def _text_line(self, operation: pickletools.OpcodeInfo) -> Any:
        assert operation.arg is not None
        lines = self._line() + self._line() if operation.name == "GLOBAL" else self._line()
        return operation.arg.reader(io.BytesIO(lines))

    def _number(self, form: struct.Struct) -> Any:
        begin = self._place
        self._place = begin + form.size
        try:
            return form.unpack_from(self._data, begin)[0]
        except struct.error:
            self._cut_off(begin, form.size)

    def _line(self) -> bytes:
        """As bytes, with its end."""
        width = _LINE
        piece = bytes(self._data[self._place : self._place + width])
        while b"\n" not in piece and len(piece) == width:
            width *= 2
            piece = bytes(self._data[self._place : self._place + width])
        return bytes(self._take(piece.find(b"\n") + 1 or len(piece)))

    def _take(self, count: int) -> memoryview:
        begin = self._place
        self._place = end = begin + count
        if count < 0 or end > self._size:
            self._cut_off(begin, count)
        return self._data[begin:end]

    def _cut_off(self, begin: int, count: int) -> NoReturn:
        self._file.fail(f"it is cut off: an operation at byte {begin:,} takes {count:,} bytes of {self._size:,}")

    def _name(self, name: str, argument: Any, place: int) -> None:
        if name == "GLOBAL":
            module, _, attribute = argument.partition(" ")
        else:
            attribute, module = self._stack.pop(), self._stack.pop()
        if not isinstance(module, str) or not isinstance(attribute, str):
            raise TypeError("it names what is not a text")
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
        elif name in ("TUPLE", "LIST", "DICT", "APPENDS", "SETITEMS"):
            gathered = self._after_mark()
            if name in ("TUPLE", "LIST"):
                self._stack.append(tuple(gathered) if name == "TUPLE" else gathered)
            else:
                if name == "DICT":
                    self._stack.append({})
                self._put(tuple(gathered))
        else:
            self._file.fail(f"byte {place} has the operation {name}, which a pickle of plain values does not need")

    def _put(self, values: tuple[Any, ...]) -> None:
        """Into the list or dict that is last."""
        target = self._stack[-1]
        if isinstance(target, list):
            target.extend(values)
            return
        keys = values[::2]
        # The hash of a tuple recurses by its depth.
        if not all(isinstance(key, (str, bytes)) for key in keys):
            raise TypeError("a key of a dict is not a text")
        target.update(zip(keys, values[1::2], strict=True))

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
            self._build(subject, arguments)
            self._stack.append(subject)
            return
        made: Any
        if subject.what == "array":
            made = _Array()
        elif subject.what == "bytes":
            values, dtype, shape, order, *axes = arguments
            made = _Array()
            made.value = _array(self._counted(values), shape, dtype, order == "F")
            # NumPy writes the axes of arrays that go neither by rows nor by columns.
            if order == "K" and axes:
                made.value = made.value.transpose(axes[0])
        elif subject.what == "dtype":
            made = _DType(_text(self._counted(arguments[0])).lstrip("<|>="))
        elif subject.what == "encode" and arguments[1] in ("latin1", "latin-1"):
            made = _encoded(self._counted(arguments[0]))
        else:
            raise ValueError("it calls what is not a function")
        self._stack.append(made)

    def _build(self, subject: Any, state: Any) -> None:
        if isinstance(subject, _DType):
            subject.order = _text(self._counted(state[1]))
            return
        _, shape, dtype, by_columns, values = state
        subject.value = _array(self._counted(values), shape, dtype, by_columns)

    def _counted(self, values: Any) -> Any:
        """What others are made of, as many bytes or characters."""
        self._left -= len(values)
        if self._left < 0:
            self._file.fail("it makes more of its texts and arrays than a pickle of plain values does")
        return values


def _encoded(text: Any) -> Any:
    return latin1_bytes(text) if isinstance(text, memoryview) else text.encode("latin-1")


def _array(values: Any, shape: Any, dtype: _DType, by_columns: bool) -> Any:
    if dtype.code not in _DTYPES or dtype.order not in ("<", ">", "|", "=") or len(shape) > 8:
        raise ValueError("an array is not one of numbers")
    raw = values.encode("latin-1") if isinstance(values, str) else values
    kind = np.dtype(("<" if dtype.order in ("|", "=") else dtype.order) + dtype.code)
    if any(type(size) is not int or size < 0 for size in shape):
        raise ValueError("the shape of an array is not one of numbers")
    if math.prod(shape) * kind.itemsize != len(raw):
        raise ValueError(f"an array of shape {tuple(shape)} has {len(raw)} bytes")
    array = np.frombuffer(raw, kind).astype(kind.newbyteorder("="), copy=False)
    return array.reshape(shape, order="F" if by_columns else "C")


def _text(value: Any) -> str:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"it has a {type(value).__name__} where a text is due")
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _plain(value: Any) -> Any:
    """With texts as keys, and arrays in place of what stands for them."""
    if not isinstance(value, dict):
        return value
    return {_text(key): each.value if isinstance(each, _Array) else each for key, each in value.items()}
