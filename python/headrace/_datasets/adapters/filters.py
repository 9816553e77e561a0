"""`filter` and its like: rows that a column expression or a function chooses, or that came before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown
from headrace._graph import reference
from headrace._graph.adapters import adapts
from headrace._graph.expression import Expression
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import names
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("filter")
def filtered(
    dataset: Dataset, /, predicate: Expression | Callable[..., Any], columns: str | Sequence[str] | None
) -> Dataset:
    return _where(dataset, "filter", predicate, columns)


@adapts("take_while")
def taken_while(
    dataset: Dataset, /, predicate: Expression | Callable[..., Any], columns: str | Sequence[str] | None
) -> Dataset:
    return _where(dataset, "take_while", predicate, columns)


@adapts("unique")
def unique(dataset: Dataset, /, columns: str | Sequence[str] | None) -> Dataset:
    chosen = None if columns is None else names(columns, "columns", "unique")
    return dataset._append("unique", {"columns": chosen})


def _where(dataset: Dataset, of: str, predicate: Any, columns: str | Sequence[str] | None) -> Dataset:
    if isinstance(predicate, Expression):
        if columns is not None:
            raise GraphError(f"{of}: an expression names its columns itself; columns= is for Python functions")
        return dataset._append(of, {"predicate": predicate})
    if isinstance(predicate, Kernel) or not callable(predicate):
        advice = '; write an expression, such as hr.col("x") > 1' if isinstance(predicate, str) else ""
        raise GraphError(f"{of}: {shown(predicate)} is neither a column expression nor a function{advice}")
    chosen = None if columns is None else names(columns, "columns", of)
    bound, wants_rng = reference.function(predicate, predicate=True, columns=chosen)
    return dataset._append(of, {"function": bound, "columns": chosen, "random": wants_rng})
