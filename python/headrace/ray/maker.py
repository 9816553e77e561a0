"""`Maker` is what an actor runs: it opens a pipeline once an epoch and graph, and makes runs of its batches.

Ray calls it on several threads: a run is queued while the one before it is made, so that the pipeline's workers go on."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import pickle
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from headrace._operators.plugins import load_plugin
from headrace.errors import ClosedError, DataError, Error, FunctionError, NotFoundError
from headrace.ray.installed import ray_or_error
from headrace.ray.sent_values import SentValues, give_values
from headrace.ray.setting_up import set_up

__all__ = ["Card", "Failure", "Made", "Maker", "SentGraph", "failure_of"]

# Calls at once: a run that is made, one that is queued, and one that opens another pipeline.
CALLS = 3
# Datasets, with their caches.
_KEPT = 4
# Keys that were closed before they were opened.
_REMEMBERED = 1024


class SentGraph(NamedTuple):
    """A pipeline as it travels to makers.

    Attributes:
        plugins: Paths of the libraries that it needs, on each node.
        pickled: The dataset without the values of its parameters, as pickle has it: the same bytes in each epoch.
        values: Those of its parameters.
        epoch: The one that is run.
        options: Those of the run.
        most_failed: So many rows of a run may have failed before it ends; None: it has batches, of which none may.
    """

    plugins: list[str]
    pickled: bytes
    values: SentValues
    epoch: int
    options: dict[str, Any]
    most_failed: int | None = None


class Card(NamedTuple):
    """Who a maker is, and what it would make.

    Attributes:
        identity: Version, graph and data, as the dataset gives it there.
    """

    host: str
    node: str
    process: int
    identity: Any


class Failure(NamedTuple):
    """What a run raised after the batches that it has; in the place of a row, what making that row raised; or what the task
    of a part raised."""

    error: BaseException
    cause: BaseException | None
    same: str
    """Equal where the error is."""

    def again(self) -> BaseException:
        self.error.__cause__ = self.cause
        return self.error


class Made(NamedTuple):
    """What is said of a run: small, so that it comes before its batches."""

    batches: int
    bytes: int
    seconds: float
    failure: Failure | None
    errors: str
    """Equal where the same rows failed by the same errors; empty: none did."""
    worked: float
    """For how many seconds the maker has made runs in all, each second counted once."""


class Maker:
    """Opened by one thread, asked for runs by several."""

    def __init__(self, setup: bytes | None) -> None:
        self._setup = setup
        self._lock = threading.Lock()
        self._ready = False
        # What `setup` gave holds as long as the process, on all of its threads.
        self._held = contextlib.ExitStack()
        self._context = contextvars.copy_context()
        self._datasets: dict[bytes, _Kept] = {}
        # Of the keys, which are closed while another pipeline is opened, too.
        self._keys = threading.Lock()
        self._opened: dict[str, _Opened] = {}
        self._closed: dict[str, None] = {}
        self._work = _Work()
        self.openings = 0

    def open(self, key: str, sent: SentGraph) -> Card:
        """Opens the pipeline under a key. Its dataset is that of earlier epochs, with its caches."""
        with self._lock:
            if not self._ready:
                self._context.run(self._prepare)
            for path in sent.plugins:
                load_plugin(path)
            dataset = self._dataset(sent)
            make = functools.partial(self._ranges_in_context, dataset, sent)
            opened = _Opened(make, sent.most_failed)
        self._keep(key, opened)
        context = ray_or_error("a maker").get_runtime_context()
        return Card(socket.gethostname(), context.get_node_id(), os.getpid(), opened.identity)

    def _keep(self, key: str, opened: _Opened) -> None:
        with self._keys:
            if key not in self._closed:
                self._opened[key] = opened
                return
        opened.close()

    def _prepare(self) -> None:
        setup = None if self._setup is None else pickle.loads(self._setup)
        self._held.enter_context(set_up(setup))
        self._ready = True

    def _dataset(self, sent: SentGraph) -> Any:
        """That of the epochs before, if it is the same, with the values of its parameters that were sent last."""
        kept = self._datasets.get(sent.pickled)
        if kept is None:
            while len(self._datasets) >= _KEPT:
                del self._datasets[next(iter(self._datasets))]
            kept = self._datasets[sent.pickled] = _Kept(pickle.loads(sent.pickled))
        # Calls may come in another order than they were made in.
        if sent.values.number > kept.values_number:
            give_values(kept.dataset, sent.values)
            kept.values_number = sent.values.number
        return kept.dataset

    def _ranges_in_context(self, dataset: Any, sent: SentGraph) -> Any:
        return self._context.copy().run(self._ranges, dataset, sent)

    def _ranges(self, dataset: Any, sent: SentGraph) -> Any:
        self.openings += 1
        return dataset._batch_ranges(epoch=sent.epoch, **sent.options)

    def make(self, key: str, first: int, stop: int) -> tuple[Made, list[Any]]:
        """The batches [first, stop), or those before the one that failed. Of rows that may fail, each that did is a
        `Failure`."""
        since = time.monotonic()
        with self._keys:
            opened = self._opened.get(key)
        batches: list[Any]
        failure: Failure | None
        if opened is None:
            batches, failure = [], failure_of(ClosedError("the feed was closed"))
        else:
            with self._work:
                batches, failure = opened.made(first, stop)
        size = sum(_bytes(batch) for batch in batches)
        errors = [f"{first + i}: {each.same}" for i, each in enumerate(batches) if isinstance(each, Failure)]
        errors += [] if failure is None else [failure.same]
        return Made(
            len(batches), size, time.monotonic() - since, failure, "\n".join(errors), self._work.seconds
        ), batches

    def close(self, key: str) -> None:
        """Ends the pipeline; runs that are asked for meanwhile are given up."""
        with self._keys:
            opened = self._opened.pop(key, None)
            if opened is None:
                self._closed[key] = None
            while len(self._closed) > _REMEMBERED:
                del self._closed[next(iter(self._closed))]
        if opened is not None:
            opened.close()

    def counts(self) -> dict[str, int]:
        """For tests: the pipelines opened so far, those that are open, and the datasets that are kept."""
        return {"openings": self.openings, "open": len(self._opened), "datasets": len(self._datasets)}


class _Work:
    """Seconds in which at least one thread was in a `with` block of it. Threads: any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = 0
        self._since = 0.0
        self._ended = 0.0

    @property
    def seconds(self) -> float:
        with self._lock:
            return self._ended + (time.monotonic() - self._since if self._threads > 0 else 0.0)

    def __enter__(self) -> None:
        with self._lock:
            if self._threads == 0:
                self._since = time.monotonic()
            self._threads += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._threads -= 1
            if self._threads == 0:
                self._ended += time.monotonic() - self._since


