"""`KITTI`: objects of streets."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._datasets.fields.ragged_column import RaggedColumn
from headrace._sets.box_doubts import box_doubts
from headrace._sets.named_set import NamedSet
from headrace._sets.object_columns import BOXES, box_columns, ragged_column
from headrace._sets.picture_names import path_column, pictures_below
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import floats, whole_numbers
from headrace._sets.set_table import SetTable

__all__ = ["KITTI"]

_SPLITS = ("train", "test")
_KINDS = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare")
_CLASSES = {name: label for label, name in enumerate(_KINDS)}
# Where they are among the numbers of an object.
_FIELDS = {"truncated": 0, "occluded": 1, "alpha": 2, "rotation_y": 13}


class KITTI(NamedSet):
    """Gives the photographs of streets of KITTI with their objects.

    Columns: `image` (the bytes of the file), and for each object `boxes` (float32: (n, 4)), `label` (int64: (n,)),
    `truncated` (float32: (n,)), `occluded` (int64: (n,), -1 where it is not known), `alpha` (float32: (n,)),
    `dimensions` (float32: (n, 3), height, width and length in metres), `location` (float32: (n, 3)) and `rotation_y`
    (float32: (n,)). Rows are in the order of the files' names; those of "test", which has no labels, have `image`
    alone.

    Args:
        root: The folder that holds `training` and `testing`, or `data_object_image_2` and `data_object_label_2`, or
            `Kitti/raw` in it.
        split: The rows to give.
        boxes: The form of boxes: left, top, right and bottom, or left, top, width and height.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.KITTI("data")
    """

    publisher = "https://www.cvlibs.net/datasets/kitti/eval_object.php"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test"] = "train",
        boxes: Literal["xyxy", "xywh"] = "xyxy",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {"split": choice("split", split, _SPLITS, "KITTI"), "boxes": choice("boxes", boxes, BOXES, "KITTI")},
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, boxes: str) -> SetTable:
        part = {"train": "training", "test": "testing"}[split]
        base = folder.folder(f"{part}/image_2", f"data_object_image_2/{part}/image_2", f"Kitti/raw/{part}/image_2")
        names, left_out = pictures_below(folder, base)
        columns: dict[str, Any] = {"image": path_column(names)}
        if split == "test":
            return SetTable(columns, {}, "image", base, left_out)
        places = ("training/label_2", "data_object_label_2/training/label_2", "Kitti/raw/training/label_2")
        files = folder.files([f"{name.rpartition('.')[0]}.txt" for name in names], places)
        rows = [_objects(file) for file in files]
        found = {field: [[each[1][place] for each in row] for row in rows] for field, place in _FIELDS.items()}
        columns["boxes"] = box_columns([[each[1][3:7] for each in row] for row in rows], boxes)
        columns["label"] = ragged_column([[each[0] for each in row] for row in rows], "int64")
        for field, numbers in found.items():
            columns[field] = ragged_column(numbers, "int64" if field == "occluded" else "float32")
        for field, place in (("dimensions", 7), ("location", 10)):
            flat = [[each[1][place : place + 3] for each in row] for row in rows]
            splits = np.cumsum([0, *map(len, flat)], dtype=np.int64)
            values = np.array([each for row in flat for each in row], np.float32).reshape(-1, 3)
            columns[field] = RaggedColumn(values, splits)
        doubts = box_doubts(columns["image"], columns["boxes"], boxes)
        return SetTable(columns, {"label": _CLASSES}, "image", base, left_out, doubts=doubts)


def _objects(file: SetFile) -> list[tuple[int, list[float]]]:
    """The label of each object, and its 14 numbers."""
    found = []
    for line, text in file.lines():
        kind, *words = text.split()
        if kind not in _CLASSES:
            file.fail(f"{kind!r} is not one of {', '.join(_CLASSES)}", line)
        if len(words) not in (14, 15):
            file.fail(f"an object must have 14 numbers, and has {len(words)}", line)
        whole_numbers(file, line, words[1:2], "what is occluded")
        found.append((_CLASSES[kind], floats(file, line, words[:14], "an object")))
    return found
