"""`RaggedColumn` holds a column whose rows differ in their first axis: values and splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace._graph import reference

__all__ = ["RaggedColumn", "bound_columns"]


class RaggedColumn:
    """Row i is `values[splits[i]:splits[i + 1]]`; made by `headrace.ragged`."""

    __slots__ = ("splits", "values")

    def __init__(self, values: Any, splits: Any) -> None:
        self.values = values
        self.splits = splits

    def __len__(self) -> int:
        return len(self.splits) - 1

    def __getitem__(self, row: int) -> Any:
        # As lists count rows from their end, too.
        number = range(len(self))[row]
        return self.values[self.splits[number] : self.splits[number + 1]]

    def __repr__(self) -> str:
        return f"<headrace.ragged: {len(self)} rows of {len(self.values)} values>"


def bound_columns(columns: Mapping[str, Any]) -> reference.Bound:
    """A reference to columns, of arrays and ragged ones."""
    ragged = {name: column for name, column in columns.items() if isinstance(column, RaggedColumn)}
    plain = {name: ragged[name].values if name in ragged else column for name, column in columns.items()}
    return reference.arrays(plain, {name: column.splits for name, column in ragged.items()})
