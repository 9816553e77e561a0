"""`Caltech101`: pictures of 101 kinds of objects."""

from __future__ import annotations

from os import PathLike

from headrace._sets.folder_table import folder_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["Caltech101"]


class Caltech101(NamedSet):
    """Gives the pictures of Caltech 101.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 100, the folders in byte order without
    BACKGROUND_Google, which is left out and listed). Rows are in the order of the classes, then of the files' names,
    both in byte order. The outlines of the objects are not read.

    Args:
        root: The folder that holds `101_ObjectCategories`, or `caltech101` in it.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Caltech101("data")
    """

    publisher = "https://data.caltech.edu/records/mzrjq-6wc02"

    def __init__(
        self,
        root: str | PathLike[str],
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder) -> SetTable:
        base = folder.folder(
            "101_ObjectCategories", "caltech101/101_ObjectCategories", "caltech-101/101_ObjectCategories"
        )
        return folder_table(folder, base, without=("BACKGROUND_Google",))
