"""Arrays of users as columns, and the source that gives their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import shown, text
from headrace._datasets.base import source
from headrace._graph import reference
from headrace._kernels.mapping import Types
from headrace.errors import GraphError, ResourceError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["array_attributes", "array_columns", "array_source"]


def array_source(arrays: Mapping[str, Any]) -> Dataset:
    """A dataset of the rows of arrays, as `headrace.Numpy` makes it."""
    return source("Numpy", array_attributes(arrays))


def array_attributes(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the operator Numpy."""
    columns, types = array_columns(arrays, "Numpy")
    return {"arrays": reference.arrays(columns), "columns": _engine.Columns(types)}


def array_columns(given: Mapping[str, Any], of: str) -> tuple[dict[str, Any], Types]:
    """The columns as arrays of equally many rows, and their types."""
    columns = {}
    for name, array in given.items():
        columns[text("a column's name", name, of)] = _array_of(name, array, of)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise GraphError(f"{of}: columns differ in their number of rows: {listed}")
    return columns, [(name, _column_dtype(name, column, of), column.shape[1:]) for name, column in columns.items()]


def _array_of(name: str, given: Any, of: str) -> Any:
    import numpy as np

    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise GraphError(
            f'{of}: column "{name}" has masked values, and no column holds a mask; give filled(value) of it'
        )
    try:
        column = np.asarray(given)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise GraphError(f'{of}: column "{name}" is {shown(given)}, not an array: {error}') from error
    except MemoryError as error:
        raise ResourceError(f'{of}: column "{name}" does not fit into memory as an array: {error}') from error
    if column.ndim == 0:
        raise GraphError(f'{of}: column "{name}" is a single value; its first axis must count the rows')
    return column


def _column_dtype(name: str, column: Any, of: str) -> str:
    kind = column.dtype.kind
    if kind == "S":
        return "bytes"
    if kind == "U":
        return "string"
    if kind == "O":
        kinds = {type(value) for value in column.flat}
        if kinds <= {bytes}:
            return "bytes"
        if kinds <= {str}:
            return "string"
        listed = ", ".join(sorted(each.__name__ for each in kinds))
        raise GraphError(
            f'{of}: column "{name}" holds Python objects ({listed}); only bytes alone or str alone can be held'
        )
    known = str(column.dtype.name)
    if known not in _NUMBERS:
        raise GraphError(f'{of}: column "{name}" is {known}; no column can hold that')
    return known


_NUMBERS = {"bool", "float16", "bfloat16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
