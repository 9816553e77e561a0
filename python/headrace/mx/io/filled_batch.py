"""Fills the last batch of an epoch, which has fewer rows than the others."""

import numpy as np

__all__ = ["filled"]

Columns = dict[str, np.ndarray]


def filled(columns: Columns, first: Columns, batch_size: int, pad_value: float | None = None) -> Columns:
    """`columns` and after them rows of `first`, the first rows of the epoch, as often as needed. Where rows are vectors of
    unequal length in the two, the shorter ones are filled with `pad_value`."""
    behind = np.arange(batch_size - _rows(columns)) % _rows(first)
    joined = {}
    for name, values in columns.items():
        parts = [values, first[name][behind]]
        if pad_value is not None and values.ndim == 2:
            width = max(part.shape[1] for part in parts)
            parts = [_widened(part, width, pad_value) for part in parts]
        joined[name] = np.concatenate(parts)
    return joined


def _widened(values: np.ndarray, width: int, pad_value: float) -> np.ndarray:
    return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=pad_value)


def _rows(columns: Columns) -> int:
    return len(next(iter(columns.values())))
