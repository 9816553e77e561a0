"""`StanfordCars`: photographs of cars."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.box_doubts import box_doubts
from headrace._sets.named_set import NamedSet
from headrace._sets.object_columns import BOXES, boxes_as
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import class_labels
from headrace._sets.set_lines import csv_rows, whole_numbers
from headrace._sets.set_table import SetTable

__all__ = ["StanfordCars"]

_SPLITS = ("train", "test")


class StanfordCars(NamedSet):
    """Gives the photographs of cars of Stanford Cars: 8,144 to train, 8,041 to test.

    Columns: `image` (the bytes of the file), `label` (int64: 0 to 195; the files have 1 to 196) and `boxes` (float32:
    (1, 4), the car). The lists are read in the form of CSV, which mirrors give beside the publisher's .mat of
    structures: names.csv, anno_train.csv and anno_test.csv. Rows are in the order of the list.

    Args:
        root: The folder that holds the lists and `cars_train` and `cars_test`, or `car_data/car_data/train` and `test`.
        split: The rows to give.
        boxes: The form of boxes: left, top, right and bottom, or left, top, width and height.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.StanfordCars("data")
    """

    publisher = "https://ai.stanford.edu/~jkrause/cars/car_dataset.html"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test"] = "train",
        boxes: Literal["xyxy", "xywh"] = "xyxy",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "StanfordCars"),
                "boxes": choice("boxes", boxes, BOXES, "StanfordCars"),
                "missing": choice("missing", missing, MISSING, "StanfordCars"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, boxes: str, missing: str) -> SetTable:
        kinds, file = folder.files(["names.csv", f"anno_{split}.csv"], ("", "stanford_cars"))
        classes = class_labels(kinds, [text.strip().strip('"') for _, text in kinds.lines()])
        kinds_by_label = list(classes)
        entries = []
        for line, (name, *fields) in csv_rows(file):
            numbers = whole_numbers(file, line, fields, f"what is said of {name}")
            if len(numbers) != 5 or not 1 <= numbers[4] <= len(classes):
                file.fail(f"it must be a name, four corners, and a class of 1 to {len(classes)}", line)
            entries.append((name, kinds_by_label[numbers[4] - 1], numbers))
        base = folder.folder(f"cars_{split}", f"stanford_cars/cars_{split}", f"car_data/car_data/{split}")
        deep = not base.rpartition("/")[2].startswith("cars_")
        names = [f"{kind}/{name}" if deep else name for name, kind, _ in entries]
        kept, left_out = present(folder, base, names, file.path, missing)
        corners = np.array([entries[number][2] for number in kept], np.int64).reshape(-1, 5)
        columns = {
            "image": path_column([names[number] for number in kept]),
            "label": corners[:, 4] - 1,
            # The publisher's corners are pixels, numbered from 1, within the box.
            "boxes": boxes_as(corners[:, :4] - [1, 1, 0, 0], boxes).reshape(-1, 1, 4),
        }
        doubts = box_doubts(columns["image"], columns["boxes"], boxes)
        return SetTable(columns, {"label": classes}, "image", base, left_out, doubts=doubts)
