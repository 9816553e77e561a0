"""`sent_ranges` sends a pipeline whose batches are found by their numbers, and `range_here` makes some of them on a node."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from headrace._operators.plugins import load_plugin
from headrace.errors import UnsupportedError
from headrace.ray.sent_graph import sent_graph
from headrace.ray.sent_values import give_values

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset
    from headrace._runs.batch_ranges import RangeBatches
    from headrace._runs.identity import Identity
    from headrace.ray.maker import SentGraph

__all__ = ["SentRanges", "range_here", "sent_ranges"]

# Beyond the end of each epoch.
_END = (1 << 62) - 1


class SentRanges(NamedTuple):
    """A pipeline, and what must be the same on each node.

    Attributes:
        of: The call, for messages.
    """

    graph: SentGraph
    identity: Identity
    of: str


def sent_ranges(dataset: Dataset, epoch: int, of: str) -> SentRanges:
    """Opens the data, and makes no row. UnsupportedError, naming the operator: batches are not found by their numbers."""
    plain = dataset.options(callbacks=None, profile=None, device=None)
    try:
        with plain._batch_ranges(epoch=epoch) as ranges:
            identity = ranges.identity
    except UnsupportedError as error:
        error._reword(f"{of}: {error}")
        raise
    return SentRanges(sent_graph(plain, epoch, {}), identity, of)


@contextlib.contextmanager
def range_here(sent: SentRanges, start: int, stop: int | None) -> Iterator[RangeBatches]:
    """The batches (without `batch`, rows) [start, stop) of the epoch; None: to its end. UnsupportedError where this node
    would make others."""
    for path in sent.graph.plugins:
        load_plugin(path)
    dataset: Dataset = pickle.loads(sent.graph.pickled)
    give_values(dataset, sent.graph.values)
    with dataset._batch_ranges(epoch=sent.graph.epoch) as ranges:
        if differs := sent.identity.difference(ranges.identity):
            raise UnsupportedError(f"{sent.of}: the node {os.uname().nodename} would make other rows: {differs}")
        yield ranges.make(start, _END if stop is None else stop)
