"""Columns of tables of other libraries: of pandas, pyarrow and polars. A value that is missing there is an error, as no
column of ours holds one."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from headrace._arguments.options import shown
from headrace.errors import GraphError

__all__ = ["frame_columns", "plain_column"]


def frame_columns(table: Any, of: str) -> dict[str, Any] | None:
    """The columns of a DataFrame or a Table by name; None: it is neither. GraphError if two have one name."""
    if hasattr(table, "column_names") and hasattr(table, "column"):  # of pyarrow
        return _by_name(table.column_names, table.column, of)
    if hasattr(table, "columns") and hasattr(table, "itertuples"):  # of pandas
        return _by_name(table.columns, table.__getitem__, of)
    if hasattr(table, "get_columns") and hasattr(table, "iter_rows"):  # of polars
        return _by_name(table.columns, table.get_column, of)
    return None


def _by_name(names: Iterable[Any], column: Callable[[Any], Any], of: str) -> dict[str, Any]:
    counts = Counter(names)
    for name, count in counts.items():
        if count > 1:
            raise GraphError(f"{of}: the table has {count} columns of the name {shown(name)}; name each differently")
    return {name: column(name) for name in counts}


def plain_column(given: Any, what: str) -> Any:
    """The values of a column of another library, without its own ways to say that one is missing; anything else as it is.
    GraphError, which begins with `what`, if a value is missing."""
    if not hasattr(given, "to_numpy"):
        return given
    if hasattr(given, "isna") and hasattr(given, "iloc"):
        return _of_pandas(given, what)
    if hasattr(given, "null_count") and hasattr(given, "is_null"):
        return _of_polars(given, what) if callable(given.null_count) else _of_arrow(given, what)
    return given if hasattr(given, "__array__") else given.to_numpy()


def _of_pandas(series: Any, what: str) -> Any:
    import numpy as np

    if isinstance(series.dtype, np.dtype):
        # NaN of floats is a value, and objects are looked at one by one.
        return series.to_numpy()
    missing = np.flatnonzero(np.asarray(series.isna(), bool))
    if missing.size > 0:
        _refuse_missing(int(missing[0]), what)
    plain = getattr(series.dtype, "numpy_dtype", None)
    numbers = isinstance(plain, np.dtype) and plain.kind in "biuf"
    return series.to_numpy(dtype=plain) if numbers else series.to_numpy()


def _of_arrow(column: Any, what: str) -> Any:
    kind = getattr(column.type, "value_type", None)
    if kind is not None and hasattr(column.type, "index_type"):  # a dictionary, which may hold a null itself
        column = column.cast(kind)
    if column.null_count > 0:
        _refuse_missing(column.is_null().to_pylist().index(True), what)
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)


def _of_polars(series: Any, what: str) -> Any:
    if series.null_count() > 0:
        _refuse_missing(series.is_null().to_list().index(True), what)
    return series.to_numpy()


def _refuse_missing(row: int, what: str) -> None:
    raise GraphError(
        f"{what} has no value in row {row}, and no column holds a missing value; fill it with a value of its type, or drop "
        "the row"
    )
