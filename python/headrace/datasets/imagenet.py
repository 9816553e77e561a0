"""`ImageNet`: pictures of a thousand kinds of things."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.folder_table import folder_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["ImageNet"]

_SPLITS = ("train", "val")


class ImageNet(NamedSet):
    """Gives the pictures of ImageNet of the challenge of 2012, in a folder a class.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 999, the folders in byte order; the name of a
    class is its folder, such as n01440764). Rows are in the order of the classes, then of the files' names, both in
    byte order. Files that are not pictures are left out, and listed.

    Args:
        root: The folder that holds `train` and `val`, with a folder a class in each.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.ImageNet("data", shuffle=True)
    """

    publisher = "https://image-net.org/download.php"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "val"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, _SPLITS, "ImageNet")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        base = folder.folder(split, f"ILSVRC/Data/CLS-LOC/{split}")
        if not folder.folders(base):
            folder.refuse(["n01440764/ and other folders of classes"], [base], 1)
        return folder_table(folder, base)
