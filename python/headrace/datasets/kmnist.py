"""`KMnist`: cursive Japanese characters, in the form of MNIST."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.digit_pictures import SPLITS, mnist_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["KMnist"]

_CLASSES = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class KMnist(NamedSet):
    """Gives the pictures of cursive Japanese characters of Kuzushiji-MNIST: 60,000 to train, 10,000 to test.

    Columns: `image` (uint8: (28, 28, 1)) and `label` (int64: 0 to 9). Rows are in the order of the files, those of
    "all" with train before test. The files are read as they are, or compressed (.gz). All images are kept in memory.

    Args:
        root: The folder that holds the files, or `KMNIST/raw`.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.KMnist("data", "train", shuffle=True)
    """

    publisher = "https://github.com/rois-codh/kmnist"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "all"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        arguments = {"split": choice("split", split, SPLITS, "KMnist")}
        self._open(root, arguments, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        return mnist_table(folder, split, _CLASSES, ("", "raw", "KMNIST/raw"))
