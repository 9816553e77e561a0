"""`parameters_of` finds the parameters of a pipeline that is shared, and `set_here` sets one in the process that shares it."""

from __future__ import annotations

from typing import Any

from headrace._datasets.dataset import Dataset
from headrace._graph import parameters, reference
from headrace._graph.parameters import Parameter
from headrace.errors import GraphError

__all__ = ["parameters_of", "set_here", "values_set"]


def parameters_of(dataset: Dataset) -> dict[str, Parameter]:
    """By name."""
    held = [reference.resolved(binding) for _, binding in dataset._references() if binding is not None]
    return parameters.of_bindings(held)


def values_set(parameter: Parameter) -> dict[int, Any]:
    """What is set, by the first epoch for which it holds."""
    return parameter._held()[0]


def set_here(known: dict[str, Parameter], name: str, value: Any, epoch: int) -> None:
    """GraphError where another consumer set another value, and where the epoch was asked for."""
    parameter = known.get(name)
    if parameter is None:
        listed = ", ".join(known) or "none"
        raise GraphError(f'set_parameter: the shared pipeline reads no hr.parameter("{name}") (it reads: {listed})')
    number = parameters.number_of(value, f"{parameter!r}.set: value")
    before = values_set(parameter).get(epoch)
    if before == number:
        return
    if before is not None:
        raise GraphError(
            f"{parameter!r} is {number} for epoch {epoch} here, and another consumer set {before}: set the same in all"
        )
    parameter.set(number, epoch)
