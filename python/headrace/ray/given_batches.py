"""`GivenBatches` makes batches that came from makers what the loop is given: arrays of its own, tensors or tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace._arguments.import_folder import import_late
from headrace._runs.iterator import torch_or_error
from headrace._runs.torch_tensors import tensor_of
from headrace._runs.tuple_batches import TupleMaking

__all__ = ["GivenBatches"]


class GivenBatches:
    """Of one run.

    Args:
        as_: "numpy", "torch" or "arrow".
        copy: Whether arrays are copied out of Ray's store, where they are read-only, and hold its memory.
    """

    def __init__(self, as_: str, as_tuple: bool | tuple[str, ...], names: Sequence[str], copy: bool) -> None:
        self._numpy = import_late("numpy")
        self._torch: Any = torch_or_error() if as_ == "torch" else None
        self._given_as_they_are = as_ == "arrow"
        self._tuples = TupleMaking(as_tuple, names) if as_tuple else None
        self._copy = copy

    @property
    def are_dicts(self) -> bool:
        return self._tuples is None and not self._given_as_they_are

    @property
    def pad(self) -> Any:
        return None if self._tuples is None else self._tuples.pad

    def made(self, batch: Any) -> Any:
        if self._given_as_they_are:
            return batch
        values = {name: self._value(value) for name, value in batch.items()}
        return values if self._tuples is None else self._tuples.made(values)

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(each) for each in value]
        # Bytes and texts are objects, which Ray makes anew.
        if not isinstance(value, self._numpy.ndarray) or value.dtype == object:
            return value
        if self._torch is not None:
            # Tensors can be written to.
            return tensor_of(self._torch, value.copy())
        return value.copy() if self._copy else value
