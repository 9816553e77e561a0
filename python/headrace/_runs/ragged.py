"""Batches with ragged columns, whose values and splits are columns `boxes` and `boxes_splits`."""

from collections.abc import Collection, Sequence
from typing import Any

__all__ = ["counts_rows", "rows_in"]


def counts_rows(name: str, names: Collection[str]) -> bool:
    """Whether the first axis of the column is that of the batch's rows, as it is not for values and splits."""
    return f"{name}_splits" not in names and not (name.endswith("_splits") and name.removesuffix("_splits") in names)


def rows_in(batch: Any) -> int | None:
    """The number of rows of a batch; None if no column says."""
    if not isinstance(batch, dict):  # Arrow's
        return len(batch)
    for name, value in batch.items():
        if isinstance(value, list):
            return len(value)
        splits = batch.get(f"{name}_splits")
        shape: Sequence[int] = getattr(value if splits is None else splits, "shape", ())
        if len(shape) > 0:
            return shape[0] - (splits is not None)
    return None
