"""`Stream` runs one epoch for a group of consumers, on a thread of its own, as far ahead as it is allowed."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from headrace._runs.iterator import Iterator
from headrace._share.batch_bytes import Measured
from headrace._share.memory import Pool, Slot
from headrace._share.packets import MOST_INLINE, MOST_STATE
from headrace._share.sent_errors import sent
from headrace.errors import Error, ResourceError, UnsupportedError

__all__ = ["Item", "Opened", "Place", "Refused", "State", "Stream", "as_error"]

# Of a pipeline; or the error of taking it, in the form to be sent.
State = bytes | dict[str, Any]


class Place(NamedTuple):
    """After so many batches of an epoch."""

    epoch: int
    given: int
    state: State

    def __str__(self) -> str:
        return f"batch {self.given} of epoch {self.epoch}"

    def is_at(self, epoch: int, given: int) -> bool:
        return (self.epoch, self.given) == (epoch, given)


@dataclasses.dataclass
class Opened:
    """An epoch runs from this place on."""

    place: Place
    columns: list[str]


@dataclasses.dataclass
class Refused:
    """An epoch cannot run."""

    error: Error


@dataclasses.dataclass
class Item:
    """What consumers get.

    Attributes:
        before, after: The places around it.
        slot: The memory of the batch; None: it is in `body`.
        bytes: Of the batch.
        error: Why the run ended, in the form to be sent; None: it did not, or with its epoch.
        last: Whether it is the end of the epoch, and not a batch.
    """

    before: Place
    after: Place
    slot: Slot | None = None
    body: bytes = b""
    bytes: int = 0
    error: dict[str, Any] | None = None
    last: bool = False


class Stream(threading.Thread):
    """Threads: `allow` and `cancel` on any."""

    def __init__(self, open_run: Callable[[], Iterator], pool: Pool, post: Callable[[Stream, Any], None]) -> None:
        super().__init__(name="headrace-share", daemon=True)
        self._open_run = open_run
        self._pool = pool
        self._post = post
        self._credits = threading.Semaphore(0)
        self._cancelled = False
        self.rows: Iterator | None = None

    def allow(self, batches: int) -> None:
        """Lets it make so many more."""
        if batches > 0:
            self._credits.release(batches)

    def cancel(self) -> None:
        """Ends it, though it waits for a batch."""
        self._cancelled = True
        engine = None if self.rows is None else self.rows._engine
        if engine is not None:
            engine.stop()
        self._credits.release()

    def run(self) -> None:
        with contextlib.ExitStack() as ending:
            try:
                self.rows = rows = ending.enter_context(self._open_run())
                opened = _opened(rows)
            except BaseException as error:
                self._post(self, Refused(as_error(error)))
                return
            self._post(self, opened)
            self._deliver(rows, opened.place)

    def _deliver(self, rows: Iterator, place: Place) -> None:
        last = False
        while not last:
            self._credits.acquire()
            if self._cancelled:
                return
            item = self._next(rows, place)
            place, last = item.after, item.last
            self._post(self, item)

    def _next(self, rows: Iterator, before: Place) -> Item:
        try:
            row = next(rows, None)
        except BaseException as error:
            return _failed(before, Place(before.epoch, before.given, _state_of(rows)), error)
        if row is None:
            return Item(before, Place(before.epoch, before.given, _state_of(rows)), last=True)
        try:
            item = Item(before, Place(before.epoch, before.given + 1, _state_of(rows)))
            self._write(row, item)
            return item
        except BaseException as error:
            # The batch was made, and is not given: a run that goes on from there is to make it again.
            return _failed(before, before, error)

    def _write(self, row: Any, item: Item) -> None:
        measured = Measured(row)
        item.bytes = measured.bytes
        if measured.bytes <= MOST_INLINE:
            memory = numpy.zeros(measured.bytes, numpy.uint8)
            measured.write(memory)
            item.body = memory.tobytes()
            return
        slot = self._pool.take(measured.bytes)
        try:
            measured.write(slot.memory)
        except BaseException:
            self._pool.give(slot)
            raise
        item.slot = slot


def _opened(rows: Iterator) -> Opened:
    engine = rows._engine
    assert engine is not None
    place = Place(rows.epoch, engine.delivered, _state_of(rows))
    return Opened(place, [name for name, _, _ in engine.schema()])


def _failed(before: Place, after: Place, error: BaseException) -> Item:
    return Item(before, after, error=sent(as_error(error)), last=True)


def as_error(error: BaseException) -> Error:
    if isinstance(error, Error):
        return error
    if isinstance(error, MemoryError):
        return ResourceError(f"share: no memory for a batch: {error}")
    # The text of an exception may be code of the user that fails.
    return Error(f"share: the run ended with {''.join(traceback.format_exception_only(error)).strip()}")


def _state_of(rows: Iterator) -> State:
    try:
        state = rows.state()
        if len(state) <= MOST_STATE:
            return state
        raise UnsupportedError(
            f"a shared iterator has no state where that has more than {MOST_STATE >> 10} KiB, as after steps that keep rows "
            f"or large values: run the dataset in one process for it ({len(state):,} bytes)"
        )
    except BaseException as error:
        return sent(as_error(error))
