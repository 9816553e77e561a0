"""Checks values that scripts for MXNet give to its iterators."""

import glob
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headrace._arguments import options
from headrace._files.places import is_folder
from headrace.errors import GraphError, StateError

__all__ = [
    "check_iterator",
    "check_state",
    "dtype_name",
    "file_patterns",
    "flag",
    "kept_seed",
    "named_files",
    "number_or_nan",
    "part",
    "paths_of",
    "image_shape",
    "shape_of",
    "share",
]


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


def check_iterator(name: str, given: Any, attributes: Sequence[str], of: str) -> None:
    """Raises GraphError unless it has what is used of an iterator, such as the user's own."""
    lacks = [each for each in attributes if not hasattr(given, each)]
    if lacks:
        raise GraphError(
            f"{of}: {name} is {options.shown(given)}, which has no {lacks[0]}; give an iterator, such as NDArrayIter, or an "
            "instance of a class derived from DataIter"
        )


def check_state(state: Any, kinds: Mapping[str, tuple[type, ...]], of: str) -> None:
    """Raises StateError unless it is a mapping with these values at least."""
    if not isinstance(state, Mapping) or not all(
        name in state and isinstance(state[name], types) for name, types in kinds.items()
    ):
        raise StateError(f"{of}: state is {options.shown(state)}; give what state() gave")


def paths_of(name: str, given: Any, of: str) -> list[str | os.PathLike[str]]:
    """The paths of files that are given as a path, or several between semicolons or in a list."""
    paths = [given] if isinstance(given, os.PathLike) else given
    if isinstance(given, str):
        # As MXNet, which passes over a semicolon at the end.
        paths = [each for each in given.split(";") if each]
    if not isinstance(paths, (list, tuple)) or not paths:
        raise GraphError(f"{of}: {name} is {options.shown(given)}; it must be a path, or a list of paths")
    for each in paths:
        if not isinstance(each, (str, os.PathLike)) or not os.fspath(each):
            raise GraphError(f"{of}: {name} has {options.shown(each)}, not a path")
    return [*paths]


def file_patterns(name: str, given: Any, of: str) -> list[str]:
    """Patterns for files that are given as a path, several between semicolons or in a list, or a folder of them."""
    patterns = []
    for each in paths_of(name, given, of):
        path = glob.escape(os.fsdecode(each))
        patterns.append(os.path.join(path, "*") if is_folder(os.fsdecode(each)) else path)
    return patterns


def named_files(name: str, given: Any) -> str:
    """For messages, with the parameter that names them."""
    return f"{name}={options.shown(given)}"


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


def share(name: str, given: Any, of: str) -> float:
    """A number from 0 to 1."""
    if not 0 <= (number := number_or_nan(given)) <= 1:
        raise GraphError(f"{of}: {name} is {options.shown(given)}; it must be between 0 and 1")
    return number


def shape_of(name: str, given: Any, of: str) -> tuple[int, ...]:
    """A shape of at least one axis, also as a number."""
    try:
        shape = tuple(options.whole(name, each, 1, of) for each in ([given] if isinstance(given, int) else given))
    except TypeError:
        shape = ()
    if not shape:
        raise GraphError(f"{of}: {name} is {options.shown(given)}; it must be a shape such as (3, 8, 8)")
    return shape


def image_shape(given: Any, channels: tuple[int, ...], of: str) -> tuple[int, int, int]:
    """(channels, height, width), of one of these numbers of channels."""
    *others, last = map(str, channels)
    form, kinds = ("channels", f"{', '.join(others)} or {last} channels") if others else (last, f"{last} channels here")
    try:
        depth, height, width = (options.whole("data_shape", each, 1, of) for each in given)
    except (TypeError, ValueError):
        raise GraphError(f"{of}: data_shape is {options.shown(given)}; it must be ({form}, height, width)") from None
    if depth not in channels:
        raise GraphError(f"{of}: data_shape is {options.shown(given)}; images have {kinds}")
    return depth, height, width


def kept_seed(state: Any) -> int | None:
    """The seed in an iterator's state; None where there is none: a state that is none is refused later."""
    seed = state.get("seed") if isinstance(state, Mapping) else None
    return seed if isinstance(seed, int) and seed >= 0 else None
