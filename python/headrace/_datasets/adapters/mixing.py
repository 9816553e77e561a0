"""Mixtures: data sets drawn from several others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown
from headrace._datasets.base import Base
from headrace._graph.adapters import adapts
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["mixed"]


@adapts("mix")
def mixed(inputs: Sequence[Dataset], **attributes: Any) -> Dataset:
    if not isinstance(inputs, Sequence):
        raise GraphError(f"mix: inputs is {shown(inputs)}; give a list of datasets")
    for dataset in inputs:
        if not isinstance(dataset, Base):
            raise GraphError(f"mix takes datasets, not {shown(dataset)}")
    if not inputs:
        raise GraphError("mix: inputs is empty; give at least one dataset")
    return inputs[0]._append("mix", attributes, inputs[1:])
