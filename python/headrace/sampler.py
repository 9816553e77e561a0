"""What the samplers have in common: they are orders of rows, which `Dataset.sample` puts on a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import user_sampler
from headrace.errors import GraphError, ResourceError
from headrace.options import shown

if TYPE_CHECKING:
    from headrace.dataset import Dataset

__all__ = ["Sampler"]


class Sampler:
    """An order of rows, for `Dataset.sample`. It may be given to any number of datasets."""

    _op: str
    _attributes: dict[str, Any]
    _given: Any
    # What it takes for each row, "weights" or "labels": the name of a column, or an array.
    _values: tuple[str, Any] | None

    def __init__(self) -> None:
        raise TypeError("a Sampler is made by one of its classes, such as headrace.Weighted(…)")

    def _begin(
        self, op: str, attributes: dict[str, Any], values: Mapping[str, Any] | None = None, *, given: Any = None
    ) -> None:
        """`given`: what the user wrote in place of the attributes, if it is not they."""
        self._op = op
        self._given = given
        self._attributes = attributes
        self._values = None
        if values is not None:
            ((what, given),) = values.items()
            self._values = what, given if isinstance(given, str) else array_of(op, what, given)

    def _applied(self, dataset: Dataset) -> Dataset:
        if self._values is None:
            return dataset._append(self._op, self._attributes)
        _, given = self._values
        if isinstance(given, str):
            return dataset._append(self._op, {**self._attributes, "column": given}, [listing(dataset)])
        from headrace.sources import Numpy

        return dataset._append(self._op, {**self._attributes, "column": "value"}, [Numpy({"value": given})])

    def __repr__(self) -> str:
        if self._given is not None:
            return f"{self._op}({shown(self._given)})"
        given = {} if self._values is None else dict([self._values])
        given |= {name: value for name, value in self._attributes.items() if name not in ("seed", "name")}
        return f"{self._op}({', '.join(f'{name}={shown(value)}' for name, value in given.items())})"


def applied(dataset: Dataset, sampler: Any) -> Dataset:
    if user_sampler.is_own(sampler):
        from headrace.samplers import from_sampler

        sampler = from_sampler(sampler)
    if not isinstance(sampler, Sampler):
        advice = ""
        if hasattr(sampler, "__array__"):
            advice = "; for rows by their numbers write select(indices)"
        elif type(sampler).__module__.startswith("torch"):
            advice = ", or headrace.from_sampler(sampler) for one of torch's"
        elif hasattr(sampler, "__len__"):
            advice = "; for rows by their numbers write select(indices)"
        raise GraphError(
            f"sample: the sampler is {shown(sampler)}; give one such as headrace.Weighted(weights){advice}"
        )
    return sampler._applied(dataset)


def array_of(op: str, what: str, given: Any) -> Any:
    """A copy, so that the sampler stays what it is."""
    import numpy as np

    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise GraphError(f"{op}: {what} has masked values; give filled(value) of it")
    try:
        array = np.array(given)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise GraphError(f"{op}: {what} is {shown(given)}, which is no array: {error}") from error
    except MemoryError as error:
        raise ResourceError(f"{op}: {what} does not fit into memory as an array: {error}") from error
    if array.ndim != 1:
        kind = f"an array of {array.dtype} of shape {array.shape}"
        raise GraphError(f"{op}: {what} is {kind}; give one value for each row, along one axis")
    if array.dtype.kind == "O":
        _refuse_mixed(op, what, array)
    elif array.dtype.kind in "SU":
        if not isinstance(given, np.ndarray):
            _refuse_mixed(op, what, given)
    elif array.dtype.kind not in "biuf":
        raise GraphError(f"{op}: {what} is an array of {array.dtype}; give numbers or texts")
    # The engine reads no numbers of 16 bits.
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _refuse_mixed(op: str, what: str, values: Any) -> None:
    """NumPy makes texts of numbers that stand beside texts, so that 1 and "1" would be one."""
    kinds = {str if isinstance(each, str) else bytes if isinstance(each, bytes) else type(each) for each in values}
    if kinds <= {str} or kinds <= {bytes}:
        return
    if len(kinds) == 1:
        raise GraphError(f"{op}: {what} is an array of object; give numbers or texts")
    listed = ", ".join(sorted(each.__name__ for each in kinds))
    raise GraphError(f"{op}: {what} holds values of several kinds ({listed}); give numbers alone, or texts alone")


def listing(dataset: Dataset, made: dict[int, Dataset] | None = None) -> Dataset:
    """A dataset of its own that gives the rows by number: without maps, and without an order of its own."""
    made = {} if made is None else made
    while (dataset._node.row_by_row or dataset._node.of_attribute) and len(dataset._inputs) == 1:
        (dataset,) = dataset._inputs
    if id(dataset) not in made:
        copy = dataset._copy()
        copy._node = dataset._node.unshuffled()
        copy._inputs = tuple(listing(each, made) for each in dataset._inputs)
        made[id(dataset)] = copy
    return made[id(dataset)]
