"""Adapts user samplers, and those of torch: the two functions that the engine calls for the order of an epoch."""

from __future__ import annotations

import copy
import operator
import sys
import threading
import weakref
from typing import Any

from headrace import _engine
from headrace._arguments.options import shown
from headrace._graph import reference
from headrace._graph.reference import Binding, Bound
from headrace.errors import GraphError

__all__ = ["attributes", "binding", "is_own"]


def attributes(sampler: Any, **others: Any) -> dict[str, Any]:
    """Of the operator from_sampler. GraphError for an object that gives no row numbers."""
    return {"size": _bound(True, sampler), "indices": _bound(False, sampler), **others}


def binding(of_size: bool, sampler: Any) -> Binding:
    """Of its function of sizes or of indices; `sampler` may be that function, as another graph has it."""
    if isinstance(sampler, (_Size, _Indices)):
        return reference.function(sampler)[0].binding
    return _bound(of_size, sampler).binding


def is_own(sampler: Any) -> bool:
    """Whether it has the two methods that a sampler of a user's own has. A torch Tensor has methods of these names."""
    if isinstance(sampler, type) or hasattr(sampler, "__array__"):
        return False
    return all(callable(getattr(sampler, name, None)) for name in ("size", "indices"))


def _bound(of_size: bool, sampler: Any) -> Bound:
    if not is_own(sampler):
        _check_iterable(sampler)
        adapted: Any = _Iterated(sampler)
    else:
        adapted = sampler
    called = _Size(adapted, sampler) if of_size else _Indices(adapted, sampler)
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
            ".sampler, and write .batch(n) after it"
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
        if isinstance(size, bool):
            return shown(size)
        try:
            return np.int64(operator.index(size))
        except (TypeError, OverflowError):
            return shown(size)


class _Indices(_Named):
    def __init__(self, sampler: Any, given: Any) -> None:
        super().__init__(sampler, given, "indices")

    def __call__(self, epoch: Any, rng: Any) -> Any:
        return _row_numbers(self.sampler.indices(int(epoch), rng))


def _row_numbers(given: Any) -> Any:
    """As int64 where they are whole numbers. What is no array of numbers comes as a text that shows it, and any other
    array as it is: the engine says what is wrong with them."""
    import numpy as np

    try:
        array = np.asarray(_engine.exact_array(given))
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return shown(given)
    if array.size == 0 and array.dtype.kind != "O":
        # NumPy takes a list without numbers for floats.
        return np.zeros(array.shape, np.int64)
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        return f"{array.max()}, which has more than 63 bits"
    if array.dtype.kind in "iu":
        return array.astype(np.int64)
    return array if array.dtype.kind in "bfSU" and array.ndim > 0 else shown(given)


class _Iterated:
    """A sampler with `__iter__` and `__len__`, such as torch's, in the form of a user's own. Threads: any
    thread; threads that ask one sampler, here and elsewhere, take turns, for its epoch is set before it is asked."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler
        self._turn = _turn_of(sampler)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Iterated, (self.sampler,)

    def size(self, epoch: int) -> int:
        with self._turn:
            self._begin(epoch)
            return len(self.sampler)

    def indices(self, epoch: int, rng: Any) -> Any:
        with self._turn:
            self._begin(epoch)
            numbers = list(_with_generator(self.sampler, rng))
        for at, number in enumerate(numbers):
            if isinstance(number, bool):
                return _Shown(f"{number} at {at} of its __iter__")
            try:
                numbers[at] = operator.index(number)
            except TypeError:
                return _Shown(f"{shown(number)} at {at} of its __iter__")
        return numbers

    def _begin(self, epoch: int) -> None:
        set_epoch = getattr(self.sampler, "set_epoch", None)
        if callable(set_epoch):
            set_epoch(epoch)


# By the id of the sampler, which lives while one of its adapters, which hold the lock, does.
_turns: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_turns_change = threading.Lock()


def _turn_of(sampler: Any) -> Any:
    with _turns_change:
        # A sampler may ask for the length of the dataset that it orders.
        return _turns.setdefault(id(sampler), threading.RLock())


class _Shown:
    """What is no row numbers, as text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _with_generator(sampler: Any, rng: Any) -> Any:
    """One of torch's gets a generator of its own: a global one is moved on by the training, and one that was given by
    each epoch, so that no epoch could be asked for again."""
    torch = sys.modules.get("torch")
    given = getattr(sampler, "generator", sampler)
    if torch is None or not (given is None or isinstance(given, torch.Generator)):
        return sampler
    own = copy.copy(sampler)
    own.generator = torch.Generator("cpu" if given is None else given.device)
    own.generator.manual_seed(int(rng.integers(2**63)))
    return own
