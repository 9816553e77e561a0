"""Rows of a dataset by their numbers, `ds[i]`, also as torch's DataLoader asks for them."""

from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments.doubts import warn_once
from headrace._arguments.options import shown
from headrace._arguments.source_location import users_location
from headrace._datasets.base import ordered
from headrace.errors import GraphError, StateError, UnsupportedError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["RowsOfBatch", "row", "rows"]


# What is said to whoever asks for rows that have no numbers.
_LOOP = "; loop over the dataset: for row in dataset"


class RowsOfBatch:
    """What a loader gives to torch's DataLoader in place of the numbers of a batch's rows: they need no reading."""


def row(dataset: Dataset, index: Any) -> Any:
    """Row `index` of the dataset's epoch."""
    if _asked_by_torch():
        _warn()
    else:
        _count_reads(dataset)
    (found,) = _read(dataset, _numbers(dataset, [index]))
    return found


def rows(dataset: Dataset, indices: Any) -> Any:
    """Several, as torch's DataLoader asks for those of a batch."""
    if isinstance(indices, RowsOfBatch):
        return indices
    _warn()
    try:
        return _read(dataset, _numbers(dataset, indices))
    except UnsupportedError as error:
        # As in a worker that DataLoader has forked.
        if _asked_by_torch():
            reason = str(error).removesuffix(_LOOP)
            error._reword(
                f"{reason}\nin place of torch's DataLoader write headrace.torch.Loader(dataset, batch_size=…)"
            )
        raise


def _asked_by_torch() -> bool:
    frame = sys._getframe(2).f_back
    # On an engine's thread a caller of C, as `map` is, has none in Python.
    return frame is not None and str(frame.f_globals.get("__name__", "")).startswith("torch.utils.data")


def _warn() -> None:
    warn_once(
        "torch's DataLoader asks a headrace.Dataset for one row at a time, with the engine begun anew each time: write "
        "headrace.torch.Loader(dataset, batch_size=…) in its place, which reads ahead on all cores",
        users_location("torch"),
    )


# So many rows of one dataset are read one by one without a word.
_MANY_READS = 100
_reads: weakref.WeakKeyDictionary[Dataset, int] = weakref.WeakKeyDictionary()


def _count_reads(dataset: Dataset) -> None:
    _reads[dataset] = _reads.get(dataset, 0) + 1
    if _reads[dataset] == _MANY_READS + 1:
        warn_once(
            f"dataset[i] was asked for more than {_MANY_READS} rows, with the engine begun anew for each: write `for row in "
            "dataset`, or dataset.select(indices) for some of them, which read ahead on all cores",
            users_location(),
        )


def _numbers(dataset: Dataset, indices: Iterable[Any]) -> list[int]:
    """From 0 on; the dataset is counted once for all."""
    given = [_whole(index) for index in indices]
    if not given:
        return []
    _check_indexed(dataset, given[0])
    count = _count(dataset, given[0])
    for number in given:
        if not -count <= number < count:
            raise IndexError(
                f"dataset[{number}]: the dataset has {count:,} row{'s' * (count != 1)} in epoch {dataset.epoch}"
            )
    return [number if number >= 0 else count + number for number in given]


def _whole(index: Any) -> int:
    try:
        if isinstance(index, bool):
            raise TypeError
        number: int = operator.index(index)
    except TypeError:
        raise TypeError(f"dataset[{shown(index)}]: {_advice(index)}") from None
    return number


def _count(dataset: Dataset, number: int) -> int:
    count = dataset._count()
    if count is None or count < 0:
        culprit = dataset._without_count() if count is None else "repeat without a count"
        raise UnsupportedError(f"dataset[{number}]: with {culprit} rows have no numbers{_LOOP}")
    return count


def _advice(index: Any) -> str:
    if isinstance(index, slice):
        start, stop = index.start or 0, "len(dataset)" if index.stop is None else index.stop
        return f"a dataset has single rows by number; write dataset.select(range({start}, {stop})) for several"
    if isinstance(index, str):
        return f'a column is in each row: row["{index}"]; write dataset.project(["{index}"]) for that column alone'
    return "give the number of a row; for several write dataset.select(indices)"


def _check_indexed(dataset: Dataset, number: int) -> None:
    for each in ordered(dataset)[1]:
        if not each._inputs and not each._node.indexed:
            raise UnsupportedError(
                f"dataset[{number}]: {each._node.op} gives its rows one after the other, so they have no numbers"
                f"{_index_advice(each._node)}{_LOOP}"
            )


def _index_advice(node: Any) -> str:
    return '; index="build" numbers them' if node.attributes.get("index", "") is None else ""


def _read(dataset: Dataset, numbers: Sequence[int]) -> list[Any]:
    found: list[Any] = []
    while len(found) < len(numbers):
        first = len(found)
        last = first + 1
        while last < len(numbers) and numbers[last] == numbers[last - 1] + 1:
            last += 1
        try:
            run = dataset._run_from(numbers[first], last - first)
        except StateError as error:
            (reason, *_) = str(error).splitlines()
            raise UnsupportedError(f"dataset[{numbers[first]}]: {reason}{_LOOP}") from None
        if len(run) != last - first:
            raise GraphError(f"dataset[{numbers[first] + len(run)}]: the epoch ended before this row")
        found += run
    return found
