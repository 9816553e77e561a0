"""Sends the batches of an iterator to a device, ahead of the loop: the last part of an iterator with `device=`.

The source makes its batches in host memory, on a thread of the engine, and `Dataset.to_device` has them copied. With each
goes a note of all that stays on the host, and of the source's state behind it, which is the loop's once it has the batch."""

import collections
import copy
import threading
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import headrace
from headrace._arguments import options
from headrace._runs.iterator import Iterator
from headrace.errors import Error
from headrace.mx.io.data_batch import DataBatch

__all__ = ["DeviceBatch", "DeviceBatches"]

# Rows that may wait on the way to the queue, which keeps some itself.
_WINDOW = 1
_DEVICE_MEMORY: int | None = None
"""Of batches there, for tests; None: the engine's default."""


class Source(Protocol):
    """What makes the batches. A thread of the engine calls it between `DeviceBatches.next` and `DeviceBatches.end`."""

    def make_on_host(self) -> DataBatch | None:
        """The next batch; None: the epoch is over."""

    def state_on_host(self) -> dict[str, Any]:
        """After the batch made last."""

    def interrupt(self) -> None:
        """Has the batch that is being made fail soon, if there is one; on another thread."""


class DeviceBatch(DataBatch):
    """A batch whose arrays lie on a device: objects for `from_dlpack` of any library."""

    _columns: Any

    def record_stream(self, stream: Any) -> None:
        """Says that work on a further stream uses the batch, as `record_stream` of a batch of a Dataset does.

        Args:
            stream: A `torch.cuda.Stream`, or the number of a stream, as DLPack has them.
        """
        self._columns.record_stream(stream)

    @classmethod
    def of(cls, batch: DataBatch, columns: Any) -> "DeviceBatch":
        """`batch` with the arrays of `columns`, which are those of its data and then of its labels."""
        arrays = list(columns.values())
        of_data = len(batch.data or [])
        made = cls(
            arrays[:of_data],
            arrays[of_data:],
            batch.pad,
            batch.index,
            batch.bucket_key,
            batch.provide_data,
            batch.provide_label,
        )
        made._columns = columns
        return made


class _Note(NamedTuple):
    batch: DataBatch
    """With the shapes in place of arrays."""
    state: dict[str, Any] | Error
    """The source's after the batch, or why it has none."""


class _Feed:
    """Gives the rows of the pipeline. It does not keep the source, so that an iterator that is let go ends its threads."""

    def __init__(self, source: Source) -> None:
        self._source = weakref.ref(source)
        self.notes: collections.deque[_Note | Exception] = collections.deque()
        self.stops = False
        self.working = threading.Lock()
        """Held while the source is called."""

    def rows(self) -> Iterable[dict[str, Any]]:
        while (row := self._next()) is not None:
            yield row

    def _next(self) -> dict[str, Any] | None:
        with self.working:
            source = self._source()
            if source is None or self.stops:
                return None
            try:
                batch = source.make_on_host()
            except Exception as error:
                # Without its traceback, which keeps the source.
                self.notes.append(error.with_traceback(None))
                return None
            if batch is None:
                return None
            try:
                state: dict[str, Any] | Error = source.state_on_host()
            except Error as error:
                state = error.with_traceback(None)
            arrays = [*(batch.data or []), *(batch.label or [])]
            batch.data, batch.label = ([each.shape for each in of] for of in (batch.data or [], batch.label or []))
            self.notes.append(_Note(batch, state))
            return {f"array{i}": array for i, array in enumerate(arrays)}


class DeviceBatches:
    """The batches of a source on a device.

    Args:
        source: Makes them.
        arrays: The number of arrays of a batch, with those of labels.
        device: As `Dataset.to_device` takes it.
        memory: The budget of what is on its way; None: the engine's default.
        of: The iterator's name, for errors.
    """

    def __init__(self, source: Source, arrays: int, device: str, memory: int | str | None, of: str) -> None:
        self._source = weakref.ref(source)
        self._feed = _Feed(source)
        rows = headrace.Generator(self._feed.rows, [f"array{i}" for i in range(arrays)])
        self._rows = rows.options(
            device=options.device("device", device, of),
            device_memory=_DEVICE_MEMORY,
            as_="dlpack",
            memory=memory,
            window=_WINDOW,
        )
        self._run: Iterator | None = None
        self._over = False
        self._failure: Exception | None = None
        self._state: dict[str, Any] | Error | None = None

    def next(self) -> DataBatch | None:
        """The next batch; None: the epoch is over."""
        if self._over:
            return None
        if self._failure is not None:
            raise copy.copy(self._failure)
        try:
            columns = self._fetch()
        except Exception as error:
            self._failure = copy.copy(error)
            raise
        if columns is None:
            self._over = True
            return None
        note = self._feed.notes.popleft()
        assert isinstance(note, _Note)
        self._state = note.state
        return DeviceBatch.of(note.batch, columns)

    def _fetch(self) -> Any:
        if self._run is None:
            self._run = iter(self._rows)
        columns = next(self._run, None)
        if columns is None and self._feed.notes:
            failure = self._feed.notes.popleft()
            assert isinstance(failure, Exception)
            raise failure
        return columns

    def state(self) -> dict[str, Any] | None:
        """The source's after the batch given last; None: that of the source itself, of which nothing is ahead."""
        if self._run is None or self._over:
            return None
        if isinstance(self._state, Error):
            raise copy.copy(self._state)
        return self._state

    def end(self) -> bool | None:
        """Ends the epoch, so that the source is this thread's and may begin another; whether no batch was left. None: none
        was asked for since the start or a state, so that the source knows. Another `next()` begins again."""
        over = None if self._run is None else self._end_run()
        self._run = None
        self._over = False
        self._failure = None
        self._state = None
        return over

    def _end_run(self) -> bool:
        if not self._over and self._failure is None:
            try:
                self._over = self._fetch() is None
            except Exception as error:
                self._failure = error
        if not self._over:
            self._stop()
        return self._over

    def _stop(self) -> None:
        assert self._run is not None
        self._feed.stops = True
        source = self._source()
        if source is not None:
            source.interrupt()
        with self._feed.working:
            pass
        self._run.close()
        self._feed.notes.clear()
        self._feed.stops = False

    def explain(self) -> str:
        """How the engine sends the batches."""
        return f"On the way to the device:\n{self._rows.explain()}"
