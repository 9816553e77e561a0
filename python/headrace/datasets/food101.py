"""`Food101`: photographs of dishes."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import class_labels
from headrace._sets.set_table import SetTable

__all__ = ["Food101"]

_SPLITS = ("train", "test", "all")


class Food101(NamedSet):
    """Gives the photographs of dishes of Food-101: 75,750 to train, 25,250 to test.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 100, the line of classes.txt). Rows are in the
    order of the list, those of "all" with train before test.

    Args:
        root: The folder that holds `images` and `meta`, or `food-101` in it.
        split: The rows to give.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Food101("data")
    """

    publisher = "https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "all"] = "train",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "Food101"),
                "missing": choice("missing", missing, MISSING, "Food101"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, missing: str) -> SetTable:
        lists = ["train.txt", "test.txt"] if split == "all" else [f"{split}.txt"]
        names, *files = folder.files(["classes.txt", *lists], ("meta", "food-101/meta"))
        classes = class_labels(names, [text.strip() for _, text in names.lines()])
        entries, labels = [], []
        for file in files:
            for line, text in file.lines():
                label = classes.get(text.strip().rpartition("/")[0])
                if label is None:
                    file.fail(f"{text.strip()!r} is not class/number, with a class of classes.txt", line)
                entries.append(f"{text.strip()}.jpg")
                labels.append(label)
        base = folder.folder("images", "food-101/images")
        kept, left_out = present(folder, base, entries, files[0].path, missing)
        columns = {
            "image": path_column([entries[number] for number in kept]),
            "label": np.array([labels[number] for number in kept], np.int64),
        }
        return SetTable(columns, {"label": classes}, "image", base, left_out)
