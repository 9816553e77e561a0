"""`as_tuple`: rows and batches as tuples of their columns, for loops such as `for images, labels in loader`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from headrace._arguments import options
from headrace._arguments.suggestions import did_you_mean
from headrace._runs.ragged import rows_in
from headrace.errors import GraphError

__all__ = ["PAD", "TupleMaking", "check_form", "given_columns"]

# The column that marks rows which fill the last round of ranks.
PAD = "_pad"


def given_columns(name: str, value: Any, of: str) -> bool | tuple[str, ...]:
    """The option `as_tuple`: whether, or the columns' names."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) and not isinstance(value, Sequence):
        raise GraphError(
            f"{of}: {name} is {options.shown(value)}; write True for all columns in the order of the schema, or a list of "
            'names, such as ["image", "label"]'
        )
    names = tuple(options.texts(name, value, of))
    if not names:
        raise GraphError(f"{of}: {name} names no column; write True for all columns in the order of the schema")
    return names


def check_form(as_tuple: Any, as_: Any, of: str) -> None:
    if as_tuple and as_ == "arrow":
        raise GraphError(
            f'{of}: as_tuple is for batches of arrays, and as_="arrow" gives record batches: leave one out'
        )


class TupleMaking:
    """Makes tuples of the rows of one run.

    Attributes:
        pad: The column `_pad` of the last one, where there is one.
        rows: How many rows the last one joins; None where no column says.
    """

    def __init__(self, wanted: bool | tuple[str, ...], schema: Collection[str]) -> None:
        self._names = [name for name in schema if name != PAD] if isinstance(wanted, bool) else list(wanted)
        for name in self._names:
            if name not in schema:
                raise GraphError(
                    f"as_tuple names {options.shown(name)}, and there is no such column{did_you_mean(name, schema)} "
                    f"(columns: {', '.join(schema)})"
                )
        self.pad: Any = None
        self.rows: int | None = None

    def made(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        self.pad, self.rows = row.get(PAD), rows_in(row)
        return tuple(row[name] for name in self._names)
