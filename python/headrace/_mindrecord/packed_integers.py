"""Arrays of integers as MindRecord 3.0 packs them: each in the fewest bytes of 1, 2, 4 or 8."""

import struct
from typing import Any

import numpy as np

__all__ = ["pack_integers"]

_LIMITS = ((-(1 << 7), (1 << 7) - 1), (-(1 << 15), (1 << 15) - 1), (-(1 << 31), (1 << 31) - 1))


def pack_integers(values: Any) -> bytes:
    """Of an array of int32 or int64: their number, two bits for the size of each, and they themselves."""
    flat = np.ascontiguousarray(values, "<i8").reshape(-1)
    sizes = np.zeros(len(flat), np.uint8)
    for least, most in _LIMITS:
        sizes += (flat < least) | (flat > most)
    # Of four values in a byte the first has the highest bits.
    fours = np.zeros((len(flat) + 3) // 4 * 4, np.uint8)
    fours[: len(flat)] = sizes
    of_four = fours.reshape(-1, 4)
    codes = of_four[:, 0] << 6 | of_four[:, 1] << 4 | of_four[:, 2] << 2 | of_four[:, 3]
    # The low bytes come first.
    kept = np.arange(8) < (1 << sizes)[:, None]
    data = flat.view(np.uint8).reshape(-1, 8)[kept]
    return struct.pack(">I", len(flat)) + codes.tobytes() + data.tobytes()
