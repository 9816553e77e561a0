"""Checks values that scripts for MXNet give to its iterators."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from headrace import options
from headrace.errors import GraphError

__all__ = ["dtype_name", "flag", "kept_seed", "number_or_nan", "part", "picture_shape"]


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


def number_or_nan(value: Any) -> float:
    """NaN in place of what is no number."""
    try:
        return math.nan if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def picture_shape(given: Any, channels: tuple[int, ...], of: str) -> tuple[int, int, int]:
    """(channels, height, width), of one of these numbers of channels."""
    *others, last = map(str, channels)
    form, kinds = ("channels", f"{', '.join(others)} or {last} channels") if others else (last, f"{last} channels here")
    try:
        depth, height, width = (options.whole("data_shape", each, 1, of) for each in given)
    except (TypeError, ValueError):
        raise GraphError(f"{of}: data_shape is {options.shown(given)}; it must be ({form}, height, width)") from None
    if depth not in channels:
        raise GraphError(f"{of}: data_shape is {options.shown(given)}; pictures have {kinds}")
    return depth, height, width


def kept_seed(state: Any) -> int | None:
    """The seed in an iterator's state; None where there is none: a state that is none is refused later."""
    seed = state.get("seed") if isinstance(state, Mapping) else None
    return seed if isinstance(seed, int) and seed >= 0 else None
