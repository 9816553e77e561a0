"""`SUN397`: photographs of scenes."""

from __future__ import annotations

import os
from os import PathLike

import numpy as np

from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import class_pictures, path_column
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import class_labels
from headrace._sets.set_table import SetTable

__all__ = ["SUN397"]


class SUN397(NamedSet):
    """Gives the photographs of scenes of SUN397.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 396, the line of ClassName.txt). Rows are in the
    order of the classes, then of the files' names in byte order. Files that are not pictures
    are left out, and listed.

    Args:
        root: The folder that holds ClassName.txt, or `SUN397` in it.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.SUN397("data")
    """

    publisher = "https://vision.princeton.edu/projects/2010/SUN"

    def __init__(
        self,
        root: str | PathLike[str],
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder) -> SetTable:
        (file,) = folder.files(["ClassName.txt"], ("", "SUN397"))
        labels = class_labels(file, [text.strip().removeprefix("/") for _, text in file.lines()])
        base = "" if folder.has(["ClassName.txt"]) else "SUN397"
        absent = [f"{name}/" for name in labels if not folder.is_folder(os.path.join(base, name))]
        if absent:
            folder.refuse(absent, [base], len(labels))
        names, numbers, left_out = class_pictures(folder, base, list(labels))
        # Of classes that are deeper.
        top = len(folder.path(""))
        left_out = [each for each in left_out if not folder.is_folder(os.path.join(each.file[top:], each.entry))]
        columns = {"image": path_column(names), "label": np.array(numbers, np.int64)}
        return SetTable(columns, {"label": labels}, "image", base, left_out)
