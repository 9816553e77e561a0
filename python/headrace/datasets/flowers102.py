"""`Flowers102`: photographs of flowers."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.mat_file import read_mat
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels
from headrace._sets.set_table import SetTable

__all__ = ["Flowers102"]

_SPLITS = ("train", "valid", "test", "all")
_PARTS = {"train": "trnid", "valid": "valid", "test": "tstid"}
# In the file.
_STORED = {str(number): number for number in range(1, 103)}


class Flowers102(NamedSet):
    """Gives the photographs of flowers of Oxford Flowers 102.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 101; the file has 1 to 102). The publisher gives
    no names of classes; they are "1" to "102". Rows are in the order of setid.mat.

    Args:
        root: The folder that holds `jpg`, imagelabels.mat and setid.mat, or `flowers-102` in it.
        split: The rows to give; the publisher has 1,020 each to train and to validate, and 6,149 to test.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Flowers102("data")
    """

    publisher = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "valid", "test", "all"] = "train",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "Flowers102"),
                "missing": choice("missing", missing, MISSING, "Flowers102"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, missing: str) -> SetTable:
        places = ("", "flowers-102")
        numbered, chosen = folder.files(["imagelabels.mat", "setid.mat"], places)
        given = read_mat(numbered, ("labels",))["labels"].reshape(-1)
        parts = _PARTS if split == "all" else {split: _PARTS[split]}
        held = read_mat(chosen, tuple(parts.values()))
        rows = np.concatenate([held[part].reshape(-1) for part in parts.values()]).astype(np.int64)
        if rows.size and not (1 <= rows.min() and rows.max() <= len(given)):
            chosen.fail(
                f"it names pictures {rows.min()} to {rows.max()}, and {numbered.path} has {len(given):,} labels"
            )
        labels = check_labels(numbered, given, _STORED)[rows - 1] - 1
        names = [f"image_{row:05}.jpg" for row in rows.tolist()]
        base = folder.folder("jpg", "flowers-102/jpg")
        classes = {name: label - 1 for name, label in _STORED.items()}
        kept, left_out = present(folder, base, names, chosen.path, missing)
        columns = {
            "image": path_column([names[number] for number in kept]),
            "label": np.array([labels[number] for number in kept], np.int64),
        }
        return SetTable(columns, {"label": classes}, "image", base, left_out)
