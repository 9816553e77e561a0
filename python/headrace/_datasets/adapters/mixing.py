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
    weights = attributes.get("weights")
    zeros = [number for number, each in enumerate(weights) if _is_zero(each)] if isinstance(weights, Sequence) else []
    if zeros:
        raise GraphError(
            f"mix: weights[{zeros[0]}] is 0, so input {zeros[0]} would never be drawn: leave out this input and its weight, or "
            "give it a weight above 0"
        )
    return inputs[0]._append("mix", attributes, inputs[1:])


def _is_zero(weight: Any) -> bool:
    return isinstance(weight, (int, float)) and not isinstance(weight, bool) and weight == 0
