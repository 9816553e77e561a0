"""`LSUN`: photographs of ten kinds of scenes."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice, texts
from headrace._sets.entry_columns import database_file, entry_count
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace.errors import GraphError

__all__ = ["LSUN"]

_SPLITS = ("train", "val", "test")
_CLASSES = (
    "bedroom bridge church_outdoor classroom conference_room dining_room kitchen living_room restaurant tower".split()
)
_PLACES = ("", "lsun")


class LSUN(NamedSet):
    """Gives the photographs of scenes of LSUN, of the publisher's LMDB files.

    Columns: `image` (the bytes of the file) and `label` (int64: the place of the class in `classes`; -1 in "test", which
    has no labels). Rows are in the order of `classes`, and of a class in that of the file's keys. The files are read by
    the engine, ahead and only where pictures are used, as hr.Lmdb reads them.

    Args:
        root: The folder that holds `bedroom_train_lmdb` and the like.
        split: The rows to give.
        classes: The classes to give, whose files alone must be there. None: all ten.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.LSUN("data", "val", ["bedroom", "kitchen"])
    """

    publisher = "https://github.com/fyu/lsun"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "val", "test"] = "train",
        classes: Sequence[str] | None = None,
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        choice("split", split, _SPLITS, "LSUN")
        chosen = None if classes is None else _chosen(classes, split)
        self._open(root, {"split": split, "classes": chosen}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str, classes: list[str] | None) -> SetTable:
        named = list(_CLASSES if classes is None else classes)
        folders = ["test_lmdb"] if split == "test" else [f"{each}_{split}_lmdb" for each in named]
        files = database_file(folder, folders, _PLACES)
        counts = [entry_count(path) for path in files]
        labels = np.repeat(np.arange(len(files)), counts) if split != "test" else np.full(counts, -1)
        known = {name: number for number, name in enumerate(named)} if split != "test" else {}
        return SetTable({"label": labels.astype(np.int64)}, {"label": known}, entries=("image", tuple(files)))


def _chosen(classes: Sequence[str], split: str) -> list[str]:
    found = [choice("classes", each, _CLASSES, "LSUN") for each in texts("classes", classes, "LSUN")]
    if split == "test":
        raise GraphError('LSUN: split "test" has no classes; leave classes out')
    if len(set(found)) < len(found):
        raise GraphError(f"LSUN: classes names a class twice: {', '.join(found)}")
    return found
