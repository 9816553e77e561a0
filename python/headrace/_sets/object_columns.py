"""Columns of what is in pictures: boxes in the form that is asked for, and lists that differ in length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace._datasets.fields.ragged_column import RaggedColumn

__all__ = ["BOXES", "box_columns", "boxes_as", "ragged_column", "ragged_texts"]

BOXES = ("xyxy", "xywh")


def boxes_as(corners: Any, form: str) -> Any:
    """float32 of shape (n, 4), of left, top, right and bottom."""
    boxes = np.asarray(corners, np.float64).reshape(-1, 4)
    if form == "xywh":
        boxes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], 1)
    return boxes.astype(np.float32)


def box_columns(rows: Sequence[Sequence[Sequence[float]]], form: str) -> RaggedColumn:
    """The boxes of each picture, of which it may have none, given by their corners."""
    return RaggedColumn(boxes_as([box for row in rows for box in row], form), _splits(rows))


def ragged_column(rows: Sequence[Sequence[Any]], dtype: str) -> RaggedColumn:
    """Numbers of each picture."""
    return RaggedColumn(np.array([each for row in rows for each in row], dtype), _splits(rows))


def ragged_texts(rows: Sequence[Sequence[str]]) -> RaggedColumn:
    values = np.empty(sum(map(len, rows)), object)
    values[:] = [text for row in rows for text in row]
    return RaggedColumn(values, _splits(rows))


def _splits(rows: Sequence[Sequence[Any]]) -> Any:
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)
