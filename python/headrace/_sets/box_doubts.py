"""`box_doubts` counts the boxes of a set that may not be meant: those beyond their picture, and those of no size."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from headrace._datasets.fields.ragged_column import RaggedColumn

__all__ = ["box_doubts"]


def box_doubts(pictures: Any, boxes: Any, form: str, sizes: Any = None) -> dict[str, int | str]:
    """`pictures`: the names, as `path_column` gives them. `boxes`: the column, ragged or of one box a picture. `sizes`:
    width and height of each picture, and 0 where the set does not say it, or None; then a box is beyond its picture
    where it begins left of it or above it."""
    values, splits = (boxes.values, boxes.splits) if isinstance(boxes, RaggedColumn) else (boxes.reshape(-1, 4), None)
    splits = np.arange(len(values) + 1) if splits is None else np.asarray(splits)
    begin, end = values[:, :2], values[:, 2:]
    if form == "xywh":
        end = begin + end
    empty = (end <= begin).any(1)
    outside = (begin < 0).any(1)
    if sizes is not None:
        most = np.repeat(np.asarray(sizes, np.float64).reshape(-1, 2), np.diff(splits), 0)
        outside |= ((end > most) & (most > 0)).any(1)
    doubts: dict[str, int | str] = {"boxes_outside": int(outside.sum()), "boxes_empty": int(empty.sum())}
    return doubts | {
        "first_outside": _first(pictures, splits, outside),
        "first_empty": _first(pictures, splits, empty),
    }


def _first(pictures: Any, splits: Any, marked: Any) -> str:
    if not marked.any():
        return ""
    box = int(marked.argmax())
    row = int(np.searchsorted(splits, box, "right")) - 1
    return f"box {box - int(splits[row])} of {os.fsdecode(pictures[row])}"
