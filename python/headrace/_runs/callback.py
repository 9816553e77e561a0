"""Callbacks: what a loop calls where an epoch or a batch begins or ends for it."""

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from headrace._arguments.options import shown
from headrace.errors import GraphError

__all__ = ["Callback", "Moment"]


class Moment(NamedTuple):
    """Where a loop is when it makes a call. Times are in seconds."""

    epoch: int
    batch: int
    """The number of the batch in its epoch, from 0; in `epoch_end` that of all batches of the epoch. A run that goes on
    from a state counts those before it, too."""
    columns: tuple[str, ...]
    waited: float
    """For this batch; in `epoch_end` for the end of the epoch."""
    waited_in_epoch: float
    """In this run, with the above."""
    elapsed: float
    """Since the run's `epoch_begin`."""


class Callback:
    """Called by the loops over a dataset that has it: `ds.options(callbacks=[…])`.

    Override what you need. Every call is made on the thread of the loop, when the loop gets there, whatever the pipeline
    has read ahead: `epoch_begin` when the loop asks for its first batch, `batch_begin` just before it gets a batch,
    `batch_end` when it asks for the next one, `epoch_end` when there is none. A loop that is left early, or fails, calls
    nothing more. An exception ends `next` with it; the batch is not lost, and the following `next` goes on where it came
    from, also in `epoch_end`, without calling again what had returned.
    """

    def epoch_begin(self, at: Moment) -> None: ...
    def batch_begin(self, at: Moment) -> None: ...
    def batch_end(self, at: Moment) -> None: ...
    def epoch_end(self, at: Moment) -> None: ...


_CALLS = ("epoch_begin", "batch_begin", "batch_end", "epoch_end")


def checked(name: str, value: Any, of: str) -> tuple[Callback, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise GraphError(f"{of}: {name} is {shown(value)}; give a list of headrace.Callback")
    given = tuple(value)
    for position, each in enumerate(given):
        if not isinstance(each, Callback):
            raise GraphError(f"{of}: {name}[{position}] is {shown(each)}; give an object of headrace.Callback")
    return given


class Calls:
    """The calls of one run, in order. Each is made once: one that raised is made again."""

    def __init__(self, callbacks: Sequence[Callback], epoch: int, columns: Sequence[str]) -> None:
        # Those that are overridden alone.
        self._bound = {call: [getattr(each, call) for each in callbacks if _overrides(each, call)] for call in _CALLS}
        self._epoch = epoch
        self._columns = tuple(columns)
        self._begun: float | None = None
        self._open = False  # batch_begin was called for the batch, and batch_end was not
        self._batch = 0
        self._asked = 0.0
        self._waited = 0.0
        self._waited_in_epoch = 0.0
        # The call that raised, or that is being made, and how many of the objects have returned from it.
        self._pending: str | None = None
        self._returned = 0

    def ask(self, batch: int) -> None:
        """The loop asks for batch `batch`, perhaps again."""
        if self._begun is None:
            self._batch = batch
            now = time.perf_counter()
            self._make("epoch_begin", now, now)
            self._begun = now
        if self._open and batch > self._batch:
            self._make("batch_end", self._begun, time.perf_counter())
            self._open = False
        # Where the batch was there before, the loop has waited for it before.
        if self._pending is None and not self._open:
            self._batch = batch
            self._asked = time.perf_counter()

    def give(self) -> None:
        """It gets the batch, unless it is interrupted."""
        if self._open:
            return
        self._note_wait()
        self._make("batch_begin", self._begun or 0.0, time.perf_counter())
        self._open = True

    def end(self) -> None:
        self._note_wait()
        self._make("epoch_end", self._begun or 0.0, time.perf_counter())

    def _note_wait(self) -> None:
        if self._pending is not None:
            return
        self._waited = time.perf_counter() - self._asked
        self._waited_in_epoch += self._waited

    def _make(self, call: str, begun: float, now: float) -> None:
        self._pending = call
        at = Moment(self._epoch, self._batch, self._columns, self._waited, self._waited_in_epoch, now - begun)
        for each in self._bound[call][self._returned :]:
            each(at)
            self._returned += 1
        self._returned = 0
        self._pending = None


def _overrides(callback: Callback, call: str) -> bool:
    """In its class, or on the object itself."""
    return getattr(getattr(callback, call), "__func__", None) is not getattr(Callback, call)
