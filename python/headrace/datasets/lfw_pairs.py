"""`LFWPairs`: pairs of faces, of one person or of two."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.face_lists import ALIGNED, FACE_PLACES, face_folders, face_pairs
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["LFWPairs"]

_SPLITS = ("train", "test", "10fold")
_LISTS = {"train": "pairsDevTrain.txt", "test": "pairsDevTest.txt", "10fold": "pairs.txt"}


class LFWPairs(NamedSet):
    """Gives the pairs of faces of Labeled Faces in the Wild.

    Columns: `image1` and `image2` (the bytes of the files), and `label` (int64: 1 where both are of one person, else
    0). Rows are in the order of the list.

    Args:
        root: The folder that holds the lists and `lfw`, `lfw_funneled` or `lfw-deepfunneled`, or `lfw-py` in it.
        split: The rows to give, by pairsDevTrain.txt, pairsDevTest.txt or pairs.txt.
        aligned: How the faces were aligned.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.LFWPairs("data", "10fold")
    """

    publisher = "http://vis-www.cs.umass.edu/lfw"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "10fold"] = "train",
        aligned: Literal["no", "funneled", "deepfunneled"] = "funneled",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "LFWPairs"),
                "aligned": choice("aligned", aligned, ALIGNED, "LFWPairs"),
                "missing": choice("missing", missing, MISSING, "LFWPairs"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, aligned: str, missing: str) -> SetTable:
        (file,) = folder.files([_LISTS[split]], FACE_PLACES)
        pairs = face_pairs(file)
        base = folder.folder(*face_folders(aligned))
        names = [name for first, second, _ in pairs for name in (first, second)]
        there, left_out = present(folder, base, names, file.path, missing, again=True)
        kept = set(there)
        rows = [row for row in range(len(pairs)) if {2 * row, 2 * row + 1} <= kept]
        columns = {
            "image1": path_column([pairs[row][0] for row in rows]),
            "image2": path_column([pairs[row][1] for row in rows]),
            "label": np.array([pairs[row][2] for row in rows], np.int64),
        }
        classes = {"different": 0, "same": 1}
        return SetTable(columns, {"label": classes}, "image1", base, left_out, ("image2",))
