"""Adapts operators over rows in their order: windows of rows, and functions with a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import shown
from headrace._datasets.column_types import Columns, column_types
from headrace._datasets.fields.array_columns import exact_array
from headrace._graph import reference
from headrace._graph.adapters import adapts
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import names
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("window")
def windows(dataset: Dataset, /, size: int, shift: int | None, stride: int) -> Dataset:
    return dataset._append("window", {"size": size, "shift": shift, "stride": stride}).batch(size, drop_remainder=True)


@adapts("scan")
def scanned(
    dataset: Dataset,
    /,
    function: Callable[..., Any],
    initial: Any,
    columns: str | Sequence[str],
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    if isinstance(function, Kernel) or not callable(function):
        raise GraphError(f"scan: {shown(function)} is not a function; it must take the state and the columns of a row")
    read = names(columns, "columns", "scan")
    bound, wants_rng = reference.function(function, columns=["state", *read])
    attributes = {
        "function": bound,
        "initial": reference.arrays({"state": _state(initial)}, {}),
        "columns": read,
        "random": wants_rng,
        "output": None if output is None else names(output, "output", "scan"),
        "types": None if types is None else _engine.Columns(column_types(types, "scan")),
    }
    return dataset._append("scan", attributes)


def _state(initial: Any) -> Any:
    """An array with the state along its first axis, as arrays of columns have rows."""
    array = exact_array(initial, "scan: initial")
    kind = array.dtype.kind
    if kind not in "biufSU" and not (kind == "O" and all(isinstance(each, (str, bytes)) for each in array.flat)):
        raise GraphError(
            f"scan: initial is {shown(initial)}; the state must be a number, a text or an array of numbers"
        )
    return array[None]
