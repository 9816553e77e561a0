"""`GTSRB`: traffic signs."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.box_doubts import box_doubts
from headrace._sets.named_set import NamedSet
from headrace._sets.object_columns import BOXES, boxes_as
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import csv_rows, whole_numbers
from headrace._sets.set_table import SetTable

__all__ = ["GTSRB"]

_SPLITS = ("train", "test")
_TRAINING = ("Final_Training/Images", "GTSRB/Final_Training/Images", "GTSRB/Training", "Training")
_CLASSES = {str(label): label for label in range(43)}


class GTSRB(NamedSet):
    """Gives the traffic signs of GTSRB: 26,640 or 39,209 to train, 12,630 to test.

    Columns: `image` (the bytes of the file), `label` (int64: 0 to 42) and `boxes` (float32: (1, 4), the sign in the
    picture). The publisher gives no names of classes; they are the labels' numbers. Rows are in the order of the lists,
    those of train by class.

    Args:
        root: The folder that holds `GTSRB`, or what is in it.
        split: The rows to give.
        boxes: The form of boxes: left, top, right and bottom, or left, top, width and height.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.GTSRB("data")
    """

    publisher = "https://benchmark.ini.rub.de/gtsrb_dataset.html"

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
                "split": choice("split", split, _SPLITS, "GTSRB"),
                "boxes": choice("boxes", boxes, BOXES, "GTSRB"),
                "missing": choice("missing", missing, MISSING, "GTSRB"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, boxes: str, missing: str) -> SetTable:
        if split == "test":
            base = folder.folder("Final_Test/Images", "GTSRB/Final_Test/Images")
            files = folder.files(["GT-final_test.csv"], (base, "", "GTSRB", "GTSRB/Final_Test"))
            entries = _entries(files[0], "")
        else:
            base = folder.folder(*_TRAINING)
            kinds = folder.folders(base)
            if not kinds:
                folder.refuse(["00000/ and other folders of classes"], [base], 1)
            files = folder.files([f"{kind}/GT-{kind}.csv" for kind in kinds], (base,))
            entries = [each for kind, file in zip(kinds, files, strict=True) for each in _entries(file, f"{kind}/")]
        kept, left_out = present(folder, base, [name for name, _ in entries], folder.path(base), missing)
        entries = [entries[number] for number in kept]
        numbers = np.array([each for _, each in entries], np.int64).reshape(-1, 7)
        columns = {
            "image": path_column([name for name, _ in entries]),
            "label": numbers[:, 6],
            # The publisher's right and bottom edges are within the box.
            "boxes": boxes_as(numbers[:, 2:6] + [0, 0, 1, 1], boxes).reshape(-1, 1, 4),
        }
        doubts = box_doubts(columns["image"], columns["boxes"], boxes, numbers[:, :2])
        return SetTable(columns, {"label": _CLASSES}, "image", base, left_out, doubts=doubts)


def _entries(file: SetFile, below: str) -> list[tuple[str, list[int]]]:
    """The names of pictures, and the sizes, corners and label of each."""
    rows = csv_rows(file, ";")
    next(rows, None)
    found = []
    for line, (name, *fields) in rows:
        numbers = whole_numbers(file, line, fields, f"what is said of {name}")
        if len(numbers) != 7 or not 0 <= numbers[6] < len(_CLASSES):
            file.fail("it must be a name, two sizes, four corners, and a class of 0 to 42", line)
        found.append((f"{below}{name}", numbers))
    return found
