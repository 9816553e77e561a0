"""`statistics_of` finds the mean and the standard deviation of a column in one pass over a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._arguments import options
from headrace.errors import DataError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["Statistics", "statistics_of"]

# Values that are summed at once: many small rows cost what one array does.
AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Statistics:
    """What `Dataset.statistics` found in a column: one number for each element of its last axis, one for scalars.

    Attributes:
        count: How many values each number is of.
        mean: Their means.
        std: Their standard deviations, of the values as a whole: the sum of the squares is divided by the count.
        min: The least values.
        max: The greatest values.
    """

    count: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    min: tuple[float, ...]
    max: tuple[float, ...]


@dataclass
class _Sums:
    """What is known of values so far, in float64: their squares are summed about their mean, so that none cancel."""

    count: int
    mean: np.ndarray[Any, Any]
    squares: np.ndarray[Any, Any]
    least: np.ndarray[Any, Any]
    greatest: np.ndarray[Any, Any]

    @classmethod
    def of(cls, values: np.ndarray[Any, Any]) -> _Sums:
        mean = values.mean(axis=0)
        return cls(len(values), mean, ((values - mean) ** 2).sum(axis=0), values.min(axis=0), values.max(axis=0))

    def joined(self, other: _Sums) -> _Sums:
        """Chan, Golub and LeVeque's sums of two parts."""
        count = self.count + other.count
        apart = other.mean - self.mean
        return _Sums(
            count,
            self.mean + apart * (other.count / count),
            self.squares + other.squares + apart**2 * (self.count * other.count / count),
            np.minimum(self.least, other.least),
            np.maximum(self.greatest, other.greatest),
        )

    def found(self) -> Statistics:
        def plain(numbers: np.ndarray[Any, Any]) -> tuple[float, ...]:
            return tuple(float(number) for number in numbers)

        deviations = np.sqrt(self.squares / self.count)
        return Statistics(self.count, plain(self.mean), plain(deviations), plain(self.least), plain(self.greatest))


def statistics_of(dataset: Dataset, column: str, given: dict[str, Any]) -> Statistics:
    column = options.text("column", column, "statistics")
    if dataset._joins_rows():
        raise GraphError("statistics: the rows are batches; call it on the dataset before batch, or on ds.unbatch()")
    dataset._finite_count("statistics")
    sums: _Sums | None = None
    for values in _gathered(_rows(dataset, column, given)):
        part = _Sums.of(values)
        sums = part if sums is None else sums.joined(part)
    if sums is None:
        raise DataError(f"statistics: no row has a value in {options.shown(column)}")
    return sums.found()


def _rows(dataset: Dataset, column: str, given: dict[str, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Of each row its values, a row of them for each place before the last axis."""
    width: int | None = None
    for number, row in enumerate(dataset.project(column).iterate(**{**given, "as_": "numpy", "as_tuple": False})):
        values = np.asarray(row[column])
        if values.dtype.kind not in "biuf":
            raise GraphError(f"statistics: {options.shown(column)} holds no numbers; found {values.dtype}")
        values = values.astype(np.float64).reshape(math.prod(values.shape[:-1]), values.shape[-1] if values.ndim else 1)
        if values.size == 0:
            continue
        width = width or values.shape[1]
        if values.shape[1] != width:
            raise DataError(
                f"statistics: the last axis of {options.shown(column)} must have one length; it has {width} in the rows "
                f"before row {number}, and {values.shape[1]} there"
            )
        if not np.isfinite(values).all():
            raise DataError(
                f"statistics: {options.shown(column)} has NaN or infinity in row {number}; filter such rows, or map "
                "them to numbers, first"
            )
        yield values


def _gathered(rows: Iterator[np.ndarray[Any, Any]]) -> Iterator[np.ndarray[Any, Any]]:
    """Rows joined until they have enough values, whatever they were in before."""
    waiting: list[np.ndarray[Any, Any]] = []
    held = 0
    for values in rows:
        waiting.append(values)
        held += values.size
        if held >= AT_ONCE:
            yield np.concatenate(waiting)
            waiting, held = [], 0
    if waiting:
        yield np.concatenate(waiting)
