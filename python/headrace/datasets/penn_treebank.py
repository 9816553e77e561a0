"""`PennTreebank`: sentences of newspapers."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice, flag
from headrace._sets.line_source import LineSource, text_lines_of
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder

__all__ = ["PennTreebank"]

_SPLITS = ("train", "valid", "test")


class PennTreebank(NamedSet):
    """Gives the lines of the Penn Treebank as Mikolov prepared it.

    Columns: `text` (string: a line as it is, with its blanks). Rows are in the order of the file. The engine reads the
    lines by their numbers, so `len` reads the file once.

    Args:
        root: The folder that holds ptb.train.txt and the like, or `simple-examples/data` in it.
        split: The rows to give.
        skip_empty: Whether lines without a character are left out; one of blanks is a row.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.PennTreebank("data")
    """

    publisher = "http://www.fit.vutbr.cz/~imikolov/rnnlm"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "valid", "test"] = "train",
        skip_empty: bool = False,
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "PennTreebank"),
                "skip_empty": flag("skip_empty", skip_empty, "PennTreebank"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, skip_empty: bool) -> LineSource:
        return text_lines_of(folder.plain(f"ptb.{split}.txt", ("", "simple-examples/data", "PennTreebank")), skip_empty)
