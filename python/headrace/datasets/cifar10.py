"""`Cifar10`: small pictures of ten kinds of objects."""

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

__all__ = ["Cifar10"]

_BINARY = ("", "cifar-10-batches-bin")
_PYTHON = ("", "cifar-10-batches-py")
_BATCHES = {"train": [f"data_batch_{number}" for number in range(1, 6)], "test": ["test_batch"]}


class Cifar10(NamedSet):
    """Gives the pictures of CIFAR-10: 50,000 to train, 10,000 to test.

    Columns: `image` (uint8: (32, 32, 3)) and `label` (int64: 0 to 9). Rows are in the order of the files, those of
    "all" with train before test. Both forms of the publisher are read, the binary one first; pickles are read without
    running what they name. All images are kept in memory.

    Args:
        root: The folder that holds the files, or `cifar-10-batches-bin` or `cifar-10-batches-py`.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Cifar10("data", "train", shuffle=True)
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
        self._open(root, {"split": choice("split", split, SPLITS, "Cifar10")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        batches = [name for part, names in _BATCHES.items() if split in (part, "all") for name in names]
        parts: Iterator[dict[str, Any]]
        if has_pickles(folder, batches, _BINARY, _PYTHON):
            *files, meta = folder.files([*batches, "batches.meta"], _PYTHON)
            (names,) = pickled_texts(meta, "label_names")
            labels = class_labels(meta, names)
            parts = (pickled_columns(file, {"label": "labels"}) for file in files)
        else:
            *files, meta = folder.files([*(f"{name}.bin" for name in batches), "batches.meta.txt"], _BINARY)
            labels = class_labels(meta, text_lines(meta))
            parts = (record_columns(file, ["label"]) for file in files)
        checked = (with_labels(file, part, {"label": labels}) for file, part in zip(files, parts, strict=True))
        return SetTable(joined_columns(checked, len(files)), {"label": labels})