@dataclass(eq=False)
class _Kept:
    """A dataset, and the number of the values that its parameters have."""

    dataset: Any
    values_number: int = -1


class _Opened:
    """The running pipeline of a key, made again after an error, which ends it."""

    def __init__(self, make: Callable[[], Any], most_failed: int | None) -> None:
        self._make = make
        self._most_failed = most_failed
        self._lock = threading.Lock()
        self._closed = False
        self._ranges: Any = make()
        self.identity = self._ranges.identity

    def made(self, first: int, stop: int) -> tuple[list[Any], Failure | None]:
        """ClosedError, and what was made by then, if it is closed meanwhile."""
        batches: list[Any] = []
        left = self._most_failed or 0
        while not self._closed:
            ranges = None
            try:
                with self._lock:
                    if self._ranges is None and not self._closed:
                        self._ranges = self._make()
                    if (ranges := self._ranges) is None:
                        break
                    asked = ranges.make(first + len(batches), stop)
                batches += asked
                return batches, None
            except ClosedError:
                # The error of another run ended the pipeline, or it is closed.
                self._drop(ranges)
            except Exception as error:
                self._drop(ranges)
                # The row after those that were made; what fails after the last one is of no row.
                if left == 0 or first + len(batches) >= stop or not _is_of_one_row(error):
                    return batches, failure_of(error)
                left -= 1
                batches.append(failure_of(error))
        return batches, failure_of(ClosedError("the feed was closed"))

    def _drop(self, ranges: Any) -> None:
        with self._lock:
            if self._ranges is ranges:
                self._ranges = None
        if ranges is not None:
            ranges.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            ranges, self._ranges = self._ranges, None
        if ranges is not None:
            ranges.close()


def _is_of_one_row(error: Exception) -> bool:
    """As the engine says it, whose policy decides what becomes of the row."""
    return isinstance(error, (DataError, NotFoundError, FunctionError)) and not error._beyond_row


def failure_of(error: Exception) -> Failure:
    """What travels of an error: pickle leaves out its cause."""
    return Failure(_travelling(error), _travelling(error.__cause__), f"{type(error).__name__}: {error}")


def _travelling(error: BaseException | None) -> Any:
    """The exception, or one with its words where it cannot be pickled."""
    if error is None:
        return None
    try:
        pickle.loads(pickle.dumps(error))
        return error.with_traceback(None)
    except Exception:
        return Error(f"{type(error).__name__}: {error}")


def _bytes(batch: Any) -> int:
    if isinstance(batch, dict):
        return sum(_bytes(each) for each in batch.values())
    if isinstance(batch, list):
        return sum(_bytes(each) for each in batch)
    size = getattr(batch, "nbytes", None)
    if size is None:
        return len(batch) if isinstance(batch, (bytes, str)) else 8
    if getattr(batch, "dtype", None) is not None and batch.dtype.kind == "O":
        return sum(_bytes(each) for each in batch.flat)
    return int(size)
