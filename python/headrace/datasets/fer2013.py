"""`FER2013`: faces of seven expressions."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels
from headrace._sets.set_lines import csv_rows, whole_numbers
from headrace._sets.set_table import SetTable

__all__ = ["FER2013"]

_SPLITS = ("train", "public", "private", "all")
_USAGES = {"Training": "train", "PublicTest": "public", "PrivateTest": "private"}
_NAMES = ("angry", "disgust", "fear", "happy", "sad", "surprise", "neutral")
_CLASSES = {name: label for label, name in enumerate(_NAMES)}


class FER2013(NamedSet):
    """Gives the faces of FER2013: 28,709 to train, 3,589 each of the public and the private test.

    Columns: `image` (uint8: (48, 48, 1)) and `label` (int64: 0 to 6). Rows are in the order of fer2013.csv. All images
    are kept in memory.

    Args:
        root: The folder that holds fer2013.csv, or icml_face_data.csv, or `fer2013` in it.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.FER2013("data", "private")
    """

    publisher = "https://www.kaggle.com/c/challenges-in-representation-learning-facial-expression-recognition-challenge"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "public", "private", "all"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, _SPLITS, "FER2013")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        (file,) = folder.files([("fer2013.csv", "icml_face_data.csv")], ("", "fer2013"))
        rows = csv_rows(file)
        head = [each.strip().lower() for each in next(rows, (1, [""]))[1]]
        if not {"emotion", "usage", "pixels"} <= set(head):
            file.fail("its first line must name emotion, Usage and pixels", 1)
        emotion, usage, pixels = (head.index(each) for each in ("emotion", "usage", "pixels"))
        labels, images = [], []
        for line, fields in rows:
            if len(fields) != len(head) or fields[usage].strip() not in _USAGES:
                file.fail(f"it must have {len(head)} fields, with a Usage of {', '.join(_USAGES)}", line)
            if split not in ("all", _USAGES[fields[usage].strip()]):
                continue
            values = whole_numbers(file, line, fields[pixels].split(), "pixels")
            if len(values) != 48 * 48 or min(values) < 0 or max(values) > 255:
                file.fail(f"it must have {48 * 48} pixels of 0 to 255, and has {len(values)}", line)
            images.append(np.array(values, np.uint8))
            labels += whole_numbers(file, line, [fields[emotion]], "the expression")
        stacked = np.stack(images) if images else np.zeros((0, 48 * 48), np.uint8)
        columns = {"image": stacked.reshape(-1, 48, 48, 1), "label": check_labels(file, labels, _CLASSES)}
        return SetTable(columns, {"label": _CLASSES})
