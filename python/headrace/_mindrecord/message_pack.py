"""MessagePack as MindRecord has it: one map a row, of texts to numbers and texts."""

import struct
from typing import Any

from headrace.errors import DataError

__all__ = ["pack_real", "pack_text", "pack_whole", "unpack_map"]

_F32 = struct.Struct(">f")
# The largest number of float32.
_MOST_F32 = 3.4028234663852886e38


def pack_whole(value: int) -> bytes:
    """In the fewest bytes, whatever the field's type."""
    if value >= 0:
        if value < 0x80:
            return bytes((value,))
        if value <= 0xFF:
            return struct.pack(">BB", 0xCC, value)
        if value <= 0xFFFF:
            return struct.pack(">BH", 0xCD, value)
        return struct.pack(">BI", 0xCE, value) if value <= 0xFFFFFFFF else struct.pack(">BQ", 0xCF, value)
    if value >= -0x20:
        return struct.pack(">b", value)
    if value >= -0x80:
        return struct.pack(">Bb", 0xD0, value)
    if value >= -0x8000:
        return struct.pack(">Bh", 0xD1, value)
    return struct.pack(">Bi", 0xD2, value) if value >= -0x80000000 else struct.pack(">Bq", 0xD3, value)


def pack_real(value: float) -> bytes:
    """As float32 where that is exact, whatever the field's type."""
    if -_MOST_F32 <= value <= _MOST_F32:
        narrow = _F32.pack(value)
        if _F32.unpack(narrow)[0] == value:
            return b"\xca" + narrow
    return struct.pack(">Bd", 0xCB, value)


def pack_text(value: str) -> bytes:
    data = value.encode()
    size = len(data)
    if size < 32:
        return bytes((0xA0 | size,)) + data
    if size <= 0xFF:
        return struct.pack(">BB", 0xD9, size) + data
    return (struct.pack(">BH", 0xDA, size) if size <= 0xFFFF else struct.pack(">BI", 0xDB, size)) + data


def unpack_map(data: bytes) -> dict[str, Any]:
    """The numbers and texts of a map. DataError: it has other values, or is damaged."""
    try:
        count, at = _map_head(data)
        found = {}
        for _ in range(count):
            name, at = _value(data, at)
            found[name], at = _value(data, at)
    except (IndexError, struct.error, UnicodeDecodeError):
        raise DataError("the scalars of a row are no MessagePack") from None
    return found


def _map_head(data: bytes) -> tuple[int, int]:
    tag = data[0]
    if tag & 0xF0 == 0x80:
        return tag & 0x0F, 1
    if tag not in (0xDE, 0xDF):
        raise DataError("the scalars of a row are no map of MessagePack")
    return (struct.unpack_from(">H", data, 1)[0], 3) if tag == 0xDE else (struct.unpack_from(">I", data, 1)[0], 5)


_FIXED = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
_FIXED |= {0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
_SIZED = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}


def _value(data: bytes, at: int) -> tuple[Any, int]:
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 0x100, at
    if tag in _FIXED:
        form = _FIXED[tag]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if 0xA0 <= tag <= 0xBF:
        size = tag & 0x1F
    elif tag in _SIZED:
        form = _SIZED[tag]
        (size,) = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
    else:
        raise DataError(f"the scalars of a row have a value that is no number and no text, of the tag {tag:#x}")
    if at + size > len(data):
        raise IndexError
    return data[at : at + size].decode(), at + size
