"""`EuroSAT`: pictures of land from a satellite."""

from __future__ import annotations

from os import PathLike

from headrace._sets.folder_table import folder_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["EuroSAT"]


class EuroSAT(NamedSet):
    """Gives the 27,000 pictures of EuroSAT in colours.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 9, the folders in byte order). Rows are in the
    order of the classes, then of the files' names, both in byte order. Files that are not pictures are left out, and
    listed.

    Args:
        root: The folder that holds a folder a class, or `2750` or `EuroSAT` in it.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.EuroSAT("data")
    """

    publisher = "https://github.com/phelber/EuroSAT"

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
        base = folder.folder("2750", "EuroSAT", "EuroSAT_RGB", "eurosat/2750", "")
        return folder_table(folder, base)
