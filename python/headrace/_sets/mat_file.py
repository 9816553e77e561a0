"""`read_mat` reads the numeric arrays of a MATLAB 5 file (.mat)."""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import numpy as np

from headrace._sets.set_file import SetFile

__all__ = ["read_mat"]

_HEADER = 128
_COMPRESSED, _MATRIX = 15, 14
# By the type of an element: how its numbers are stored.
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
# By the class of an array: what its numbers are.
_NUMBERS = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_MOST_AXES = 8
_PIECE = 1 << 22


def read_mat(file: SetFile, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Those variables that are `wanted`, which are in memory as MATLAB has them: first axis fastest."""
    header = file.read(_HEADER, "the header")
    order = {b"IM": "<", b"MI": ">"}.get(bytes(header[126:128]))
    if order is None:
        is_hdf5 = bytes(header[:8]) == b"\x89HDF\r\n\x1a\n"
        file.fail("it is not a MATLAB 5 file" + (", but one of HDF5 (MATLAB 7.3)" if is_hdf5 else ""))
    found: dict[str, Any] = {}
    data = file.rest()
    place = 0
    while place < len(data):
        kind, body, place = _element(file, data, place, order)
        if kind == _COMPRESSED:
            kind, body, _ = _element(file, memoryview(_unpacked(file, body, order)), 0, order)
        if kind == _MATRIX:
            _add_array(file, body, order, wanted, found)
    missing = [name for name in wanted if name not in found]
    if missing:
        file.fail(f"it has no array {' and no '.join(missing)}")
    return found


def _element(file: SetFile, data: memoryview, place: int, order: str) -> tuple[int, memoryview, int]:
    """Its type and its bytes, and where the next begins."""
    if len(data) - place < 8:
        file.fail("it ends within the head of an element")
    kind, size = struct.unpack_from(f"{order}II", data, place)
    if kind >> 16:  # a small one, whose bytes are in its head
        kind, size = kind & 0xFFFF, kind >> 16
        if size > 4:
            file.fail(f"a small element of {size} bytes is damage: it holds 4")
        return kind, data[place + 4 : place + 4 + size], place + 8
    if size > len(data) - place - 8:
        file.fail(f"an element of {size:,} bytes ends after {len(data) - place - 8:,}")
    # Compressed elements are not filled up to 8 bytes.
    filled = size if kind == _COMPRESSED else -(-size // 8) * 8
    return kind, data[place + 8 : place + 8 + size], place + 8 + filled


def _unpacked(file: SetFile, packed: memoryview, order: str) -> bytearray:
    """One element, and no more than its head says."""
    unpacker = zlib.decompressobj()
    found = bytearray()
    rest: bytes | memoryview = packed
    size = 8
    try:
        while len(found) < size and not unpacker.eof:
            piece = unpacker.decompress(rest, min(_PIECE, size - len(found)))
            rest = unpacker.unconsumed_tail
            if not piece and not rest:
                break
            found += piece
            if len(found) >= 8:
                size = 8 + struct.unpack_from(f"{order}I", found, 4)[0]
    except zlib.error as error:
        file.fail(f"its compressed data is damaged ({error})")
    return found


def _add_array(file: SetFile, body: memoryview, order: str, wanted: tuple[str, ...], found: dict[str, Any]) -> None:
    _, flags, place = _element(file, body, 0, order)
    _, sizes, place = _element(file, body, place, order)
    _, name, place = _element(file, body, place, order)
    text = bytes(name).decode("latin-1")
    if text not in wanted or len(flags) < 4:
        return
    number = struct.unpack_from(f"{order}I", flags)[0]
    kind = number & 0xFF
    if kind not in _NUMBERS or number & 0x0800 or len(sizes) % 4 or len(sizes) > 4 * _MOST_AXES:
        file.fail(f"its array {text} does not hold plain numbers")
    shape = struct.unpack(f"{order}{len(sizes) // 4}i", sizes)
    stored, values, _ = _element(file, body, place, order)
    dtype = np.dtype(order + _STORED[stored]) if stored in _STORED else None
    if dtype is None or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(values):
        file.fail(f"its array {text} has the shape {shape}, and {len(values):,} bytes of values of type {stored}")
    array = np.frombuffer(values, dtype).astype(_NUMBERS[kind], copy=False)
    found[text] = array.reshape(shape, order="F")
