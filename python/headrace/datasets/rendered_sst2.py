"""`RenderedSST2`: sentences of film reviews, drawn as pictures."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.folder_table import folder_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["RenderedSST2"]

_SPLITS = ("train", "valid", "test")


class RenderedSST2(NamedSet):
    """Gives the pictures of sentences of Rendered SST2.

    Columns: `image` (the bytes of the file) and `label` (int64: 0, negative, or 1, positive). Rows are in the order of
    the classes, then of the files' names, both in byte order. Files that are not pictures are left out, and listed.

    Args:
        root: The folder that holds `train`, `valid` and `test`, or `rendered-sst2` in it.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.RenderedSST2("data")
    """

    publisher = "https://github.com/openai/CLIP/blob/main/data/rendered-sst2.md"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "valid", "test"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, _SPLITS, "RenderedSST2")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        return folder_table(folder, folder.folder(split, f"rendered-sst2/{split}"), ("negative", "positive"))
