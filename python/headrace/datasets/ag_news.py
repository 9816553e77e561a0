"""`AGNews`: news in four fields."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.line_source import LineSource, labelled_lines
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder

__all__ = ["AGNews"]

_SPLITS = ("train", "test")
_CLASSES = ("World", "Sports", "Business", "Sci/Tech")


class AGNews(NamedSet):
    """Gives the news of AG News: 120,000 to train, 7,600 to test.

    Columns: `label` (int32: 0 to 3), `title` and `description` (string). Rows are in the order of the file.

    Labels are the numbers of the file less one; a number beyond the classes is an error of its row. The texts are as the
    file has them: a line end within a text is written as a backslash and an n. The engine reads the lines by their
    numbers, so `len` reads the file once.

    Args:
        root: The folder that holds train.csv and test.csv, or `ag_news_csv` in it.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.AGNews("data")
    """

    publisher = "https://github.com/zhangxiangxiao/Crepe"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, _SPLITS, "AGNews")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> LineSource:
        return labelled_lines(folder, split, ("", "ag_news_csv", "AG_NEWS"), _CLASSES, ("title", "description"))
