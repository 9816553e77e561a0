"""`Caltech101`: pictures of 101 kinds of objects."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from headrace._arguments.options import flag
from headrace._datasets.fields.ragged_column import RaggedColumn
from headrace._sets.folder_table import folder_table
from headrace._sets.mat_file import read_mat
from headrace._sets.named_set import NamedSet
from headrace._sets.object_columns import box_columns
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["Caltech101"]

_BELOW = ("", "caltech101/", "caltech-101/")
_MOST = np.finfo(np.float32).max
# Of classes whose outlines are in a folder of another name.
_OUTLINES = {
    "Faces": "Faces_2",
    "Faces_easy": "Faces_3",
    "Motorbikes": "Motorbikes_16",
    "airplanes": "Airplanes_Side_2",
}


class Caltech101(NamedSet):
    """Gives the pictures of Caltech 101.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 100, the folders in byte order without
    BACKGROUND_Google, which is left out and listed). Rows are in the order of the classes, then of the files' names,
    both in byte order. With `outlines`, also `outline` (float32: (n, 2)), the points around the object as its file has
    them, x and y from the corner of its box, and `boxes` (float32: (1, 4)): left, top, right and bottom.

    Args:
        root: The folder that holds `101_ObjectCategories`, and `Annotations` of the outlines, or `caltech101` in it.
        outlines: Give the outlines of the objects and their boxes, too.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Caltech101("data")
    """

    publisher = "https://data.caltech.edu/records/mzrjq-6wc02"

    def __init__(
        self,
        root: str | PathLike[str],
        outlines: bool = False,
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"outlines": flag("outlines", outlines, "Caltech101")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, outlines: bool) -> SetTable:
        base = folder.folder(*(f"{below}101_ObjectCategories" for below in _BELOW))
        table = folder_table(folder, base, without=("BACKGROUND_Google",))
        if not outlines:
            return table
        wanted = [_outline_file(os.fsdecode(name)) for name in table.columns["image"]]
        columns = _columns(
            [_outline(file) for file in folder.files(wanted, [f"{below}Annotations" for below in _BELOW])]
        )
        return replace(table, columns={**table.columns, **columns})


def _outline_file(picture: str) -> str:
    """Of image_0007.jpg of a class, annotation_0007.mat of the folder of its outlines."""
    kind, name = posixpath.split(picture)
    number = re.sub(r"\D", "", posixpath.splitext(name)[0])
    return f"{_OUTLINES.get(kind, kind)}/annotation_{number}.mat"


class _Outline(NamedTuple):
    points: Any
    box: list[float]


def _outline(file: SetFile) -> _Outline:
    found = read_mat(file, ("obj_contour", "box_coord"))
    points, box = found["obj_contour"], found["box_coord"]
    if points.ndim != 2 or len(points) != 2:
        file.fail(f"its array obj_contour has the shape {points.shape}; an outline has a row of x and one of y")
    if box.size != 4:
        file.fail(f"its array box_coord has {box.size} numbers; a box has four: top, bottom, left and right")
    if not all((np.abs(each) <= _MOST).all() for each in (points, box)):
        file.fail("a number of an outline is beyond float32")
    top, bottom, left, right = box.ravel().tolist()
    return _Outline(points.T, [left, top, right, bottom])


def _columns(outlines: Sequence[_Outline]) -> dict[str, Any]:
    splits = np.cumsum([0, *(len(each.points) for each in outlines)], dtype=np.int64)
    points = np.concatenate([np.zeros((0, 2)), *(each.points for each in outlines)]).astype(np.float32)
    return {"outline": RaggedColumn(points, splits), "boxes": box_columns([[each.box] for each in outlines], "xyxy")}
