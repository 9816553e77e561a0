"""Samplers of the user's own, and of torch: the two functions that the engine calls for the order of an epoch."""

from __future__ import annotations

import copy
import operator
import sys
from typing import Any

from headrace import reference
from headrace.errors import GraphError
from headrace.options import shown
from headrace.reference import Binding, Bound

__all__ = ["attributes", "binding", "is_own"]


def attributes(sampler: Any, **others: Any) -> dict[str, Any]:
    """Of the operator from_sampler. GraphError for an object that gives no row numbers."""
    return {"size": _bound("size", sampler), "indices": _bound("indices", sampler), **others}


def binding(name: str, sampler: Any) -> Binding:
    """Of the function with that name in a graph; `sampler` may be that function, as another graph has it."""
    if isinstance(sampler, (_Size, _Indices)):
        return reference.function(sampler)[0].binding
    return _bound(name.partition("#")[0].rpartition(".")[2], sampler).binding


def is_own(sampler: Any) -> bool:
    """Whether it has the two methods that a sampler of a user's own has."""
    methods = [getattr(sampler, name, None) for name in ("size", "indices")]
    return not isinstance(sampler, type) and all(callable(each) for each in methods)


def _bound(method: str, sampler: Any) -> Bound:
    if not is_own(sampler):
        _check_iterable(sampler)
        adapted: Any = _Iterated(sampler)
    else:
        adapted = sampler
    called = _Size(adapted, sampler) if method == "size" else _Indices(adapted, sampler)
    return reference.function(called)[0]


def _check_iterable(sampler: Any) -> None:
    kind = type(sampler).__name__
    if isinstance(sampler, type):
        raise GraphError(f"from_sampler: {sampler.__name__} is a class; give an object of it")
    if hasattr(sampler, "__next__"):
        raise GraphError(
            f"from_sampler: a {kind} object is used up after one epoch; give an object with size(epoch) and "
            "indices(epoch, rng)"
        )
    if any(each.__name__ == "BatchSampler" for each in type(sampler).__mro__):
        raise GraphError(
            f"from_sampler: a {kind} gives batches of rows; give the sampler that it was made of, such as its "
            ".sampler, and write .batch(n) behind"
        )
    lacks = [name for name in ("__iter__", "__len__") if not hasattr(sampler, name)]
    if lacks:
        raise GraphError(
            f"from_sampler: {shown(sampler)} has no {lacks[0]}; give one of torch's samplers, or an object with "
            "size(epoch) and indices(epoch, rng)"
        )


class _Named:
    """A function with the name of a method of the user's object, in graphs and messages."""

    def __init__(self, sampler: Any, given: Any, method: str) -> None:
        kind = type(given)
        self.__module__ = kind.__module__
        self.__qualname__ = f"{kind.__qualname__}.{method}"
        self.sampler = sampler

    def __repr__(self) -> str:
        return self.__qualname__


class _Size(_Named):
    def __init__(self, sampler: Any, given: Any) -> None:
        super().__init__(sampler, given, "size")

    def __call__(self, epoch: Any) -> Any:
        import numpy as np

        size = self.sampler.size(int(epoch))
        try:
            return np.int64(operator.index(size))
        except TypeError:
            # The engine names what it is.
            return np.asarray(size)


class _Indices(_Named):
    def __init__(self, sampler: Any, given: Any) -> None:
        super().__init__(sampler, given, "indices")

    def __call__(self, epoch: Any, rng: Any) -> Any:
        import numpy as np

        indices = np.asarray(self.sampler.indices(int(epoch), rng))
        # NumPy takes a list without numbers for floats.
        return indices if indices.size else indices.astype(np.int64)


class _Iterated:
    """A sampler with `__iter__` and `__len__`, such as torch's, in the form of a user's own."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def size(self, epoch: int) -> int:
        self._begin(epoch)
        return len(self.sampler)

    def indices(self, epoch: int, rng: Any) -> list[int]:
        self._begin(epoch)
        return list(_with_generator(self.sampler, rng))

    def _begin(self, epoch: int) -> None:
        set_epoch = getattr(self.sampler, "set_epoch", None)
        if callable(set_epoch):
            set_epoch(epoch)


def _with_generator(sampler: Any, rng: Any) -> Any:
    """One that draws from torch's global generator, which the training moves on, gets one of its own."""
    torch = sys.modules.get("torch")
    if torch is None or getattr(sampler, "generator", sampler) is not None:
        return sampler
    own = copy.copy(sampler)
    own.generator = torch.Generator()
    own.generator.manual_seed(int(rng.integers(2**63)))
    return own
