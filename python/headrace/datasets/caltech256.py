"""`Caltech256`: pictures of 256 kinds of objects."""

from __future__ import annotations

from os import PathLike

from headrace._sets.folder_table import folder_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["Caltech256"]


class Caltech256(NamedSet):
    """Gives the pictures of Caltech 256.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 256, the folders in byte order; 256 is clutter).
    Rows are in the order of the classes, then of the files' names, both in byte order. Files that are not pictures are
    left out, and listed.

    Args:
        root: The folder that holds `256_ObjectCategories`, or `caltech256` in it.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Caltech256("data")
    """

    publisher = "https://data.caltech.edu/records/nyy15-4j048"

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
        base = folder.folder("256_ObjectCategories", "caltech256/256_ObjectCategories")
        return folder_table(folder, base, name=lambda each: each.partition(".")[2] or each)
