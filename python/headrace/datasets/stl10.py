"""`STL10`: pictures of ten kinds of objects, most of them without labels."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice, whole
from headrace._sets.cifar_files import text_lines
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_rows import joined_columns
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels, class_labels
from headrace._sets.set_table import SetTable
from headrace.errors import GraphError

__all__ = ["STL10"]

_SIDE = 96
_SIZE = 3 * _SIDE * _SIDE
_SPLITS = {
    "train": ["train"],
    "test": ["test"],
    "unlabeled": ["unlabeled"],
    "train+unlabeled": ["train", "unlabeled"],
    "all": ["train", "test", "unlabeled"],
}


class STL10(NamedSet):
    """Gives the pictures of STL-10: 5,000 to train, 8,000 to test, 100,000 without labels.

    Columns: `image` (uint8: (96, 96, 3)) and `label` (int64: 0 to 9; -1 of a picture without a label). Rows are in the
    order of the files, those of "all" in the order train, test, unlabeled. All images are kept in memory, those without
    labels in 2.8 GB.

    Args:
        root: The folder that holds `train_X.bin` and the like, or `stl10_binary`.
        split: The rows to give.
        fold: The number of one of the ten folds of train, from 0, whose rows are given; None: all rows.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.STL10("data", "train", fold=0)
    """

    publisher = "https://cs.stanford.edu/~acoates/stl10"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "unlabeled", "train+unlabeled", "all"] = "train",
        fold: int | None = None,
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        splits = choice("split", split, list(_SPLITS), "STL10")
        number = None if fold is None else whole("fold", fold, of="STL10", most=9)
        if number is not None and splits != "train":
            raise GraphError(f"STL10: fold is {number}, and only the split 'train' has folds")
        self._open(root, {"split": splits, "fold": number}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str, fold: int | None) -> SetTable:
        names = ["class_names.txt"] + ["fold_indices.txt"] * (fold is not None)
        for part in _SPLITS[split]:
            names += [f"{part}_X.bin"] + [f"{part}_y.bin"] * (part != "unlabeled")
        files = dict(zip(names, folder.files(names, ("", "stl10_binary")), strict=True))
        classes = class_labels(files["class_names.txt"], text_lines(files["class_names.txt"]))
        parts = (_part(files[f"{part}_X.bin"], files.get(f"{part}_y.bin"), classes) for part in _SPLITS[split])
        count = len(_SPLITS[split])
        columns = next(parts) if count == 1 else joined_columns(parts, count)
        if fold is not None:
            rows = _fold(files["fold_indices.txt"], fold, len(columns["label"]))
            columns = {name: column[rows] for name, column in columns.items()}
        return SetTable(columns, {"label": classes})


def _part(images: SetFile, labels: SetFile | None, classes: dict[str, int]) -> dict[str, Any]:
    data = images.rest()
    if not data or len(data) % _SIZE:
        images.fail(f"its {len(data):,} bytes are not a number of images of {_SIZE:,} bytes")
    # Planes, each by columns.
    pixels = np.frombuffer(data, np.uint8).reshape(-1, 3, _SIDE, _SIDE).transpose(0, 3, 2, 1)
    if labels is None:
        return {"image": pixels, "label": np.full(len(pixels), -1, np.int64)}
    numbers = np.frombuffer(labels.rest(), np.uint8).astype(np.int64) - 1
    if len(numbers) != len(pixels):
        labels.fail(f"it has {len(numbers):,} labels, and {images.path} has {len(pixels):,} images")
    return {"image": pixels, "label": check_labels(labels, numbers, classes)}


def _fold(file: SetFile, fold: int, count: int) -> Any:
    lines = list(file.lines())
    if len(lines) <= fold:
        file.fail(f"it has {len(lines)} folds, and none of number {fold}")
    line, text = lines[fold]
    words = text.split()
    if not all(word.isascii() and word.isdigit() and int(word) < count for word in words):
        file.fail(f"fold {fold} is not a list of rows below {count:,}", line)
    return np.array([int(word) for word in words], np.int64)
