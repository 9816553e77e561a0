"""States, options and explanations of iterators within others. Each is restored by its own `state=`, with its part of
the state of the one around it, which checks that; a user's own iterator may have `state()` and `explain()`, too."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from headrace._arguments import options
from headrace.errors import GraphError, StateError
from headrace.mx.io.data_iter import DataIter, GivenBatches
from headrace.mx.io.given_values import check_state

__all__ = [
    "check_around",
    "check_batch",
    "check_runs_otherwise",
    "check_within",
    "explain_of",
    "run_otherwise",
    "state_of",
]


def run_otherwise(
    within: Mapping[str, Any], memory: int | str | None, on_error: Literal["raise", "skip"] | None, of: str
) -> None:
    """Has the iterators run as if they had been made with these; None: as they were. All of them or, with an error, none.

    Args:
        within: The iterators by their names.
        memory: Each one's budget.
        on_error: What each does with rows that fail.
        of: The iterator around them.

    Raises:
        GraphError: One has begun, or is of a user class; or they do not take an argument.
        StateError: One goes on from a state that was taken with another on_error.
        UnsupportedError: One cannot leave out rows.
    """
    if memory is not None:
        options.memory_bytes(memory, of)
    if on_error is not None:
        options.choice("on_error", on_error, ("raise", "skip"), of)
    if memory is None and on_error is None:
        return
    for name, each in within.items():
        check_runs_otherwise(each, on_error, name, of)
    for each in within.values():
        each.run_otherwise(memory, on_error)


def check_runs_otherwise(iterator: Any, on_error: Literal["raise", "skip"] | None, name: str, of: str) -> None:
    """Raises the error with which an iterator cannot be run otherwise."""
    if not isinstance(iterator, GivenBatches):
        raise GraphError(
            f"{of}: {name} is {options.shown(iterator)}, of a class of your own, on which memory= and on_error= have no "
            "effect; leave them out here, and give them to the iterators of headrace.mx"
        )
    iterator.check_runs_otherwise(on_error, name, of)


def state_of(iterator: Any, name: str, of: str) -> Any:
    """Raises StateError if it has none."""
    given = getattr(iterator, "state", None)
    if not callable(given):
        raise StateError(
            f"{of}: {name} is {options.shown(iterator)}, which has no state(); define it in its class, and an argument that "
            "goes on from what it gave"
        )
    return given()


def check_around(state: Any, kinds: Mapping[str, tuple[type, ...]], of: str) -> None:
    """Raises StateError unless it is one of the iterator around, as which it says so."""
    check_state(state, {}, of)
    taken_of = state.get("iterator")
    if isinstance(taken_of, str) and taken_of != of:
        raise StateError(f"{of}: the state was taken of a {taken_of}; give what state() of a {of} gave")
    check_state(state, {"iterator": (str,), **kinds}, of)


def check_within(iterator: DataIter, state: Any, name: str, part: str, of: str) -> None:
    """Raises StateError unless a built-in iterator is where its part of a state says; others are taken to be there."""
    if isinstance(iterator, GivenBatches) and not _same(state_of(iterator, name, of), state):
        raise StateError(
            f"{of}: {name}, a {type(iterator).__name__}, is not where the state says; make it with state=state{part}"
        )


def check_batch(batch: Any, attributes: Sequence[str], iterator: Any, name: str, of: str) -> None:
    """Raises GraphError if `next()` of an iterator, such as the user's own, gave what lacks an attribute of a batch."""
    if not all(hasattr(batch, each) for each in attributes):
        raise GraphError(
            f"{of}: next() of {name}, {options.shown(iterator)}, gave {options.shown(batch)}; it must return a DataBatch, and "
            "raise StopIteration at the epoch's end"
        )


def explain_of(iterator: Any) -> str:
    """What it says itself; of the user's own iterator, its class if it says nothing."""
    given = getattr(iterator, "explain", None)
    return str(given()) if callable(given) else f"{type(iterator).__name__}: has no explain()"


def _same(one: Any, other: Any) -> bool:
    """Whether states are equal, with arrays in them."""
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(_same(one[key], other[key]) for key in one)
        )
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(_same, one, other))
    return bool(np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other)
