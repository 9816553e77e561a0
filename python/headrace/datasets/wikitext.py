"""`WikiText`: articles of Wikipedia, line by line."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice, flag
from headrace._sets.line_source import LineSource, text_lines_of
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder

__all__ = ["WikiText"]

_SUBSETS = ("2", "103", "2-raw", "103-raw")
_SPLITS = ("train", "valid", "test")


class WikiText(NamedSet):
    """Gives the lines of WikiText-2 and WikiText-103.

    Columns: `text` (string: a line as it is, with its blanks). Rows are in the order of the file. The engine reads the
    lines by their numbers, so `len` reads the file once.

    Args:
        root: The folder that holds wiki.train.tokens and the like, or `wikitext-2` and the like in it.
        subset: The smaller set or the larger one, of words or, as "raw", of characters.
        split: The rows to give.
        skip_empty: Whether lines without a character are left out; one of blanks is a row.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.WikiText("data", "2")
    """

    publisher = "https://www.salesforce.com/blog/the-wikitext-long-term-dependency-language-modeling-dataset"

    def __init__(
        self,
        root: str | PathLike[str],
        subset: Literal["2", "103", "2-raw", "103-raw"],
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
                "subset": choice("subset", subset, _SUBSETS, "WikiText"),
                "split": choice("split", split, _SPLITS, "WikiText"),
                "skip_empty": flag("skip_empty", skip_empty, "WikiText"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, subset: str, split: str, skip_empty: bool) -> LineSource:
        ending = "raw" if subset.endswith("raw") else "tokens"
        return text_lines_of(folder.plain(f"wiki.{split}.{ending}", ("", f"wikitext-{subset}")), skip_empty)
