"""Adapts functions that make several rows of one, for `Dataset.flat_map` and `Dataset.interleave`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _engine, reference
from headrace.errors import GraphError
from headrace.kernel import Kernel
from headrace.mapping import names
from headrace.options import shown

if TYPE_CHECKING:
    from headrace.dataset import Dataset
    from headrace.hosted import Columns
    from headrace.methods import Methods

__all__ = ["check_rows", "made"]


def made(
    dataset: Methods,
    of: str,
    function: Any,
    columns: str | Sequence[str] | None,
    output: str | Sequence[str] | None,
    types: Columns | None,
    turns: dict[str, Any],
) -> Dataset:
    """The rows that the function makes of each row; `of`: the method."""
    from headrace.hosted import column_types

    if isinstance(function, Kernel) or not callable(function):
        raise GraphError(f"{of}: {shown(function)} is no function; it must take a row and give rows")
    if turns and isinstance(turns["cycle"], str):
        raise GraphError(
            f"{of}: cycle is {shown(turns['cycle'])}; it is the number of rows that are open at a time, and the columns "
            f'come after it: {of}(function, 4, columns="path")'
        )
    read = None if columns is None else names(columns, "columns", of)
    bound, wants_rng = reference.function(function, columns=read, reads=True)
    attributes = {"function": bound, "columns": read, **turns, "random": wants_rng}
    attributes["output"] = None if output is None else names(output, "output", of)
    attributes["types"] = None if types is None else _engine.Columns(column_types(types, of))
    return dataset._append(of, attributes)


def check_rows(given: Any) -> None:
    """Raises TypeError if this is no iterable of rows. The engine calls it for what a function gave."""
    from headrace.dataset import Dataset
    from headrace.iterator import Iterator

    if isinstance(given, (Dataset, Iterator)):
        raise TypeError(
            f"the function gave a headrace.{type(given).__name__}, whose epochs a restart would count wrongly; it must "
            "give rows: write list(inner.iterate(epoch=0)) for those of a dataset made for this row, or join datasets "
            "with concat, headrace.mix or zip instead"
        )
    alone = isinstance(given, (str, bytes, Mapping)) or getattr(given, "ndim", 1) == 0
    if alone or not isinstance(given, Iterable):
        raise TypeError(f"the function gave {shown(given)}; it must give rows, as a list or a generator")
