"""`Omniglot`: characters of fifty alphabets."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.folder_table import folder_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["Omniglot"]


class Omniglot(NamedSet):
    """Gives the characters of Omniglot, each drawn by twenty people.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 963, or to 658; the name of a class is
    alphabet/character). Rows are in the order of the classes, then of the files' names, both in byte order. Files that
    are not pictures are left out, and listed.

    Args:
        root: The folder that holds `images_background` and `images_evaluation`.
        part: The 30 alphabets to learn from, or the 20 others.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Omniglot("data", "evaluation")
    """

    publisher = "https://github.com/brendenlake/omniglot"

    def __init__(
        self,
        root: str | PathLike[str],
        part: Literal["background", "evaluation"] = "background",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"part": choice("part", part, ("background", "evaluation"), "Omniglot")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, part: str) -> SetTable:
        below = f"images_{part}"
        return folder_table(folder, folder.folder(below, f"omniglot-py/{below}", f"omniglot/python/{below}"), depth=2)
