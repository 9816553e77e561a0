"""`CoNLL2000`: English words with their parts of speech and phrases."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace._sets.token_lines import token_columns

__all__ = ["CoNLL2000"]

_SPLITS = ("train", "test")


class CoNLL2000(NamedSet):
    """Gives the sentences of CoNLL-2000's task of chunking: 8,936 to train, 2,012 to test.

    Columns: `word`, `pos_tag` and `chunk_tag` (string: (n,): the words of a sentence, their parts of speech, and the
    phrases that they begin or continue). Rows are in the order of the file; blank lines make no row.

    Args:
        root: The folder that holds train.txt and test.txt.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.CoNLL2000("data")
    """

    publisher = "https://www.clips.uantwerpen.be/conll2000/chunking"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, _SPLITS, "CoNLL2000")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        (file,) = folder.files([f"{split}.txt"], ("", "conll2000", "CoNLL2000Chunking"))
        return SetTable(token_columns(file, ("word", "pos_tag", "chunk_tag"), " "))
