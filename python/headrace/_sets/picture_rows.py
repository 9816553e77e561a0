"""Rows of pictures, each picture in one piece of memory, whatever the order of their axes in files is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["joined_columns", "rows_in_memory"]

# Of a picture whose channels are copied one after the other.
_MOST_CHANNELS = 4


def joined_columns(parts: Iterable[Mapping[str, Any]], count: int) -> dict[str, Any]:
    """The rows of all of these `count` parts, copied once. Each part is made when those before it were copied and let go,
    so that few of their files are in memory at once."""
    columns: dict[str, _Rows] = {}
    for part in parts:
        for name, rows in part.items():
            if name not in columns:
                columns[name] = _Rows(rows, count * len(rows))
            columns[name].add(rows)
        del part, rows
    return {name: each.held() for name, each in columns.items()}


def rows_in_memory(rows: Any) -> Any:
    """The array itself where its rows are in one piece already."""
    if rows.flags.c_contiguous:
        return rows
    whole = np.empty(rows.shape, rows.dtype)
    _copy(rows, whole)
    return whole


class _Rows:
    """`room`: how many rows are expected, as most sets have files of one size."""

    def __init__(self, like: Any, room: int) -> None:
        self._whole = np.empty((room, *like.shape[1:]), like.dtype)
        self._count = 0

    def add(self, rows: Any) -> None:
        end = self._count + len(rows)
        if end > len(self._whole):
            larger = np.empty((max(end, 2 * self._count), *rows.shape[1:]), rows.dtype)
            larger[: self._count] = self._whole[: self._count]
            self._whole = larger
        _copy(rows, self._whole[self._count : end])
        self._count = end

    def held(self) -> Any:
        return self._whole[: self._count]


def _copy(rows: Any, into: Any) -> None:
    """Where files have planes, NumPy copies one at a time several times as fast as their pixels: its runs are longer."""
    if rows.ndim != 4 or rows.shape[-1] > _MOST_CHANNELS or rows.flags.c_contiguous:
        into[...] = rows
        return
    for channel in range(rows.shape[-1]):
        into[..., channel] = rows[..., channel]
