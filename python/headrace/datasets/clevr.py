"""`CLEVR`: rendered scenes of simple things."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.json_rows import json_of, member
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, pictures_below, present
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["CLEVR"]

_SPLITS = ("train", "val", "test")
_BASES = ("", "CLEVR_v1.0", "clevr/CLEVR_v1.0")


class CLEVR(NamedSet):
    """Gives the rendered scenes of CLEVR: 70,000 to train, 15,000 each to validate and to test.

    Columns: `image` (the bytes of the file) and, but for "test", `count` (int64: how many things are in it). Rows are in
    the order of the list of scenes, those of "test", which has none, in byte order of the names.

    Args:
        root: The folder that holds `images` and `scenes`, or `CLEVR_v1.0` in it.
        split: The rows to give.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.CLEVR("data", "val")
    """

    publisher = "https://cs.stanford.edu/people/jcjohns/clevr"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "val", "test"] = "train",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        arguments = {
            "split": choice("split", split, _SPLITS, "CLEVR"),
            "missing": choice("missing", missing, MISSING, "CLEVR"),
        }
        self._open(root, arguments, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str, missing: str) -> SetTable:
        if split == "test":
            base = folder.folder(*(f"{place}/images/test".lstrip("/") for place in _BASES))
            names, left_out = pictures_below(folder, base)
            return SetTable({"image": path_column(names)}, {}, "image", base, left_out)
        (file,) = folder.files([f"scenes/CLEVR_{split}_scenes.json"], _BASES)
        base = folder.folder(*(f"{place}/images/{split}".lstrip("/") for place in _BASES))
        scenes = _scenes(file)
        kept, left_out = present(folder, base, [name for name, _ in scenes], file.path, missing)
        chosen = [scenes[number] for number in kept]
        columns = {
            "image": path_column([name for name, _ in chosen]),
            "count": np.array([count for _, count in chosen], np.int64),
        }
        return SetTable(columns, {}, "image", base, left_out)


def _scenes(file: SetFile) -> list[tuple[str, int]]:
    """The picture of each scene, and how many things are in it."""
    found = []
    for number, scene in enumerate(member(file, json_of(file, bytes(file.rest())), "scenes", list)):
        what = f"scene {number}"
        name = member(file, scene, "image_filename", str, what=what)
        found.append((name, len(member(file, scene, "objects", list, what=what))))
    return found
