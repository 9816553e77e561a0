"""Parts of a dataset: chosen rows, and splits for training and validation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown, whole
from headrace._graph.adapters import adapts
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["Subset"]

# Each is two datasets, which are made at once.
MOST_FOLDS = 10_000


def Subset(dataset: Dataset, indices: Iterable[int]) -> Dataset:
    """The rows with the given numbers: `dataset.select(indices)`, under the name that it has in torch.

    Args:
        dataset: The dataset to choose from.
        indices: Whole numbers from 0 on: a list, a range, or an array of one axis.
    """
    if not hasattr(dataset, "select"):
        raise GraphError(f"Subset: the dataset is {shown(dataset)}; give a headrace.Dataset")
    return dataset.select(indices)


@adapts("select")
def selected(dataset: Dataset, /, indices: Iterable[int]) -> Dataset:
    return dataset._append("select", {"indices": _numbers(indices)})


def _numbers(given: Any) -> list[int]:
    dtype = getattr(given, "dtype", None)
    if dtype is not None:
        return _numbers_of_array(given)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise GraphError(f"select: indices is {shown(given)}; give the numbers of rows, such as [0, 2, 5]")
    numbers = []
    for position, each in enumerate(given):
        if isinstance(each, bool):
            raise GraphError(f"select: indices[{position}] is {each}; give the numbers of rows, not a mask")
        if isinstance(each, str):
            raise GraphError(f"select: indices[{position}] is {each!r}; it chooses rows, and project(columns) columns")
        numbers.append(whole(f"indices[{position}]", each, of="select"))
    return numbers


def _numbers_of_array(given: Any) -> list[int]:
    import numpy as np

    array = np.asarray(given)
    if array.dtype.kind == "b":
        raise GraphError("select: indices is a mask; give the numbers of rows: numpy.flatnonzero(mask)")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size > 0):
        kind = f"an array of {array.dtype} of shape {array.shape}"
        raise GraphError(f"select: indices is {kind}; it must be whole numbers along one axis")
    wrong = np.flatnonzero((array < 0) | (array > (1 << 63) - 1)) if array.size > 0 else array
    if wrong.size > 0:
        whole(f"indices[{wrong[0]}]", array[wrong[0]], of="select")
    numbers: list[int] = array.tolist()
    return numbers


@adapts("split")
def split(dataset: Dataset, /, fractions: Sequence[float], seed: int) -> tuple[Dataset, ...]:
    if isinstance(fractions, Iterator):
        fractions = list(fractions)
    counts = _counts(fractions)
    shares = _shares(fractions) if counts is None else _shares_of_counts(dataset, counts)
    seed = whole("seed", seed, of="split")
    return tuple(
        dataset._append("split", {"fractions": shares, "seed": seed, "part": part}) for part in range(len(shares))
    )


def _counts(given: Any) -> list[int] | None:
    """Whole numbers that are no fractions: the rows of each part."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
        return None
    counts = [each.item() if hasattr(each, "item") else each for each in given]
    whole_numbers = all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in counts)
    return counts if whole_numbers and sum(counts) > 1 else None


def _shares_of_counts(dataset: Dataset, counts: list[int]) -> list[float]:
    """Fractions that come to these numbers of rows."""
    try:
        rows = len(dataset)
    except TypeError as error:
        raise GraphError(f"split: counts of rows need a dataset whose length is known; {error}") from None
    if sum(counts) != rows:
        raise GraphError(
            f"split: the counts {shown(counts)} sum to {sum(counts)}, and there are {rows} rows; they must sum to all, "
            "or give fractions such as [0.8, 0.2]"
        )
    return [count / rows for count in counts]


def _shares(fractions: Any) -> list[float]:
    try:
        # Tried out, because an array without axes says that it is iterable.
        given = None if isinstance(fractions, (str, bytes)) else list(fractions)
    except TypeError:
        given = None
    if given is None:
        raise GraphError(f"split: fractions is {shown(fractions)}; give one for each part, such as [0.8, 0.2]")
    shares = []
    for position, each in enumerate(given):
        try:
            share = math.nan if isinstance(each, (bool, str, bytes)) else float(each)
        except (TypeError, ValueError, OverflowError):
            share = math.nan
        if not 0 < share < math.inf:
            raise GraphError(f"split: fractions[{position}] is {shown(each)}; it must be a number above 0")
        shares.append(share)
    if not shares or abs(sum(shares) - 1) > 1e-9:
        counts = "; counts of rows are whole numbers above 0" if sum(shares) > 1 else ""
        # In so many digits the sum is what it would be on paper.
        raise GraphError(f"split: fractions are {shown(given)}; they must sum to 1, not {sum(shares):.12g}{counts}")
    return shares


@adapts("kfold")
def folds(dataset: Dataset, /, k: int, seed: int) -> list[tuple[Dataset, Dataset]]:
    k = whole("k", k, 2, of="kfold", most=MOST_FOLDS)
    seed = whole("seed", seed, of="kfold")

    def part(fold: int, held_out: bool) -> Dataset:
        return dataset._append("kfold", {"k": k, "seed": seed, "fold": fold, "held_out": held_out})

    return [(part(fold, False), part(fold, True)) for fold in range(k)]
