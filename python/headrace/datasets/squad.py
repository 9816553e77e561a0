"""`SQuAD`: questions about articles of Wikipedia."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace._sets.squad_file import squad_table

__all__ = ["SQuAD"]

_VERSIONS = ("1.1", "2.0")
_SPLITS = ("train", "dev")


class SQuAD(NamedSet):
    """Gives the questions of SQuAD 1.1 and 2.0, one row each.

    Columns: `id`, `title`, `context` and `question` (string), `answers` (string: (n,)) and `answer_start` (int64: (n,),
    which counts code points of the context); of 2.0 also `is_impossible` (bool), where n is 0. Rows are in the order of
    the file.

    Args:
        root: The folder that holds train-v1.1.json, dev-v1.1.json, train-v2.0.json or dev-v2.0.json.
        version: The version.
        split: The rows to give; the publisher keeps those of test.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.SQuAD("data", "2.0", "dev")
    """

    publisher = "https://rajpurkar.github.io/SQuAD-explorer"

    def __init__(
        self,
        root: str | PathLike[str],
        version: Literal["1.1", "2.0"] = "1.1",
        split: Literal["train", "dev"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "version": choice("version", version, _VERSIONS, "SQuAD"),
                "split": choice("split", split, _SPLITS, "SQuAD"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, version: str, split: str) -> SetTable:
        (file,) = folder.files([f"{split}-v{version}.json"], ("", "SQuAD1" if version == "1.1" else "SQuAD2", "SQuAD"))
        return squad_table(file, version == "2.0")
