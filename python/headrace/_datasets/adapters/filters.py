"""`filter`: rows that a column expression or a function chooses."""

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
    if isinstance(predicate, Expression):
        if columns is not None:
            raise GraphError("filter: an expression names its columns itself; columns= is for Python functions")
        return dataset._append("filter", {"predicate": predicate})
    if isinstance(predicate, Kernel) or not callable(predicate):
        raise GraphError(f"filter: {shown(predicate)} is neither a column expression nor a function")
    chosen = None if columns is None else names(columns, "columns", "filter")
    bound, wants_rng = reference.function(predicate, predicate=True, columns=chosen)
    return dataset._append("filter", {"function": bound, "columns": chosen, "random": wants_rng})
