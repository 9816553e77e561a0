"""`ragged` declares a column whose rows differ in their first axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace._arguments.options import shown
from headrace._datasets.fields.array_columns import held_array
from headrace._datasets.fields.frame_columns import plain_column
from headrace._datasets.fields.missing_values import first_missing
from headrace._datasets.fields.ragged_column import RaggedColumn
from headrace.errors import GraphError

__all__ = ["ragged"]


def ragged(values: Any, splits: Any) -> RaggedColumn:
    """A column of `Numpy` or `Manifest` whose rows differ in their first axis, such as the boxes of images: row i is
    `values[splits[i]:splits[i + 1]]`, a view, which may be empty.

    `batch(n, ragged="splits")` gives columns of the same form. Of a list of arrays,
    `ragged(np.concatenate(arrays), np.cumsum([0, *map(len, arrays)]))`.

    Args:
        values: The elements of all rows, one after the other: an array, whose further axes are those of each row, or a
            list of numbers, texts or bytes. Its memory is shared where it is an array: do not change it while a pipeline
            runs.
        splits: Where rows begin and end: n + 1 whole numbers for n rows, from 0 to `len(values)`, none below the one
            before.
    """
    cuts = _splits_of(splits)
    try:
        plain = held_array(values, "ragged: values")
    except GraphError as error:
        missing = first_missing(values)
        row = None if missing is None else _row_of(missing, cuts)
        if row is None:
            raise
        raise GraphError(
            f"ragged: values[{missing}], of row {row}, is missing, and no column holds a missing value; give a value in "
            "its place, or leave it out"
        ) from error
    _check_splits(cuts, len(plain))
    return RaggedColumn(plain, _copied(cuts))


def _splits_of(given: Any) -> Any:
    plain = plain_column(given, "ragged: splits")
    if isinstance(plain, Sequence) and not isinstance(plain, (str, bytes)) and len(plain) == 0:
        raise GraphError("ragged: splits is empty; n rows have n + 1 splits, the first of which is 0")
    splits = held_array(plain, "ragged: splits")
    if getattr(splits.dtype, "kind", "") not in ("i", "u") or splits.ndim != 1 or len(splits) == 0:
        raise GraphError(
            f"ragged: splits is {shown(given)}; it must be n + 1 whole numbers for n rows, the first of which is 0"
        )
    return splits


def _check_splits(splits: Any, count: int) -> None:
    import numpy as np

    falls = np.flatnonzero(splits[1:] < splits[:-1])
    if falls.size > 0:
        row = int(falls[0])
        raise GraphError(
            f"ragged: row {row} begins at value {splits[row]} and ends at value {splits[row + 1]}; splits must not decrease"
        )
    if splits[0] != 0 or splits[-1] != count:
        raise GraphError(
            f"ragged: splits go from {splits[0]} to {splits[-1]}; they must go from 0 to {count}, the number of values"
        )


def _copied(splits: Any) -> Any:
    import numpy as np

    return np.array(splits, np.int64)


def _row_of(value: int, splits: Any) -> int | None:
    import numpy as np

    row = int(np.searchsorted(splits, value, side="right")) - 1
    return row if 0 <= row < len(splits) - 1 else None
