"""`PrefetchingIter` joins the batches of several iterators, made on threads of their own."""

import copy
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Literal, NamedTuple

from headrace._arguments import options
from headrace.errors import GraphError, StateError
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.data_iter import DataIter, GivenBatches
from headrace.mx.io.given_values import check_iterator
from headrace.mx.io.iterators_within import (
    check_around,
    check_batch,
    check_runs_otherwise,
    check_within,
    explain_of,
    run_otherwise,
    state_of,
)

__all__ = ["PrefetchingIter"]

_USED = ("next", "reset", "provide_data", "provide_label")


class _Made(NamedTuple):
    batch: DataBatch | None
    """None: the iterator's epoch is over."""
    state: Any
    """Its state after the batch, or the error with which it has none."""


class PrefetchingIter(GivenBatches):
    """Joins the batches of iterators, each of which makes its next batch while the loop uses the last one.

    Iterators of Headrace read ahead by themselves; this is for the user's own iterators, and to join several.

    Args:
        iters: One iterator, or a list of them that end their epochs together.
        rename_data: For each iterator, new names by old ones; None: names stay.
        rename_label: Likewise for labels.
        memory: As if each of iters, of which none may have begun, had been made with it; None: as they were made.
        on_error: Likewise: "skip" leaves out rows that fail, "raise" does not.
        state: What `state()` gave: the iterator goes on with the batch after it. Each of iters must be there already, made
            with its part of `state["iters"]` as its own state.

    Raises:
        GraphError: One of them is no iterator, or a name is renamed that it has not; or memory or on_error is given, and one has begun, or is of a class of
            your own.
        StateError: The state is of another iterator, or one of iters is not where it says.
        UnsupportedError: on_error is "skip", and one of them cannot leave out rows.
        GraphError: From `next()`: an iterator gives something else than a batch.
        ValueError: From `next()`: the iterators give different numbers of batches, or batches of different `pad`.
    """

    def __init__(
        self,
        iters: DataIter | Sequence[DataIter],
        rename_data: Sequence[Mapping[str, str]] | None = None,
        rename_label: Sequence[Mapping[str, str]] | None = None,
        *,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self.iters = list(iters) if isinstance(iters, Sequence) else [iters]
        if not self.iters:
            raise ValueError("there are no iterators; give at least one")
        for each in self.iters:
            check_iterator("iters", each, _USED, "PrefetchingIter")
        self.n_iter = len(self.iters)
        _check_names("rename_data", rename_data, [each.provide_data for each in self.iters])
        _check_names("rename_label", rename_label, [each.provide_label for each in self.iters])
        self.rename_data = rename_data
        self.rename_label = rename_label
        super().__init__(self.provide_data[0].shape[0])
        run_otherwise(self._within(), memory, on_error, "PrefetchingIter")
        self._threads = ThreadPoolExecutor(self.n_iter, "prefetching-iter")
        self._coming: list[Future[_Made]] = []
        """The next batch, or that with which the epoch was seen to be over."""
        self._was_ahead = False
        """Whether the next batch is to be asked for before anything else, as it was where the state was taken."""
        self._states: list[Any] | None = None
        """Those of the iterators after the batch given last, or errors; None: none of them is ahead of the loop."""
        if state is not None:
            self._restore(state)

    def __del__(self) -> None:
        if hasattr(self, "_threads"):
            self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def provide_data(self) -> list[DataDesc]:  # type: ignore[override]
        """What the iterators provide, in their order."""
        return _renamed([each.provide_data for each in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:  # type: ignore[override]
        """The labels that the iterators provide, in their order."""
        return _renamed([each.provide_label for each in self.iters], self.rename_label)

    def reset(self) -> None:
        if self._was_ahead:
            # So that the iterators are where those are of which the state was taken.
            self._ask()
        self._wait()
        self._coming = []
        self._states = None
        for iterator in self.iters:
            iterator.reset()

    def has_begun(self) -> bool:
        return self._begun or any(each.has_begun() for each in self.iters if isinstance(each, GivenBatches))

    def check_runs_otherwise(self, on_error: Literal["raise", "skip"] | None, name: str, of: str) -> None:
        super().check_runs_otherwise(on_error, name, of)
        for part, each in self._within().items():
            check_runs_otherwise(each, on_error, f"{name}.{part}", of)

    def run_otherwise(self, memory: int | str | None, on_error: Literal["raise", "skip"] | None) -> None:
        run_otherwise(self._within(), memory, on_error, "PrefetchingIter")

    def _within(self) -> dict[str, DataIter]:
        return {f"iters[{i}]": each for i, each in enumerate(self.iters)}

    def state(self) -> dict[str, Any]:
        """Where the iterator is, for `state=`: after the batch given last, with the states of the iterators there. Raises
        StateError if one has none."""
        states = self._noted() if self._states is None else self._states
        for each in states:
            if isinstance(each, Exception):
                raise copy.copy(each)
        return {"iterator": "PrefetchingIter", "iters": states, "ahead": self._was_ahead or len(self._coming) > 0}

    def explain(self) -> str:
        """How each of the iterators runs."""
        # As they are used on the threads.
        self._wait()
        heading = f"PrefetchingIter: iterators within: {self.n_iter}, each on a thread of its own, one batch ahead of the loop"
        return "\n".join([heading, *map(explain_of, self.iters)])

    def _restore(self, state: Mapping[str, Any]) -> None:
        check_around(state, {"iters": (list, tuple), "ahead": (bool,)}, "PrefetchingIter")
        states = [*state["iters"]]
        if len(states) != self.n_iter:
            raise StateError(
                f"PrefetchingIter: the state has those of {len(states)} iterators, and there are {self.n_iter} here"
            )
        for i, each in enumerate(self.iters):
            check_within(each, states[i], f"iters[{i}]", f'["iters"][{i}]', "PrefetchingIter")
        self._was_ahead = state["ahead"]
        if self._was_ahead:
            self._states = states

    def _make(self) -> DataBatch | None:
        if not self._coming:
            if not self._was_ahead:
                self._states = self._noted()
            self._ask()
        made = [each.result() for each in self._coming]
        batches = [each.batch for each in made if each.batch is not None]
        if len(batches) == len(made):
            joined = self._joined(batches)
            self._states = [each.state for each in made]
            self._ask()
            return joined
        if batches:
            raise ValueError("an iterator ended before the others: all must give equally many batches")
        return None

    def _joined(self, batches: Sequence[DataBatch]) -> DataBatch:
        if len({batch.pad for batch in batches}) > 1:
            raise ValueError(f"the iterators pad differently: {[batch.pad for batch in batches]}")
        return DataBatch(
            [array for batch in batches for array in batch.data or []],
            [array for batch in batches for array in batch.label or []],
            batches[0].pad,
            batches[0].index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )

    def _ask(self) -> None:
        self._was_ahead = False
        self._coming = [self._threads.submit(_next_of, each, i) for i, each in enumerate(self.iters)]

    def _wait(self) -> None:
        # What they fail with, the loop gets with its next batch, or belongs to an epoch that ends.
        wait(self._coming)

    def _noted(self) -> list[Any]:
        return [_noted(each, i) for i, each in enumerate(self.iters)]


def _next_of(iterator: DataIter, number: int) -> _Made:
    try:
        batch = iterator.next()
        check_batch(batch, ("data", "label", "pad", "index"), iterator, f"iters[{number}]", "PrefetchingIter")
    except StopIteration:
        batch = None
    return _Made(batch, _noted(iterator, number))


def _noted(iterator: DataIter, number: int) -> Any:
    """The state, or the error with which there is none."""
    try:
        return state_of(iterator, f"iters[{number}]", "PrefetchingIter")
    except Exception as error:
        # Without its traceback, which keeps arrays alive.
        return error.with_traceback(None)


def _check_names(parameter: str, names: Any, provided: list[list[DataDesc]]) -> None:
    if names is None:
        return
    if not isinstance(names, (list, tuple)) or len(names) != len(provided):
        raise GraphError(
            f"PrefetchingIter: {parameter} is {options.shown(names)}; it must be a list of a dict for each of the "
            f"{len(provided)} iterators"
        )
    for i, (each, described) in enumerate(zip(names, provided, strict=True)):
        if not isinstance(each, Mapping):
            raise GraphError(f"PrefetchingIter: {parameter}[{i}] is {options.shown(each)}; it must be a dict of names")
        there = [name for name, *_ in described]
        for old in each:
            if old not in there:
                raise GraphError(
                    f"PrefetchingIter: {parameter}[{i}] renames {options.shown(old)}, and iters[{i}] provides "
                    f"{', '.join(map(repr, there)) or 'nothing'}"
                )


def _renamed(provided: list[list[DataDesc]], names: Sequence[Mapping[str, str]] | None) -> list[DataDesc]:
    described = [[each if isinstance(each, DataDesc) else DataDesc(*each) for each in group] for group in provided]
    if names is None:
        return [each for group in described for each in group]
    return [
        DataDesc(new.get(each.name, each.name), each.shape, each.dtype, each.layout)
        for group, new in zip(described, names, strict=True)
        for each in group
    ]
