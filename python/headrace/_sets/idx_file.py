"""`read_idx` reads an array of an idx file, as MNIST and its kin have them."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from headrace._sets.set_file import SetFile

__all__ = ["read_idx"]

_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MOST_AXES = 8


def read_idx(file: SetFile, axes: int) -> Any:
    """The array, of this rank, of a file that is exactly as long as its header says."""
    zeros, code, rank = struct.unpack(">HBB", file.read(4, "the header"))
    if zeros != 0 or code not in _DTYPES:
        file.fail(f"it is not an idx file: its first bytes are {zeros:04x}{code:02x}{rank:02x}")
    if rank != axes or rank > _MOST_AXES:
        file.fail(f"its array must have {axes} axes, and has {rank}")
    shape = struct.unpack(f">{rank}I", file.read(4 * rank, "the header"))
    dtype = np.dtype(_DTYPES[code])
    data = file.read(math.prod(shape) * dtype.itemsize, f"the array {shape}")
    file.end(f"the array {shape}")
    return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)
