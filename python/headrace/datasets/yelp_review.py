"""`YelpReview`: reviews with stars, or as good and bad ones."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.line_source import LineSource, labelled_lines
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder

__all__ = ["YelpReview"]

_SPLITS = ("train", "test")
_CLASSES = {"full": ("1", "2", "3", "4", "5"), "polarity": ("negative", "positive")}


class YelpReview(NamedSet):
    """Gives the reviews of Yelp: 650,000 to train with 1 to 5 stars, or 560,000 that are negative or positive.

    Columns: `label` (int32: 0 to 4, one less than the stars, or 0 and 1) and `text` (string). Rows are in the order of
    the file.

    Labels are the numbers of the file less one; a number beyond the classes is an error of its row. The texts are as the
    file has them: a line end within a text is written as a backslash and an n. The engine reads the lines by their
    numbers, so `len` reads the file once.

    Args:
        root: The folder that holds train.csv and test.csv, or `yelp_review_full_csv` or `yelp_review_polarity_csv` in
            it.
        subset: Stars, or whether a review is negative or positive.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.YelpReview("data", "full")
    """

    publisher = "https://github.com/zhangxiangxiao/Crepe"

    def __init__(
        self,
        root: str | PathLike[str],
        subset: Literal["full", "polarity"],
        split: Literal["train", "test"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "subset": choice("subset", subset, list(_CLASSES), "YelpReview"),
                "split": choice("split", split, _SPLITS, "YelpReview"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, subset: str, split: str) -> LineSource:
        below = ("", f"yelp_review_{subset}_csv")
        return labelled_lines(folder, split, below, _CLASSES[subset], ("text",))
