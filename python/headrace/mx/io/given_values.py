"""Checks values that scripts for MXNet give to its iterators."""

from typing import Any

import numpy as np

from headrace import options

__all__ = ["dtype_name", "flag", "part"]


def flag(name: str, value: Any, of: str) -> bool:
    """True or False, also as 1 and 0."""
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    return options.flag(name, value, of)


def dtype_name(dtype: Any) -> Any:
    """NumPy's name; what is no type is returned as it is."""
    try:
        return dtype if isinstance(dtype, str) else np.dtype(dtype).name
    except TypeError:
        return dtype


def part(part_index: Any, num_parts: Any, of: str) -> tuple[int, int]:
    """The number of a part, and how many there are."""
    parts = options.whole("num_parts", num_parts, 1, of)
    return options.whole("part_index", part_index, 0, of, parts - 1), parts
