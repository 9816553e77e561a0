"""Arrays of users as columns, and the source that gives their rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import shown, text
from headrace._datasets.base import source
from headrace._datasets.fields.class_columns import given_classes, numbered_columns
from headrace._datasets.fields.frame_columns import plain_column
from headrace._datasets.fields.missing_values import given_missing, is_masked, with_fill
from headrace._datasets.fields.ragged_column import RaggedColumn, bound_columns
from headrace._kernels.mapping import Types
from headrace.errors import GraphError, ResourceError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["array_attributes", "array_columns", "array_source", "exact_array", "held_array"]


_NAME = "a column's name"


def array_source(arrays: Mapping[str, Any]) -> Dataset:
    """A dataset of the rows of arrays, as `headrace.Numpy` makes it."""
    return source("Numpy", array_attributes(arrays))


def array_attributes(arrays: Mapping[str, Any], missing: Any = None, classes: Any = None) -> dict[str, Any]:
    """Those of the operator Numpy."""
    columns, types = array_columns(arrays, "Numpy", missing)
    columns, types, names = numbered_columns(columns, types, given_classes(classes, "Numpy"), "Numpy")
    return {"arrays": bound_columns(columns), "columns": _engine.Columns(types), "class_names": names}


def array_columns(given: Mapping[str, Any], of: str, missing: Any = None) -> tuple[dict[str, Any], Types]:
    """The columns as arrays of equally many rows, or ragged, and the types of their rows. `missing`: the values that stand
    for those that are missing, by column."""
    fills = given_missing(missing, given, of)
    columns = {}
    for name, each in given.items():
        what = f'{of}: column "{text(_NAME, name, of)}"'
        columns[name] = _column_of(with_fill(each, fills[name], what) if name in fills else each, what)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise GraphError(f"{of}: columns differ in their number of rows: {listed}")
    return columns, [(name, *_type_of(name, column, of)) for name, column in columns.items()]


def _column_of(given: Any, what: str) -> Any:
    try:
        return held_array(given, what)
    except GraphError as error:
        if not str(error).endswith("shapes of all must agree: pad them"):
            raise
        raise GraphError(f"{error}, or give {_RAGGED}") from error


_RAGGED = "hr.ragged(values, splits)"


def held_array(given: Any, what: str) -> Any:
    """The values of a column as an array that the engine can hold, or of a ragged one with an array of its values.
    GraphError, which begins with `what`."""
    values = plain_column(given, what)
    if isinstance(values, RaggedColumn):
        return RaggedColumn(held_array(values.values, what), values.splits)
    column = _bfloat16(values)
    if column is None and not _is_single(values):
        _refuse_mask(values, what)
        column = exact_array(values, what)
    if column is None or column.ndim == 0:
        raise GraphError(f"{what} is a single value; its first axis must count the rows")
    return column


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


def _refuse_mask(given: Any, what: str) -> None:
    import numpy as np

    if not is_masked(given) or given.ndim == 0 or given.size == 0:
        return
    rows = np.flatnonzero(np.ma.getmaskarray(given).reshape(len(given), -1).any(1))
    if rows.size > 0:
        raise GraphError(
            f"{what} has masked values, the first in row {rows[0]}, and no column holds a mask; give filled(value) of it"
        )


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


def _type_of(name: str, column: Any, of: str) -> tuple[str, tuple[int | None, ...]]:
    """Dtype and shape of the rows."""
    if isinstance(column, RaggedColumn):
        return _column_dtype(name, column.values, of), (None, *column.values.shape[1:])
    return _column_dtype(name, column, of), tuple(column.shape[1:])


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
    # Without values it is text, as the engine has it.
    if all(issubclass(each, str) for each in kinds):
        return "string"
    if all(issubclass(each, bytes) for each in kinds):
        return "bytes"
    listed = ", ".join(sorted(each.__name__ for each in kinds))
    lists = f"; of rows that differ in length give {_RAGGED}" if kinds & {list, tuple, type(column)} else ""
    raise GraphError(
        f'{of}: column "{name}" holds Python objects ({listed}); only bytes alone or str alone can be held'
        f"{_odd_one(column)}{lists}"
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
