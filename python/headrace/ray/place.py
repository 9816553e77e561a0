"""`Place` is where a feed is in its epoch, in the terms of the single machine: states and parameters are this process's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from headrace._runs.run_options import RunOptions
from headrace.errors import ClosedError, Error

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset
    from headrace._runs.batch_ranges import BatchRanges

__all__ = ["Beginning", "Place"]

_OF_ORDER = ("seed", "even", "shard", "optimize", "disabled_passes")
# No threads are started here.
_HERE = {"executor": "pull", "callbacks": None, "device": None, "profile": None, "as_tuple": None, "as_": None}


class Beginning(NamedTuple):
    """What the options of a run, or its state, say of where it begins. Values of parameters are fixed with it.

    Attributes:
        options: With the seed and `even` of the state, if there is one.
        given: The batches before.
    """

    epoch: int
    options: RunOptions
    given: int

    @staticmethod
    def of(dataset: Dataset, epoch: int | None, state: bytes | None, options: RunOptions) -> Beginning:
        """Opens the data if there is a state."""
        if state is None:
            return Beginning(dataset.epoch if epoch is None else epoch, options, 0)
        here = options.changed(_HERE, "feed")
        with _last_run_kept(dataset), dataset._iterate(epoch, state, here, {}) as running:
            engine = running._engine
            assert engine is not None
            of_run = options.changed({"seed": engine.seed, "even": engine.even}, "feed")
            return Beginning(engine.epoch, of_run, engine.delivered)


class Place:
    """The batches of a run by their numbers. UnsupportedError, naming the operator, where these do not find them.

    It opens the data once, and holds it for states until it is closed. Threads: any.

    Attributes:
        first: The one that it begins with.
        stop: How many there are in the epoch.
        identity: Version, graph and data, which makers are compared with.
        names: The columns.
    """

    def __init__(self, dataset: Dataset, beginning: Beginning, start: int | None) -> None:
        self._dataset = dataset
        self.epoch, self.options = beginning.epoch, beginning.options
        self.first = start or beginning.given
        plain = dataset.options(callbacks=None, device=None, profile=None, as_=None, as_tuple=None)
        # So that far folders are listed once for all feeds of the dataset.
        plain._listings = dataset._listings
        named = {name: self.options[name] for name in _OF_ORDER if self.options[name] is not None}
        self._ranges: BatchRanges | None = plain._batch_ranges(epoch=self.epoch, executor="pull", **named)
        self.stop, self.identity = self._ranges.batches, self._ranges.identity
        engine = self._ranges._engine
        self.names = [name for name, _, _ in engine.schema()]
        self.options = self.options.changed({"seed": engine.seed, "even": engine.even}, "feed")
        self._here = self.options.changed(_HERE, "feed")
        # That of a batch, once this is closed.
        self._kept: tuple[int, bytes] | None = None

    def state(self, number: int) -> bytes:
        """The single machine's before batch `number`."""
        kept = self._kept
        if kept is not None and kept[0] == number:
            return kept[1]
        return self._known(number) or self._state(None, number or None, self._here)

    def _known(self, number: int) -> bytes | None:
        """The state, without opening the data anew. None: this is closed, or the epoch ends there; a range says that it is
        over, and a run that gave the last batch does not know it yet."""
        ranges = self._ranges
        if ranges is None or number >= self.stop:
            return None
        with contextlib.suppress(ClosedError):
            nothing = ranges.make(number, number)
            for _ in nothing:
                pass
            return nothing.state()
        return None

    def close(self, number: int) -> None:
        """The loop has had the batches before `number`, and takes no more."""
        ranges = self._ranges
        if ranges is None:
            return
        with contextlib.suppress(Error):
            known = self._known(number)
            self._kept = None if known is None else (number, known)
        self._ranges = None
        ranges.close()

    def holds(self, state: bytes) -> bool:
        """Whether the state is one of these. Of one that another number of ranks took, the batches after it may have other
        rows than those of this rank."""
        return self._elsewhere(state) == self._elsewhere(self.state(self.first))

    def _state(self, state: bytes | None, start: int | None, options: RunOptions) -> bytes:
        epoch = None if state is not None else self.epoch
        with _last_run_kept(self._dataset), self._dataset._iterate(epoch, state, options, None, start) as running:
            return running.state()

    def _elsewhere(self, state: bytes) -> bytes:
        """What the state is to another number of ranks: the same where two states are of the same position."""
        _, world = self.options["shard"] or (0, 1)
        return self._state(state, None, self._here.changed({"shard": (0, world + 1)}, "feed"))


@contextlib.contextmanager
def _last_run_kept(dataset: Dataset) -> Iterator[None]:
    """Reports of the dataset stay about the loop before."""
    last_run = dataset._last_run
    try:
        yield
    finally:
        dataset._last_run = last_run
