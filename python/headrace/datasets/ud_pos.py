"""`UDPOS`: English words with their parts of speech."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace._sets.token_lines import token_columns

__all__ = ["UDPOS"]

_SPLITS = ("train", "dev", "test")


class UDPOS(NamedSet):
    """Gives the sentences of the English Universal Dependencies, with two tags a word.

    Columns: `word`, `universal` and `stanford` (string: (n,): the words of a sentence and their tags, Universal
    Dependencies' and Penn's). Rows are in the order of the file; blank lines make no row.

    Args:
        root: The folder that holds en-ud-tag.v2.train.txt and the like, or `en-ud-v2` in it.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.UDPOS("data")
    """

    publisher = "https://universaldependencies.org"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "dev", "test"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, _SPLITS, "UDPOS")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        (file,) = folder.files([f"en-ud-tag.v2.{split}.txt"], ("", "en-ud-v2", "UDPOS/en-ud-v2"))
        return SetTable(token_columns(file, ("word", "universal", "stanford"), "\t"))
