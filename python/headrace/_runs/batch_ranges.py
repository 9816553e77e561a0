"""`BatchRanges`: ranges of an epoch's batches, all made by one run."""

import threading
import weakref
from collections import deque
from collections.abc import Callable
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import whole
from headrace._runs.explanation import Explanation
from headrace._runs.identity import Identity
from headrace._runs.iterator import Iterator, Run, again, stop
from headrace.errors import ClosedError, Error, StateError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BatchRanges", "RangeBatches"]

# The state after a batch, or why there is none.
State = bytes | Error


class BatchRanges:
    """Makes ranges of the batches of one epoch, in the order in which they are asked for, and goes on from one to the next
    without a pause where that one was asked for in time. Ranges may overlap, and come in any order.

    Any thread may ask, and take from the iterators: what of earlier ranges comes first is kept for their iterators. A row
    that fails ends all, as it ends a run. `close`, or the end of a `with` block, ends it from any thread."""

    def __init__(self, engine: _engine.Iteration, identity: Identity, run: Run, begin: Callable[[], Iterator]) -> None:
        """`run` reports on all ranges. `begin` makes an iterator over what the engine gives next, which leaves the engine
        running."""
        self._engine = engine
        self._begin = begin
        self._run = run
        self._epoch = engine.epoch
        self._batches = engine.batches
        self._identity = identity
        self._closed = False
        # Held while the engine is asked for ranges.
        self._asking = threading.Lock()
        self._queue: deque[_Queued] = deque()
        # Guards what iterators are given, but not the engine while it makes a batch. Locked by itself, as Ctrl-C may come
        # between the steps in which a condition locks it.
        self._guard = threading.Lock()
        self._changed = threading.Condition(self._guard)
        # The one thread that takes batches of the engine now.
        self._taker: int | None = None
        # What the engine gives next.
        self._coming: _Taken | None = None
        # What it gave last: until it gives another, the state after this one is that of the run.
        self._latest: _Taken | None = None
        self._failed: Error | None = None

    @property
    def epoch(self) -> int:
        return self._epoch

    @property
    def batches(self) -> int:
        """How many the epoch has, of this rank."""
        return self._batches

    @property
    def identity(self) -> Identity:
        """Runs in other processes whose identity is the same have the same batches."""
        return self._identity

    def make(self, first: int, end: int) -> "RangeBatches":
        """The batches from number `first` on and before `end`, which may be beyond the epoch's end. Work on them begins
        when the ranges asked for before are made."""
        first, end = whole("first", first, of="make"), whole("end", end, of="make")
        with self._asking:
            if self._closed:
                raise ClosedError(_CLOSED)
            made = RangeBatches(self)
            self._queue.append(_Queued(self._engine.add_range(first, end), weakref.ref(made)))
        return made

    def explain(self) -> str:
        return Explanation(self._run.text() or "")

    def report(self) -> dict[str, Any]:
        return self._run.report() or {}

    def close(self) -> None:
        """Ends the run: iterators that have batches left raise ClosedError."""
        with self._asking:
            if self._closed:
                return
            self._closed = True
        self._run.end(self._engine)
        stop(self._engine)
        with self._guard:
            self._changed.notify_all()
        self._run.warn()

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Missing if __init__ raised.
        if hasattr(self, "_failed") and not self._closed:
            self._closed = True
            self._run.end(self._engine)
            stop(self._engine)

    def _wait(self, wanted: "RangeBatches") -> bool:
        """Under `_guard`: until a range has a batch or has ended, which is True, or its thread is the one that takes
        batches of the engine."""
        while not wanted._ready():
            if self._closed:
                raise ClosedError(_CLOSED)
            if self._failed is not None:
                raise ClosedError(f"these ranges of batches ended when one before failed: {self._failed}")
            # Its own number where Ctrl-C came before it could leave.
            if self._taker in (None, threading.get_ident()):
                self._taker = threading.get_ident()
                self._keep_state(wanted)
                return False
            self._changed.wait()
        return True

    def _keep_state(self, wanted: "RangeBatches") -> None:
        """Of the batch that the engine gave last, before it gives another, unless its iterator asks for that one."""
        latest = self._latest
        if latest is not None and latest.state is None and latest.owner() not in (None, wanted):
            latest.state = self._now()

    def _leave(self) -> None:
        with self._guard:
            self._taker = None
            self._changed.notify_all()

    def _step(self, wanted: "RangeBatches") -> None:
        """Takes one batch of the engine, by the one thread that does, for the iterator whose turn it is. Ctrl-C anywhere in
        it loses no batch, and gives none twice."""
        queued = self._queue[0]
        coming = self._next(queued)
        if not coming.batch:
            try:
                # Without a step of Python in between.
                coming.batch.extend(islice(self._started(queued), 1))
            except Error as error:
                if queued.running is None or queued.running._engine is not None:
                    raise  # as where there is no memory now: the batch waits
                self._fail(queued.owner(), error)
                if queued.owner() is wanted:
                    raise
                return
        with self._guard:
            if coming.batch:
                self._give(coming)
            else:
                self._end(queued.owner())

    def _next(self, queued: "_Queued") -> "_Taken":
        """What is to come; a batch that was taken, but not given before a Ctrl-C, comes now."""
        with self._guard:
            coming, owner = self._coming, queued.owner()
            kept = () if owner is None else owner._kept
            if coming is None or not coming.batch or (kept and kept[-1] is coming):
                coming = self._coming = _Taken(queued.owner)
        return coming

    def _give(self, coming: "_Taken") -> None:
        self._latest, owner = coming, coming.owner()
        if owner is None:
            coming.batch.clear()
        else:
            owner._kept.append(coming)

    def _end(self, owner: "RangeBatches | None") -> None:
        if owner is not None:
            end = _Taken(self._queue[0].owner)
            end.state = self._now()
            owner._end = end
        self._latest = None
        self._queue.popleft()

    def _started(self, queued: "_Queued") -> Iterator:
        if queued.running is None:
            self._engine.ask(queued.number)
            queued.running = self._begin()
        return queued.running

    def _fail(self, owner: "RangeBatches | None", error: Error) -> None:
        with self._guard:
            if self._latest is not None and self._latest.state is None:
                self._latest.state = self._now()
            if owner is not None:
                owner._error = again(error)
            self._failed = again(error)

    def _now(self) -> State:
        """The state of the run."""
        running = self._queue[0].running
        assert running is not None
        try:
            return running.state()
        except Error as error:
            return error


