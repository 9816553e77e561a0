"""`LFWPeople`: faces of known people."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.face_lists import ALIGNED, FACE_PLACES, counted_people, counts_of, face_folders, face_name
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import class_labels
from headrace._sets.set_table import SetTable

__all__ = ["LFWPeople"]

_SPLITS = ("all", "train", "test", "10fold")
_LISTS = {
    "all": "lfw-names.txt",
    "train": "peopleDevTrain.txt",
    "test": "peopleDevTest.txt",
    "10fold": "people.txt",
}


class LFWPeople(NamedSet):
    """Gives the faces of Labeled Faces in the Wild.

    Columns: `image` (the bytes of the file) and `label` (int64: the line of lfw-names.txt). The names of the classes
    are those of the people. Rows are in the order of the list; of "all" in that of lfw-names.txt.

    Args:
        root: The folder that holds the lists and `lfw`, `lfw_funneled` or `lfw-deepfunneled`, or `lfw-py` in it.
        split: The rows to give, by lfw-names.txt, peopleDevTrain.txt, peopleDevTest.txt or people.txt.
        aligned: How the faces were aligned.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.LFWPeople("data", "train")
    """

    publisher = "http://vis-www.cs.umass.edu/lfw"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["all", "train", "test", "10fold"] = "all",
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
                "split": choice("split", split, _SPLITS, "LFWPeople"),
                "aligned": choice("aligned", aligned, ALIGNED, "LFWPeople"),
                "missing": choice("missing", missing, MISSING, "LFWPeople"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, aligned: str, missing: str) -> SetTable:
        known, file = folder.files(["lfw-names.txt", _LISTS[split]], FACE_PLACES)
        counts = counted_people(known)
        classes = class_labels(known, counts)
        names, labels = [], []
        for line, name, count in counts_of(file, split != "all"):
            if name not in classes:
                file.fail(f"{name!r} is not a line of lfw-names.txt", line)
            names += [face_name(name, number) for number in range(1, count + 1)]
            labels += [classes[name]] * count
        base = folder.folder(*face_folders(aligned))
        kept, left_out = present(folder, base, names, file.path, missing)
        columns = {
            "image": path_column([names[number] for number in kept]),
            "label": np.array([labels[number] for number in kept], np.int64),
        }
        return SetTable(columns, {"label": classes}, "image", base, left_out)
