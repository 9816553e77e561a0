"""Adapts functions that make several rows of one, for `Dataset.flat_map` and `Dataset.interleave`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import shown
from headrace._datasets.base import Base
from headrace._datasets.column_types import Columns, column_types
from headrace._graph import reference
from headrace._graph.adapters import adapts
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import names
from headrace._runs.iterator import Iterator
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["check_rows"]


@adapts("flat_map")
def flat_mapped(
    dataset: Dataset,
    /,
    function: Callable[..., Any],
    columns: str | Sequence[str] | None,
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    return _made(dataset, "flat_map", function, columns, output, types, {})


@adapts("interleave")
def interleaved(
    dataset: Dataset,
    /,
    function: Callable[..., Any],
    cycle: int,
    block: int,
    columns: str | Sequence[str] | None,
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    turns = {"cycle": cycle, "block": block}
    return _made(dataset, "interleave", function, columns, output, types, turns)


def _made(
    dataset: Dataset,
    of: str,
    function: Any,
    columns: str | Sequence[str] | None,
    output: str | Sequence[str] | None,
    types: Columns | None,
    turns: dict[str, Any],
) -> Dataset:
    """The rows that the function makes of each row; `of`: the method."""
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
    if isinstance(given, (Base, Iterator)):
        raise TypeError(
            f"the function gave a headrace.{type(given).__name__}, whose epochs a restart would count wrongly; it must "
            "give rows: write list(inner.iterate(epoch=0)) for those of a dataset made for this row, or join datasets "
            "with concat, headrace.mix or zip instead"
        )
    alone = isinstance(given, (str, bytes, Mapping)) or getattr(given, "ndim", 1) == 0
    if alone or not isinstance(given, Iterable):
        raise TypeError(f"the function gave {shown(given)}; it must give rows, as a list or a generator")
