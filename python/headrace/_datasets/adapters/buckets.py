"""Makes `Dataset.bucket_by_length`: batches of rows of similar length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace._datasets.fields.array_columns import array_source
from headrace._datasets.padding import padding
from headrace._datasets.sampler import array_of, numbered
from headrace._graph.adapters import adapts
from headrace.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace._datasets.dataset import Dataset

__all__ = ["by_length"]


@adapts("bucket_by_length")
def by_length(
    rows: Dataset,
    /,
    column: str,
    boundaries: Any,
    batch_sizes: Any,
    pad: str,
    pad_value: float | Mapping[str, float],
    length: Any,
) -> Dataset:
    buckets = {"boundaries": boundaries, "batch_sizes": batch_sizes}
    batch = {"column": column, **buckets, "pad": pad, **padding(rows, "bucket_by_length", pad_value)}
    if length is None:
        return rows._append("bucket_by_length", batch)
    return _in_batches(rows, buckets, length)._append("bucket_batch", batch)


def _in_batches(dataset: Dataset, buckets: dict[str, Any], length: Any) -> Dataset:
    """The rows in the order of the batches that they form."""
    source, orders, maps = _parts(dataset)
    rows = source
    for each in orders:
        rows = _over(rows, each)
    rows = rows._append("bucket_order", {**buckets, "column": _column_of(length)}, [_lengths(source, length)])
    for each in maps:
        rows = _over(rows, each)
    return _as(dataset, rows)


def _parts(dataset: Dataset) -> tuple[Dataset, list[Dataset], list[Dataset]]:
    """The source, the operators on its indices, and the maps: those may as well stand above. Each from below."""
    orders: list[Dataset] = []
    maps: list[Dataset] = []
    while len(dataset._inputs) == 1 or (dataset._inputs and dataset._node.by_number):
        if dataset._node.row_by_row:
            maps.append(dataset)
        elif dataset._node.indexed:
            orders.append(dataset)
        else:
            break
        dataset = dataset._inputs[0]
    _check_indices(dataset)
    return dataset, orders[::-1], maps[::-1]


def _check_indices(dataset: Dataset, above: str = "") -> None:
    """`above`: the operator that joins it with others."""
    if not dataset._node.indexed:
        raise GraphError(
            "bucket_by_length: length= forms batches before rows are read, so only maps, samplers, take, skip, select, "
            "concat, zip and mix of sources with random access may stand below; "
            f"{dataset._node.op} {_why_not(dataset, above)}"
        )
    for each in dataset._inputs:
        _check_indices(each, dataset._node.op)


def _why_not(dataset: Dataset, above: str) -> str:
    if not dataset._inputs:
        return "gives its rows one after the other; leave length out"
    if dataset._node.op == "shuffle":
        return "holds rows back; use shuffle=True of the source"
    if above and dataset._node.row_by_row:
        return f"does not act on indices; put maps above {above}"
    return "does not act on indices; leave length out"


def _over(rows: Dataset, operator: Dataset) -> Dataset:
    copy = operator._copy()
    copy._inputs = (rows, *operator._inputs[1:])
    return copy


def _as(dataset: Dataset, rows: Dataset) -> Dataset:
    """The rows, with all that was set on the dataset besides operators."""
    copy = rows._copy()
    copy._seed, copy._on_error, copy._options = dataset._seed, dataset._on_error, dataset._options
    return copy


def _column_of(length: Any) -> str:
    return length if isinstance(length, str) else "value"


def _lengths(source: Dataset, length: Any) -> Dataset:
    if isinstance(length, str):
        return numbered(source, "bucket_by_length", "lengths", length)
    return array_source({"value": array_of("bucket_by_length", "length", length)})
