"""`grey_pixels` reads the pixels of an uncompressed BMP of 8 bits whose palette is grey, or of 24 bits."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from headrace._sets.set_file import SetFile

__all__ = ["grey_pixels"]

_HEADS = 54
_MOST_PIXELS = 1 << 26


def grey_pixels(file: SetFile) -> Any:
    """uint8 of shape (height, width)."""
    data = file.rest()
    if len(data) < _HEADS or bytes(data[:2]) != b"BM":
        file.fail("it is not a BMP")
    (start,) = struct.unpack_from("<I", data, 10)
    size, width, height, _, bits, packing = struct.unpack_from("<IiiHHI", data, 14)
    rows = abs(height)
    if bits not in (8, 24) or packing != 0 or width <= 0 or rows == 0 or width * rows > _MOST_PIXELS:
        file.fail(f"it must be uncompressed, with 8 or 24 bits a pixel; it has {bits}, and {width} × {rows} pixels")
    step = -(-width * bits // 32) * 4
    if start > len(data) or len(data) - start < step * rows:
        file.fail(f"it ends within its pixels, after {max(len(data) - start, 0):,} of {step * rows:,} bytes")
    lines = np.frombuffer(data, np.uint8, step * rows, start).reshape(rows, step)[:: 1 if height < 0 else -1]
    if bits == 8:
        return _palette(file, data, 14 + size, start)[lines[:, :width]]
    colours = lines[:, : 3 * width].reshape(rows, width, 3)
    if (colours != colours[..., :1]).any():
        file.fail("it is not grey")
    return colours[..., 0]


def _palette(file: SetFile, data: memoryview, begin: int, end: int) -> Any:
    """The grey of each of 256 numbers."""
    count = min((end - begin) // 4, 256)
    if count <= 0:
        file.fail("it has no palette")
    entries = np.frombuffer(data, np.uint8, 4 * count, begin).reshape(count, 4)[:, :3]
    if (entries != entries[:, :1]).any():
        file.fail("it is not grey")
    greys = np.zeros(256, np.uint8)
    greys[:count] = entries[:, 0]
    return greys
