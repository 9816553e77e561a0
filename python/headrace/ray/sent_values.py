"""`SentValues` are those of a pipeline's parameters. They travel beside it, so that a maker knows the pipeline again in an
epoch with other values."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from headrace._graph import parameters, reference
from headrace._graph.parameters import Parameter, Value

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["SentValues", "give_values", "values_of"]

# What is sent later has what was set and fixed before, too.
_numbers = itertools.count()


class SentValues(NamedTuple):
    """By the parameter's name.

    Attributes:
        number: Greater than that of what was sent before.
        sets: What is set, by the first epoch for which it holds.
        fixed: What is fixed, by epoch.
    """

    number: int
    sets: dict[str, dict[int, Value]]
    fixed: dict[str, dict[int, Value]]


def values_of(dataset: Dataset) -> SentValues:
    # Before the values: one that is set meanwhile is of a later number.
    number = next(_numbers)
    held = {name: each._held() for name, each in _parameters_of(dataset).items()}
    sets = {name: sets for name, (sets, _, _) in held.items()}
    return SentValues(number, sets, {name: fixed for name, (_, fixed, _) in held.items()})


def give_values(dataset: Dataset, values: SentValues) -> None:
    """To the parameters of a dataset that travelled."""
    for name, parameter in _parameters_of(dataset).items():
        parameter._take(values.sets[name], values.fixed[name])


def _parameters_of(dataset: Dataset) -> dict[str, Parameter]:
    held = [reference.resolved(binding) for _, binding in dataset._references() if binding is not None]
    return parameters.of_bindings(held)
