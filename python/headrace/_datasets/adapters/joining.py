"""`batch` and `group_by_window`: rows that are joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import shown, text
from headrace._datasets.batches import of_batches, of_sizes
from headrace._datasets.column_types import Columns, column_types
from headrace._datasets.padding import padding
from headrace._graph.adapters import adapts
from headrace._kernels.mapping import names
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


def _joining_attributes(dataset: Dataset, pad: Any, pad_value: Any, ragged: Any) -> dict[str, Any]:
    """`pad=True` and `ragged="pad"` are one; what is said column by column stands apart."""
    attributes: dict[str, Any] = {"pad": pad, **padding(dataset, "batch", pad_value)}
    if isinstance(ragged, Mapping):
        attributes["ragged_columns"] = {
            text("a column of ragged", name, "batch"): _ragged_form(form) for name, form in ragged.items()
        }
    elif ragged is not None:
        form = _ragged_form(ragged)
        attributes |= {"pad": True} if form == "pad" else {"ragged": form}
    return attributes


def _ragged_form(given: Any) -> str:
    if isinstance(given, str) and given in ("list", "pad", "splits"):
        return given
    raise GraphError(
        f'batch: ragged is {shown(given)}; it must be "list", "pad" or "splits", or a dict from column to one'
    )


@adapts("batch")
def batched(
    dataset: Dataset,
    /,
    size: Any,
    drop_remainder: bool,
    pad: bool,
    pad_value: float | Mapping[str, float],
    ragged: str | Mapping[str, str] | None,
    function: Callable[..., Any] | None,
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    attributes = {"drop_remainder": drop_remainder, **_joining_attributes(dataset, pad, pad_value, ragged)}
    if function is None and (output is not None or types is not None):
        raise GraphError("batch: output and types say what a function gives; give function=, too")
    if function is None and not callable(size):
        return dataset._append("batch", {"size": size, **attributes})
    if callable(size):
        attributes["choose_size"] = of_sizes(size)
    else:
        attributes["size"] = size
    if function is not None:
        attributes["function"], attributes["random"] = of_batches(function)
        attributes["output"] = None if output is None else names(output, "output", "batch")
        attributes["types"] = None if types is None else _engine.Columns(column_types(types, "batch"))
    return dataset._append("python_batch", attributes)


@adapts("group_by_window")
def grouped(
    dataset: Dataset,
    /,
    key: str,
    size: int,
    function: Callable[..., Any],
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    bound, wants_rng = of_batches(function, "group_by_window")
    attributes: dict[str, Any] = {"key": key, "size": size, "function": bound, "random": wants_rng}
    attributes["output"] = None if output is None else names(output, "output", "group_by_window")
    attributes["types"] = None if types is None else _engine.Columns(column_types(types, "group_by_window"))
    return dataset._append("group_by_window", attributes)
