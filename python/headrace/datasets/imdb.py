"""`IMDB`: reviews of films."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import path_column
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut, SetTable
from headrace.errors import DataError

__all__ = ["IMDB"]

_SPLITS = ("train", "test", "all", "unsup")
_LABELS = {"neg": 0, "pos": 1, "unsup": -1}
_CLASSES = {"negative": 0, "positive": 1}
_REVIEW = re.compile(r"[0-9]+_([0-9]{1,2})\.txt")


class IMDB(NamedSet):
    """Gives the reviews of films of IMDB: 25,000 to train, 25,000 to test, and 50,000 without a label.

    Columns: `text` (the bytes of the file, of UTF-8), `label` (int64: 0 negative, 1 positive, -1 without a label) and
    `rating` (int64: 1 to 10; 0 without one). Rows are in the order of the labels, those of one label in byte order of
    their files' names, those of "all" with train before test.

    Args:
        root: The folder that holds `train` and `test`, or `aclImdb` in it.
        split: The rows to give; "unsup": those without a label.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.IMDB("data")
    """

    publisher = "https://ai.stanford.edu/~amaas/data/sentiment"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "all", "unsup"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, _SPLITS, "IMDB")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        parts = ["train", "test"] if split == "all" else ["train" if split == "unsup" else split]
        kinds = ["unsup"] if split == "unsup" else ["neg", "pos"]
        place = folder.folder(f"{parts[0]}/{kinds[0]}", f"aclImdb/{parts[0]}/{kinds[0]}")
        base = "aclImdb" if place.startswith("aclImdb/") else ""
        rows, left_out = _reviews(folder, base, [f"{part}/{kind}" for part in parts for kind in kinds])
        columns = {
            "text": path_column([name for name, _ in rows]),
            "label": np.array([_LABELS[name.split("/")[1]] for name, _ in rows], np.int64),
            "rating": np.array([rating for _, rating in rows], np.int64),
        }
        return SetTable(columns, {"label": _CLASSES}, "text", base, left_out)


def _reviews(folder: SetFolder, base: str, places: Sequence[str]) -> tuple[list[tuple[str, int]], list[LeftOut]]:
    """Names and ratings, and what is not a review."""
    rows: list[tuple[str, int]] = []
    left_out: list[LeftOut] = []
    for place in places:
        path = folder.folder(os.path.join(base, place))
        for entry in folder.entries(path):
            found = _REVIEW.fullmatch(entry)
            if found is not None:
                rows.append((f"{place}/{entry}", int(found[1])))
            else:
                where = folder.path(path)
                left_out.append(LeftOut(where, entry, "its name is not a number, _ and a rating"))
    if not rows:
        raise DataError(f"{folder.of}: no reviews in {', '.join(places)} of {folder.path(base)}")
    return rows, left_out
