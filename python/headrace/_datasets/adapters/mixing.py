"""Mixtures: data sets drawn, or chosen one by one, from several others."""

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
    _check_inputs("mix", inputs)
    weights = attributes.get("weights")
    zeros = [number for number, each in enumerate(weights) if _is_zero(each)] if isinstance(weights, Sequence) else []
    if zeros:
        raise GraphError(
            f"mix: weights[{zeros[0]}] is 0, so input {zeros[0]} would never be drawn: leave out this input and its weight, or "
            "give it a weight above 0"
        )
    return inputs[0]._append("mix", attributes, inputs[1:])


@adapts("choose")
def chosen(inputs: Sequence[Dataset], choice: Dataset, stop: str) -> Dataset:
    _check_inputs("choose", inputs)
    if not isinstance(choice, Base):
        raise GraphError(
            f"choose: choice is {shown(choice)}; give a dataset of one column, the numbers of the inputs: "
            'hr.Numpy({"input": [0, 1, 1]})'
        )
    return inputs[0]._append("choose", {"stop": stop}, [*inputs[1:], choice])


def _check_inputs(of: str, inputs: Any) -> None:
    if not isinstance(inputs, Sequence):
        raise GraphError(f"{of}: inputs is {shown(inputs)}; give a list of datasets")
    for dataset in inputs:
        if not isinstance(dataset, Base):
            raise GraphError(f"{of} takes datasets, not {shown(dataset)}")
    if not inputs:
        raise GraphError(f"{of}: inputs is empty; give at least one dataset")


def _is_zero(weight: Any) -> bool:
    return isinstance(weight, (int, float)) and not isinstance(weight, bool) and weight == 0
