"""Fills the last batch of an epoch, which has fewer rows than the others."""

import numpy as np

__all__ = ["filled"]

Columns = dict[str, np.ndarray]


def filled(columns: Columns, first: Columns, batch_size: int) -> Columns:
    """`columns` and behind them rows of `first`, the first rows of the epoch, as often as needed."""
    behind = np.arange(batch_size - _rows(columns)) % _rows(first)
    return {name: np.concatenate([values, first[name][behind]]) for name, values in columns.items()}


def _rows(columns: Columns) -> int:
    return len(next(iter(columns.values())))
