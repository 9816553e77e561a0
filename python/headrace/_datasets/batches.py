"""Adapts the functions that `Dataset.batch` and `group_by_window` call: one makes a batch of its rows, one chooses its
size."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from headrace._arguments.function_adapter import FunctionAdapter
from headrace._arguments.function_name import name_of
from headrace._arguments.options import shown
from headrace._datasets.stacking import stacked
from headrace._graph import reference
from headrace._graph.reference import Binding, Bound
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError

__all__ = ["BatchInfo", "binding", "of_batches", "of_sizes"]


class BatchInfo(NamedTuple):
    """Which batch a function of `Dataset.batch` is called for."""

    number: int
    """Among those of its epoch on this rank, from 0."""
    epoch: int
    rank: int
    """That of `iterate(shard=(rank, world))`; 0 for a function that chooses sizes, which are the same on all ranks."""


def of_batches(function: Any, of: str = "batch") -> tuple[Bound, bool]:
    """A function that makes batches of the method `of`, and whether it has a parameter `rng`. GraphError for what is no
    function."""
    if isinstance(function, Kernel):
        raise GraphError(
            f"{of}: {function!r} is a kernel, not a function of the columns; write map({function!r}, …) after it"
        )
    if not callable(function):
        raise GraphError(f"{of}: {shown(function)} is no function; it must take the columns as lists of rows")
    return reference.function(_Made(of, function))


def of_sizes(function: Any) -> Bound:
    """A function that chooses sizes. GraphError if it cannot be called with a BatchInfo alone."""
    parameters = reference.parameters_of(function)
    if parameters is not None:
        _check_alone(function, parameters)
    return reference.function(_Sized(function))[0]


def binding(of_size: bool, function: Any) -> Binding:
    """Of the function that chooses sizes or makes batches; it may be as another graph has it."""
    if isinstance(function, (_Made, _Sized)):
        return reference.function(function)[0].binding
    return (of_sizes(function) if of_size else of_batches(function)[0]).binding


def _check_alone(function: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
    try:
        inspect.Signature(list(parameters.values())).bind(None)
    except TypeError as error:
        raise GraphError(
            f"batch: {name_of(function)} chooses the sizes of batches, and is called with a BatchInfo alone; as it is "
            f"written, that is an error: {error}"
        ) from None


class _Made(FunctionAdapter):
    """Hands the rows of a batch to a function as lists, and its result to the engine as arrays."""

    def __init__(self, of: str, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._of = of
        self._takes_info = "info" in (reference.parameters_of(function) or {})
        # What the engine adds to an error where the function seems to take something else.
        self._headrace_arguments = (
            f"; a function of {of} gets one argument for each column, a list of its rows, and gives the batch's columns"
        )

    def __call__(self, batch: Any, names: Any, *rows: Any, **named: Any) -> tuple[Any, ...]:
        number, epoch, rank, count, width = batch.tolist()
        listed: list[str] = names.tolist()
        columns = [list(rows[at * count : (at + 1) * count]) for at in range(width)]
        if self._takes_info:
            named["info"] = BatchInfo(number, epoch, rank)
        return _columns_of(self._of, self._called(listed[:width], columns, named), listed[width:])

    def _called(self, names: list[str], columns: list[list[Any]], named: dict[str, Any]) -> Any:
        try:
            return self._function(*columns, **named)
        except TypeError as error:
            # Raised by the call itself, before the function's first line.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            raise TypeError(
                f"{error}; it is called with one list of rows for each column ({', '.join(names)})"
            ) from None


class _Sized(FunctionAdapter):
    """Asks a function for the size of a batch. What is no whole number comes as a text that shows it, and the engine says
    what is wrong with it."""

    def __call__(self, batch: Any) -> Any:
        import numpy as np

        number, epoch, rank, *_ = batch.tolist()
        size = self._function(BatchInfo(number, epoch, rank))
        if isinstance(size, bool):
            return shown(size)
        try:
            return np.int64(operator.index(size))
        except (TypeError, OverflowError):
            return shown(size)


def _columns_of(of: str, given: Any, names: list[str]) -> tuple[Any, ...]:
    values = _values_of(of, given, names)
    lengths = {name: len(value) for name, value in zip(names, values, strict=True) if isinstance(value, (list, tuple))}
    for name, length in lengths.items():
        first = next(iter(lengths))
        if length == 0:
            raise ValueError(f"{of}: the list for column {name} is empty, so its dtype is not known; give an array")
        if length != lengths[first]:
            raise ValueError(
                f"{of}: the lists for columns {first} and {name} have {lengths[first]} and {length} rows; they must "
                "agree (an array is taken as it is, whatever its shape)"
            )
    return tuple(
        stacked(of, name, value) if name in lengths else value for name, value in zip(names, values, strict=True)
    )


def _values_of(of: str, given: Any, names: list[str]) -> Sequence[Any]:
    listed = ", ".join(names)
    if isinstance(given, Mapping):
        if set(given) != set(names):
            found = ", ".join(map(str, given))
            raise ValueError(
                f"{of}: the function gave the columns {found}; it must give {listed} (output= names what it gives)"
            )
        return [given[name] for name in names]
    values = given if isinstance(given, tuple) else (given,)
    if len(values) == len(names):
        return values
    what = f"a tuple of {len(values)} values" if isinstance(given, tuple) else shown(given)
    raise ValueError(
        f"{of}: the function gave {what} for {len(names)} columns ({listed}); it must give a dict, or a tuple in "
        "their order (output= names what it gives)"
    )
