"""`FGVCAircraft`: photographs of aircraft."""

from __future__ import annotations

import os
from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import class_labels
from headrace._sets.set_table import SetTable

__all__ = ["FGVCAircraft"]

_SPLITS = ("train", "val", "trainval", "test")
_LEVELS = {"variant": "variants.txt", "family": "families.txt", "manufacturer": "manufacturers.txt"}


class FGVCAircraft(NamedSet):
    """Gives the photographs of aircraft of FGVC-Aircraft, about 3,333 each to train, to validate and to test.

    Columns: `image` (the bytes of the file) and `label` (int64: the line of variants.txt, families.txt or
    manufacturers.txt). Rows are in the order of the list.

    Args:
        root: The folder that holds `images` and the lists, or `data`, `fgvc-aircraft-2013b/data` or the like in it.
        split: The rows to give.
        level: What the labels are: 100 variants, 70 families or 41 manufacturers.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.FGVCAircraft("data", level="family")
    """

    publisher = "https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "val", "trainval", "test"] = "trainval",
        level: Literal["variant", "family", "manufacturer"] = "variant",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "FGVCAircraft"),
                "level": choice("level", level, list(_LEVELS), "FGVCAircraft"),
                "missing": choice("missing", missing, MISSING, "FGVCAircraft"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, level: str, missing: str) -> SetTable:
        places = ("", "data", "fgvc-aircraft-2013b/data")
        kinds, file = folder.files([_LEVELS[level], f"images_{level}_{split}.txt"], places)
        classes = class_labels(kinds, [text.strip() for _, text in kinds.lines()])
        names, labels = [], []
        for line, text in file.lines():
            name, _, kind = text.strip().partition(" ")
            if kind not in classes:
                file.fail(f"{kind!r} is not a line of {_LEVELS[level]}", line)
            names.append(f"{name}.jpg")
            labels.append(classes[kind])
        base = folder.folder(*(os.path.join(place, "images") for place in places))
        kept, left_out = present(folder, base, names, file.path, missing)
        columns = {
            "image": path_column([names[number] for number in kept]),
            "label": np.array([labels[number] for number in kept], np.int64),
        }
        return SetTable(columns, {"label": classes}, "image", base, left_out)
