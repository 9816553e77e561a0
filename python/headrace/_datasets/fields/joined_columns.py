"""`joined_columns` joins the rows of tables, one after the other; `chosen_rows` gives some of a table's; `column_of_lists`
makes a column of rows whose lists may differ in length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace._datasets.fields.ragged_column import RaggedColumn
from headrace.errors import GraphError

__all__ = ["chosen_rows", "column_of_lists", "joined_columns"]


def joined_columns(tables: Mapping[str, dict[str, Any]], of: str) -> dict[str, Any]:
    """Of tables with the same columns, in the order of the first; `tables` by their names."""
    (first_name, first), *others = tables.items()
    for name, table in others:
        if table.keys() != first.keys():
            raise GraphError(
                f"{of}: {name} has the columns {', '.join(map(str, table))}, and {first_name} {', '.join(map(str, first))}"
            )
    if not others:
        return first
    return {column: _joined([table[column] for table in tables.values()]) for column in first}


def _joined(columns: Sequence[Any]) -> Any:
    import numpy as np

    if any(isinstance(each, RaggedColumn) for each in columns):
        return column_of_lists([np.asarray(row) for each in columns for row in each])
    kinds = {getattr(each, "dtype", None) for each in columns}
    if None not in kinds and len(kinds) == 1 and len({each.shape[1:] for each in columns}) == 1:
        return np.concatenate(columns)
    rows = [row for each in columns for row in (each.tolist() if hasattr(each, "tolist") else each)]
    return column_of_lists(rows)


def column_of_lists(rows: list[Any]) -> Any:
    """The rows as they are; as a ragged column, where they are arrays that differ in their first axis alone."""
    import numpy as np

    if not all(isinstance(row, np.ndarray) and row.ndim > 0 for row in rows):
        return rows
    if len({row.shape for row in rows}) <= 1 or len({row.shape[1:] for row in rows}) > 1:
        return rows
    splits = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=splits[1:])
    values = np.concatenate(rows)
    if any(
        ((row != part) & (row == row)).any() for row, part in zip(rows, np.split(values, splits[1:-1]), strict=True)
    ):
        # Whole numbers of one table that those with fractions of another do not hold.
        return rows
    return RaggedColumn(values, splits)


def chosen_rows(columns: Mapping[str, Any], rows: list[int]) -> dict[str, Any]:
    """Of columns by their numbers, in this order."""
    return {name: _chosen(column, rows) for name, column in columns.items()}


def _chosen(column: Any, rows: list[int]) -> Any:
    import numpy as np

    if isinstance(column, RaggedColumn):
        lengths = np.diff(column.splits)[rows]
        splits = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=splits[1:])
        parts = [column[row] for row in rows]
        return RaggedColumn(np.concatenate(parts) if parts else column.values[:0], splits)
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows]
