"""Mixtures: data sets drawn from several others."""

from collections.abc import Sequence
from typing import Any

from headrace._arguments.options import shown
from headrace._datasets.dataset import Dataset
from headrace.errors import GraphError

__all__ = ["mixed"]


def mixed(inputs: Sequence[Dataset], attributes: dict[str, Any]) -> Dataset:
    if not isinstance(inputs, Sequence):
        raise GraphError(f"mix: inputs is {shown(inputs)}; give a list of datasets")
    for dataset in inputs:
        if not isinstance(dataset, Dataset):
            raise GraphError(f"mix takes datasets, not {shown(dataset)}")
    if not inputs:
        raise GraphError("mix: inputs is empty; give at least one dataset")
    return inputs[0]._append("mix", attributes, inputs[1:])