_CLOSED = "these ranges of batches were closed; make them anew"


class _Queued:
    """A range that was asked for; `owner` gives None where nobody wants its batches any more."""

    def __init__(self, number: int, owner: "weakref.ref[RangeBatches]") -> None:
        self.number = number
        self.owner = owner
        # Once it is its turn.
        self.running: Iterator | None = None


class _Taken:
    """A batch that the engine gave, until the iterator gives it; and the state after it. None: that of the run, or it is
    not known any more."""

    def __init__(self, owner: "weakref.ref[RangeBatches]") -> None:
        self.batch: deque[Any] = deque()
        self.owner = owner
        self.state: State | None = None


class RangeBatches:
    """Iterates over the batches of one range; made by `BatchRanges.make`. One thread at a time."""

    def __init__(self, ranges: BatchRanges) -> None:
        self._ranges = ranges
        # Batches that came before they were asked for.
        self._kept: deque[_Taken] = deque()
        self._given: _Taken | None = None
        # In the place of a batch after the last.
        self._end: _Taken | None = None
        self._error: Error | None = None

    def __iter__(self) -> "Self":
        return self

    def __next__(self) -> Any:
        ranges = self._ranges
        while True:
            with ranges._guard:
                if ranges._wait(self):
                    return self._give()
            try:
                ranges._step(self)
            finally:
                ranges._leave()

    def _ready(self) -> bool:
        return bool(self._kept) or self._end is not None or self._error is not None

    def _give(self) -> Any:
        if self._kept:
            self._given = self._kept[0]
            return self._kept.popleft().batch.pop()
        if self._error is not None:
            raise again(self._error)
        self._given = self._end
        raise StopIteration

    def state(self) -> bytes:
        """That of a run of the whole epoch after the batch given last: `ds.iterate(state=…)` goes on with the next one."""
        ranges = self._ranges
        with ranges._guard:
            given = self._given
            state = None if given is None else given.state
            if state is None and given is not None and given is ranges._latest and not ranges._closed:
                state = ranges._now()
        if state is None:
            raise StateError("this range of batches has no state before its first batch, nor after its run was closed")
        if isinstance(state, Error):
            raise again(state)
        return state
