"""`sent_graph` gives a pipeline in the form in which it travels to makers."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from headrace._graph.parameters import sent_without_values
from headrace._workers.loaded_plugins import loaded_paths
from headrace.ray.maker import SentGraph
from headrace.ray.sent_values import values_of

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["sent_graph"]


def sent_graph(dataset: Dataset, epoch: int, options: dict[str, Any]) -> SentGraph:
    """With its Python functions and arrays by value. Settings of stores, which may be secret, stay here.

    Args:
        options: Those of the run that are not the dataset's.
    """
    with sent_without_values():
        pickled = pickle.dumps(dataset, protocol=5)
    return SentGraph(loaded_paths(), pickled, values_of(dataset), epoch, options)
