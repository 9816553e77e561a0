"""Values that are missing from a column that a user gives: None, NaN among objects, NA, nulls and masked values; and the
value that the user states for them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.options import shown, text
from headrace._datasets.fields.frame_columns import library_of, list_column, plain_column, plain_types
from headrace._datasets.fields.ragged_column import RaggedColumn
from headrace.errors import GraphError

__all__ = ["first_missing", "given_missing", "is_masked", "with_fill"]


def given_missing(missing: Any, columns: Mapping[Any, Any], of: str) -> dict[str, Any]:
    """The values that a user states for those that are missing, by column."""
    if missing is None:
        return {}
    if not isinstance(missing, Mapping):
        raise GraphError(f'{of}: missing is {shown(missing)}; give a dict from column to value, such as {{"age": -1}}')
    for name in missing:
        if text("a column of missing", name, of) not in columns:
            raise GraphError(
                f'{of}: missing names "{name}", and there is no such column ({", ".join(map(str, columns))})'
            )
    return dict(missing)


def first_missing(values: Any) -> int | None:
    """The number of the first element of a list, an array of objects or a masked array that is missing."""
    if is_masked(values) and values.size > 0:
        import numpy as np

        masked = np.flatnonzero(np.ma.getmaskarray(values).reshape(len(values), -1).any(1))
        return int(masked[0]) if masked.size > 0 else None
    if not isinstance(values, Sequence) and getattr(getattr(values, "dtype", None), "kind", "") != "O":
        return None
    return next((number for number, each in enumerate(values) if _is_missing(each)), None)


def is_masked(given: Any) -> bool:
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(given, masked.MaskedArray)


def _is_missing(value: Any) -> bool:
    import numpy as np

    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def with_fill(given: Any, value: Any, what: str) -> Any:
    """The column with `value` in place of what is missing, also of NaN. GraphError, which begins with `what`, if the
    column's type does not hold it."""
    if isinstance(given, RaggedColumn):
        raise GraphError(f"{what} is ragged, and missing has a value for it; fill its values before hr.ragged")
    library = library_of(given)
    if library == "pandas":
        return _of_pandas(given, value, what)
    if library is not None:
        return _of_nulls(given, value, what)
    if is_masked(given):
        import numpy as np

        return _replaced(np.ma.getdata(given), np.ma.getmaskarray(given), value, what)
    return _of_values(given, value, what)


def _of_values(given: Any, value: Any, what: str) -> Any:
    import numpy as np

    if isinstance(given, Sequence) and not isinstance(given, (str, bytes, bytearray)):
        return [value if _is_missing(each) else each for each in given]
    if not hasattr(given, "__array__") and hasattr(given, "to_numpy"):
        given = given.to_numpy()
    if not hasattr(given, "__array__"):
        return given
    try:
        array = np.asarray(_engine.exact_array(given))
    except (TypeError, ValueError) as error:
        raise GraphError(f"{what}: {error}") from error
    if array.dtype.kind == "O" and array.ndim == 1:
        return [value if _is_missing(each) else each for each in array]
    if array.dtype.kind != "f" or not np.isnan(array).any():
        return given
    return _replaced(array, np.isnan(array), value, what)


def _of_pandas(series: Any, value: Any, what: str) -> Any:
    import numpy as np

    missing = np.asarray(series.isna(), bool)
    if not missing.any():
        return series
    if hasattr(series.dtype, "pyarrow_dtype"):
        return with_fill(series.array.__arrow_array__(), value, what)
    plain = getattr(series.dtype, "numpy_dtype", series.dtype)
    if isinstance(plain, np.dtype) and plain.kind in "biuf":
        return _replaced(series.to_numpy(dtype=plain, na_value=plain.type(0)), missing, value, what)
    return [value if absent else each for each, absent in zip(series.to_numpy(dtype=object), missing, strict=True)]


def _of_nulls(column: Any, value: Any, what: str) -> Any:
    """Of pyarrow and polars."""
    lists = list_column(column, what, nulls_are_empty=isinstance(value, (list, tuple)) and len(value) == 0)
    if lists is not None:
        return lists
    column = plain_types(column)
    kind = str(column.type if hasattr(column, "type") else column.dtype).lower()
    if kind.startswith(("int", "uint")) and isinstance(value, float) and not value.is_integer():
        # pyarrow would cut it off.
        raise GraphError(f"{what}: missing is {shown(value)}, which the column does not hold: it has whole numbers")
    try:
        filled = column.fill_null(value)
    except Exception as error:
        raise GraphError(f"{what}: missing is {shown(value)}, which the column does not hold: {error}") from error
    before, after = (each.type if hasattr(each, "type") else each.dtype for each in (column, filled))
    if before != after:
        raise GraphError(f"{what}: missing is {shown(value)}, which a column of {before} does not hold")
    # NaN is no null there.
    return _of_values(plain_column(filled, what), value, what)


def _replaced(array: Any, missing: Any, value: Any, what: str) -> Any:
    import numpy as np

    if not missing.any():
        return array
    if array.dtype.kind != "O" and not _holds(array.dtype, value):
        raise GraphError(f"{what}: missing is {shown(value)}, which a column of {array.dtype} does not hold")
    made = np.array(array)
    made[missing] = value
    return made


# Kinds of values by the kind of the dtype that is to hold them.
_FIT = {"b": "b", "i": "iuf", "u": "iuf", "f": "iuf", "U": "U", "S": "S"}


def _holds(dtype: Any, value: Any) -> bool:
    """Whether an element of the dtype can be the value; of floats, also the nearest one."""
    import numpy as np

    given = np.asarray(value)
    if given.shape != () or given.dtype.kind not in _FIT.get(dtype.kind, ""):
        return False
    if dtype.kind == "f":
        return True
    try:
        with np.errstate(invalid="ignore"):
            return bool(given.astype(dtype) == given)
    except (TypeError, ValueError, OverflowError):
        return False
