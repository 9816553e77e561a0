"""Columns of tables of other libraries: of pandas, pyarrow and polars. A value that is missing there is an error, as no
column of ours holds one. A list type makes a ragged column."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from headrace._arguments.options import shown
from headrace._datasets.fields.ragged_column import RaggedColumn
from headrace.errors import GraphError

__all__ = ["frame_columns", "library_of", "list_column", "plain_column", "plain_types"]


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


def library_of(column: Any) -> str | None:
    """Of a column of one of these libraries: "pandas", "arrow" or "polars"."""
    if not hasattr(column, "to_numpy"):
        return None
    if hasattr(column, "isna") and hasattr(column, "iloc"):
        return "pandas"
    if hasattr(column, "null_count") and hasattr(column, "is_null"):
        return "polars" if callable(column.null_count) else "arrow"
    return None


def plain_column(given: Any, what: str) -> Any:
    """The values of a column of another library, without its own ways to say that one is missing; anything else as it is.
    GraphError, which begins with `what`, if a value is missing."""
    library = library_of(given)
    if library == "pandas":
        return _of_pandas(given, what)
    if library is None:
        return given if hasattr(given, "__array__") or not hasattr(given, "to_numpy") else given.to_numpy()
    row = _first_null(given)
    if row is not None:
        _refuse_missing(row, what)
    lists = list_column(given, what)
    if lists is not None:
        return lists
    column = plain_types(given)
    if library == "polars" or hasattr(column, "chunks"):
        return column.to_numpy()
    return column.to_numpy(zero_copy_only=False)


def plain_types(column: Any) -> Any:
    """A column of pyarrow without a dictionary, any other as it is."""
    kind = getattr(getattr(column, "type", None), "value_type", None)
    return column.cast(kind) if kind is not None and hasattr(column.type, "index_type") else column


def _of_pandas(series: Any, what: str) -> Any:
    import numpy as np

    if isinstance(series.dtype, np.dtype):
        # NaN of floats is a value, and objects are looked at one by one.
        return series.to_numpy()
    missing = np.flatnonzero(np.asarray(series.isna(), bool))
    if missing.size > 0:
        _refuse_missing(int(missing[0]), what)
    if hasattr(getattr(series.dtype, "pyarrow_dtype", None), "value_field"):
        return plain_column(series.array.__arrow_array__(), what)
    plain = getattr(series.dtype, "numpy_dtype", None)
    numbers = isinstance(plain, np.dtype) and plain.kind in "biuf"
    return series.to_numpy(dtype=plain) if numbers else series.to_numpy()


def _first_null(column: Any) -> int | None:
    """Of pyarrow and polars, whose dictionaries may hold a null themselves."""
    column = plain_types(column)
    if (column.null_count() if callable(column.null_count) else column.null_count) == 0:
        return None
    nulls = column.is_null()
    listed: list[bool] = nulls.to_list() if hasattr(nulls, "to_list") else nulls.to_pylist()
    return listed.index(True)


def _refuse_missing(row: int, what: str) -> None:
    raise GraphError(
        f"{what} has no value in row {row}, and no column holds a missing value; fill it with a value of its type, or drop "
        "the row"
    )


# ---- lists ----


def list_column(column: Any, what: str, nulls_are_empty: bool = False) -> Any:
    """A column of pyarrow or polars whose type is a list, as a ragged column; if all lists have the length that the type
    states, as an array. None: its type is another."""
    polars = callable(column.null_count)
    # A map of pyarrow has a list's layout, too.
    is_list = (
        type(column.dtype).__name__ == "List"
        if polars
        else hasattr(column.type, "value_field") and not hasattr(column.type, "key_field")
    )
    if not is_list:
        return None
    if not nulls_are_empty and (row := _first_null(column)) is not None:
        _refuse_missing(row, what)
    return _lists_of_polars(column, what) if polars else _lists_of_arrow(column, what)


def _lists_of_arrow(column: Any, what: str) -> Any:
    import pyarrow.compute

    lengths = pyarrow.compute.list_value_length(column).fill_null(0)
    flat = pyarrow.compute.list_flatten(column)
    ragged = _cut(flat, lengths.to_pylist(), what)
    size = getattr(column.type, "list_size", None)
    if size is None or column.null_count > 0:
        return ragged
    return ragged.values.reshape(len(column), size, *ragged.values.shape[1:])


def _lists_of_polars(series: Any, what: str) -> Any:
    lengths = series.list.len().fill_null(0)
    # An empty list would become a null.
    return _cut(series.filter(lengths > 0).explode(), lengths.to_list(), what)


def _cut(flat: Any, lengths: list[int], what: str) -> RaggedColumn:
    import numpy as np

    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.asarray(lengths, np.int64), out=splits[1:])
    missing = _first_null(flat)
    if missing is not None:
        row = int(np.searchsorted(splits, missing, side="right")) - 1
        raise GraphError(
            f"{what} has no value at [{missing - splits[row]}] of row {row}, and no column holds a missing value; fill it "
            "with a value of its type, or drop the row"
        )
    values = plain_column(flat, what)
    if isinstance(values, RaggedColumn):
        raise GraphError(
            f"{what} holds lists of lists of unequal lengths, and a column has one ragged axis; flatten the inner lists, "
            "and give their lengths a column of their own"
        )
    return RaggedColumn(values, splits)
