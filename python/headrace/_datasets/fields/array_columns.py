"""Arrays of users as columns, and the source that gives their rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import shown, text
from headrace._datasets.base import source
from headrace._datasets.fields.frame_columns import plain_column
from headrace._graph import reference
from headrace._kernels.mapping import Types
from headrace.errors import GraphError, ResourceError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["array_attributes", "array_columns", "array_source", "exact_array"]


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
    return columns, [
        (name, _column_dtype(name, column, of), tuple(column.shape[1:])) for name, column in columns.items()
    ]


def exact_array(given: Any, what: str) -> Any:
    """The array of a list, an array or a column of a table, with each value as it is. GraphError, which begins with
    `what`, if one of them cannot be held so."""
    try:
        return _engine.exact_array(plain_column(given, what))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        reason = str(error)
        # Of the whole, "it has masked values"; of an element, "row 2 is None".
        joined = f" {reason[3:]}" if reason.startswith("it ") else f": {reason}"
        raise GraphError(f"{what}{joined}") from error
    except MemoryError as error:
        raise ResourceError(f"{what} does not fit into memory as an array: {error}") from error


def _array_of(name: str, given: Any, of: str) -> Any:
    what = f'{of}: column "{name}"'
    column = _bfloat16(given)
    values = plain_column(given, what)
    if column is None and not _is_single(values):
        column = exact_array(values, what)
    if column is None or column.ndim == 0:
        raise GraphError(f"{what} is a single value; its first axis must count the rows")
    return column


def _is_single(given: Any) -> bool:
    """Whether it has no elements by number."""
    by_number = hasattr(given, "__len__") and hasattr(given, "__getitem__") and not isinstance(given, Mapping)
    return not by_number and not hasattr(given, "__array__")


def _bfloat16(given: Any) -> Any:
    """A tensor of torch with the dtype that NumPy does not have; None: it is something else."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(given, torch.Tensor) or given.dtype != torch.bfloat16:
        return None
    return given.detach()


def _column_dtype(name: str, column: Any, of: str) -> str:
    kind = getattr(column.dtype, "kind", None)
    if kind is None:  # of torch
        return "bfloat16"
    if kind == "S":
        return "bytes"
    if kind == "U":
        return "string"
    if kind == "O":
        return _dtype_of_objects(name, column, of)
    known = str(column.dtype.name)
    if known not in _NUMBERS:
        raise GraphError(f'{of}: column "{name}" is {known}; no column can hold that')
    return known


def _dtype_of_objects(name: str, column: Any, of: str) -> str:
    kinds = {type(value) for value in column.flat}
    if all(issubclass(each, bytes) for each in kinds):
        return "bytes"
    if all(issubclass(each, str) for each in kinds):
        return "string"
    listed = ", ".join(sorted(each.__name__ for each in kinds))
    raise GraphError(
        f'{of}: column "{name}" holds Python objects ({listed}); only bytes alone or str alone can be held'
        f"{_odd_one(column)}"
    )


def _odd_one(column: Any) -> str:
    """Where the first value is that is neither a text nor bytes."""
    for row, value in enumerate(column.reshape(len(column), -1)):
        for each in value:
            if not isinstance(each, (str, bytes)):
                return f": row {row} is {shown(each)}"
    return ""


_NUMBERS = {"bool", "float16", "bfloat16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
