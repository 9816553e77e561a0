"""`folder_table` makes the table of a set with a folder of pictures for each class."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import numpy as np

from headrace._sets.picture_names import class_pictures, path_column
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut, SetTable
from headrace.errors import DataError

__all__ = ["folder_table"]


def folder_table(
    folder: SetFolder,
    base: str,
    classes: Sequence[str] | None = None,
    *,
    without: Sequence[str] = (),
    depth: int = 1,
    name: Callable[[str], str] = str,
) -> SetTable:
    """`classes`: the folders, in the order of their labels; None: all but those `without`, in byte order, `depth` folders
    deep. `name`: that of a class, of its folder."""
    if classes is None:
        found = folder.folders(base)
        for _ in range(depth - 1):
            found = [os.path.join(outer, each) for outer in found for each in folder.folders(os.path.join(base, outer))]
        classes = [each for each in found if each not in without]
    absent = [f"{each}/" for each in classes if not folder.is_folder(os.path.join(base, each))]
    if absent or not classes:
        folder.refuse(absent or ["folders of classes"], [base], len(classes) or 1)
    names, numbers, left_out = class_pictures(folder, base, classes)
    place = folder.path(base)
    left_out = [
        *(LeftOut(place, each, "it is not a class") for each in without if folder.is_folder(os.path.join(base, each))),
        *left_out,
    ]
    labels = {name(each): number for number, each in enumerate(classes)}
    if len(labels) < len(classes):
        raise DataError(f"{folder.of}: two class folders of {place} have one name without their numbers")
    columns = {"image": path_column(names), "label": np.array(numbers, np.int64)}
    return SetTable(columns, {"label": labels}, "image", base, left_out)
