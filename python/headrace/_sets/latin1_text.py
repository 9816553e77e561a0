"""`latin1_bytes` gives the bytes that a pickle of Python 3 holds as a text of UTF-8, a character for each byte."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["latin1_bytes"]

# Of bytes that are in the processor's cache while they are gone through several times.
_PIECE = 1 << 18


def latin1_bytes(text: memoryview) -> Any:
    """An array of uint8, in a third of the time that two steps by way of `str` take. ValueError for a text of others."""
    given = np.frombuffer(text, np.uint8)
    found = np.empty(len(given), np.uint8)
    count = 0
    last = 0
    for begin in range(0, len(given), _PIECE):
        piece = given[begin : begin + _PIECE]
        previous = np.empty_like(piece)
        previous[0], previous[1:] = last, piece[:-1]
        # Characters from 128 on have two bytes, of which the first is 0xC2 or 0xC3.
        is_first = piece >= 0xC0
        is_known = np.array_equal((piece & 0xFE) == 0xC2, is_first)
        if not is_known or not np.array_equal((piece & 0xC0) == 0x80, previous >= 0xC0):
            raise _not_of_bytes()
        values = np.compress(~is_first, piece | ((previous == 0xC3).view(np.uint8) << 6))
        found[count : count + len(values)] = values
        count += len(values)
        last = piece[-1]
    if last >= 0xC0:
        raise _not_of_bytes()
    return found[:count]


def _not_of_bytes() -> ValueError:
    return ValueError("the values of an array are a text that has other characters than bytes")
