"""`Measured` lays the columns of a row or batch out in memory that another process maps, and `read` gives them there: arrays
of numbers without a copy, texts and byte strings made anew."""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from headrace._arguments.import_folder import import_late
from headrace.errors import DataError, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Measured", "read"]

# Columns begin where a cache line does.
_ALIGNMENT = 64
_LENGTH = struct.Struct("<Q")

Memory = Any
# ["array", dtype, shape, offset], ["texts" or "bytes", shape, ends' offset, offset, size],
# ["text" or "byte string", offset, size], ["list", [column, …]], or ["arrow", offset, size].
Layout = list[Any]


class Measured:
    """A row whose place in memory is known.

    Attributes:
        bytes: What it needs.
    """

    def __init__(self, row: Any) -> None:
        self._parts: list[tuple[int, Any]] = []
        self._end = 0
        if isinstance(row, dict):
            table: Any = {name: self._column(name, value) for name, value in row.items()}
        else:
            table = ["arrow", *self._place(_arrow_bytes(row))]
        self._table = json.dumps(table).encode()
        self._start = _aligned(_LENGTH.size + len(self._table))
        self.bytes = self._start + self._end

    def write(self, memory: NDArray[numpy.uint8]) -> None:
        """`memory`: of so many bytes at least."""
        head = _LENGTH.pack(len(self._table)) + self._table
        memory[: len(head)] = numpy.frombuffer(head, numpy.uint8)
        for offset, part in self._parts:
            at = self._start + offset
            if isinstance(part, numpy.ndarray):
                there = memory[at : at + part.nbytes].view(part.dtype).reshape(part.shape)
                there[...] = part
            else:
                memory[at : at + len(part)] = numpy.frombuffer(part, numpy.uint8)

    def _place(self, part: Any) -> tuple[int, int]:
        """The offset and the size."""
        size = part.nbytes if isinstance(part, numpy.ndarray) else len(part)
        offset = self._end
        if size > 0:
            self._parts.append((offset, part))
        self._end = _aligned(offset + size)
        return offset, size

    def _column(self, name: str, value: Any) -> Layout:
        if isinstance(value, list):
            return ["list", [self._column(name, each) for each in value]]
        if isinstance(value, str):
            return ["text", *self._place(value.encode("utf-8", "surrogatepass"))]
        if isinstance(value, (bytes, bytearray, memoryview)):
            return ["byte string", *self._place(bytes(value))]
        if isinstance(value, numpy.ndarray) and value.dtype == object:
            return self._strings(name, value)
        if isinstance(value, numpy.ndarray):
            # Types of other libraries have no code, only a name.
            kind = value.dtype.name if value.dtype.kind == "V" else value.dtype.str
            return ["array", kind, value.shape, self._place(value)[0]]
        raise UnsupportedError(
            f'share: column "{name}" has values of type {type(value).__name__}, which cannot be shared'
        )

    def _strings(self, name: str, values: NDArray[Any]) -> Layout:
        flat = values.ravel().tolist()
        kinds = {type(each) for each in flat}
        if kinds <= {str}:
            kind, flat = "texts", [each.encode("utf-8", "surrogatepass") for each in flat]
        elif kinds <= {bytes}:
            kind = "bytes"
        else:
            listed = ", ".join(sorted(each.__name__ for each in kinds))
            raise UnsupportedError(f'share: column "{name}" has values of the types {listed}, which cannot be shared')
        ends = numpy.fromiter(itertools.accumulate(map(len, flat)), numpy.int64, len(flat))
        return [kind, values.shape, self._place(ends)[0], *self._place(b"".join(flat))]


def read(memory: NDArray[numpy.uint8]) -> Any:
    """The dict of columns, or the RecordBatch, whose arrays keep `memory`. DataError for what `Measured` did not write."""
    try:
        (length,) = _LENGTH.unpack(memory[: _LENGTH.size].tobytes())
        table = json.loads(memory[_LENGTH.size : _LENGTH.size + length].tobytes())
        within = memory[_aligned(_LENGTH.size + length) :]
        if isinstance(table, dict):
            return {name: _READERS[layout[0]](within, *layout[1:]) for name, layout in table.items()}
        return _READERS[table[0]](within, *table[1:])
    except (LookupError, ValueError, TypeError, RecursionError, struct.error) as error:
        raise DataError(f"a shared batch is damaged: {error}") from error


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


def _array(memory: NDArray[numpy.uint8], kind: str, shape: list[int], offset: int) -> NDArray[Any]:
    try:
        dtype = numpy.dtype(kind)
    except TypeError:
        import_late("ml_dtypes")
        dtype = numpy.dtype(kind)
    count = 1
    for extent in shape:
        count *= extent
    return memory[offset : offset + count * dtype.itemsize].view(dtype).reshape(shape)


def _strings(
    made: Callable[[bytes], Any],
    memory: NDArray[numpy.uint8],
    shape: list[int],
    ends_at: int,
    offset: int,
    size: int,
) -> NDArray[Any]:
    values: NDArray[Any] = numpy.empty(shape, object)
    ends = memory[ends_at : ends_at + 8 * values.size].view(numpy.int64).tolist()
    data = memory[offset : offset + size].tobytes()
    values.ravel()[:] = [made(data[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]
    return values


def _texts(memory: NDArray[numpy.uint8], *where: Any) -> NDArray[Any]:
    return _strings(_decoded, memory, *where)


def _byte_strings(memory: NDArray[numpy.uint8], *where: Any) -> NDArray[Any]:
    return _strings(bytes, memory, *where)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _text(memory: NDArray[numpy.uint8], offset: int, size: int) -> str:
    return _decoded(_byte_string(memory, offset, size))


def _byte_string(memory: NDArray[numpy.uint8], offset: int, size: int) -> bytes:
    return memory[offset : offset + size].tobytes()


def _list(memory: NDArray[numpy.uint8], layouts: list[Layout]) -> list[Any]:
    return [_READERS[each[0]](memory, *each[1:]) for each in layouts]


# ---- record batches ----


def _arrow_bytes(batch: Any) -> memoryview:
    """In Arrow's form for processes, whose columns a reader takes where they are."""
    pyarrow = import_late("pyarrow")
    if not isinstance(batch, pyarrow.RecordBatch):
        raise UnsupportedError(f"share: a row of type {type(batch).__name__} cannot be shared")
    import_late("pyarrow.ipc")
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return memoryview(sink.getvalue())


def _arrow(memory: NDArray[numpy.uint8], offset: int, size: int) -> Any:
    pyarrow = import_late("pyarrow")
    import_late("pyarrow.ipc")
    buffer = pyarrow.py_buffer(memory[offset : offset + size])
    return pyarrow.ipc.open_stream(buffer).read_next_batch()


_READERS: dict[str, Callable[..., Any]] = {
    "array": _array,
    "texts": _texts,
    "bytes": _byte_strings,
    "text": _text,
    "byte string": _byte_string,
    "list": _list,
    "arrow": _arrow,
}
