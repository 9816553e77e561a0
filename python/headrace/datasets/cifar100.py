"""`Cifar100`: small pictures of a hundred kinds of objects."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any, Literal

from headrace._arguments.options import choice
from headrace._sets.cifar_files import has_pickles, pickled_columns, pickled_texts, record_columns, text_lines
from headrace._sets.digit_pictures import SPLITS
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_rows import joined_columns
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import class_labels, with_labels
from headrace._sets.set_table import SetTable

__all__ = ["Cifar100"]

_BINARY = ("", "cifar-100-binary")
_PYTHON = ("", "cifar-100-python")


class Cifar100(NamedSet):
    """Gives the pictures of CIFAR-100: 50,000 to train, 10,000 to test.

    Columns: `image` (uint8: (32, 32, 3)), `label` (int64: 0 to 99, the kind of object) and `coarse_label` (int64: 0 to
    19, the group of kinds). `classes` has the names of `label`; `ds.project("coarse_label").classes` those of the groups.
    Rows are in the order of the files, those of "all" with train before test. Both forms of the publisher are read, the
    binary one first; pickles are read without running what they name. All images are kept in memory.

    Args:
        root: The folder that holds the files, or `cifar-100-binary` or `cifar-100-python`.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Cifar100("data", "train", shuffle=True)
    """

    publisher = "https://www.cs.toronto.edu/~kriz/cifar.html"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "all"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, SPLITS, "Cifar100")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        batches = ["train", "test"] if split == "all" else [split]
        parts: Iterator[dict[str, Any]]
        if has_pickles(folder, batches, _BINARY, _PYTHON):
            *files, meta = folder.files([*batches, "meta"], _PYTHON)
            held = {"label": "fine_labels", "coarse_label": "coarse_labels"}
            fine, coarse = pickled_texts(meta, "fine_label_names", "coarse_label_names")
            classes = {"label": class_labels(meta, fine), "coarse_label": class_labels(meta, coarse)}
            parts = (pickled_columns(file, held) for file in files)
        else:
            names = ["fine_label_names.txt", "coarse_label_names.txt"]
            *files, kinds, groups = folder.files([*(f"{name}.bin" for name in batches), *names], _BINARY)
            classes = {
                "label": class_labels(kinds, text_lines(kinds)),
                "coarse_label": class_labels(groups, text_lines(groups)),
            }
            parts = (record_columns(file, ["coarse_label", "label"]) for file in files)
        checked = (with_labels(file, part, classes) for file, part in zip(files, parts, strict=True))
        return SetTable(joined_columns(checked, len(files)), classes)
