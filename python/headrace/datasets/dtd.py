"""`DTD`: photographs of textures."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice, whole
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import class_labels
from headrace._sets.set_table import SetTable

__all__ = ["DTD"]

_SPLITS = ("train", "val", "test")


class DTD(NamedSet):
    """Gives the photographs of textures of DTD, 1,880 each to train, to validate and to test.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 46, the folders in byte order). Rows are in the
    order of the list.

    Args:
        root: The folder that holds `images` and `labels`, or `dtd` or `dtd/dtd` in it.
        split: The rows to give.
        partition: The number of the division, 1 to 10.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.DTD("data", "val", partition=2)
    """

    publisher = "https://www.robots.ox.ac.uk/~vgg/data/dtd"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "val", "test"] = "train",
        partition: int = 1,
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "DTD"),
                "partition": whole("partition", partition, 1, "DTD", 10),
                "missing": choice("missing", missing, MISSING, "DTD"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, partition: int, missing: str) -> SetTable:
        (file,) = folder.files([f"{split}{partition}.txt"], ("labels", "dtd/labels", "dtd/dtd/labels"))
        base = folder.folder("images", "dtd/images", "dtd/dtd/images")
        classes = class_labels(file, folder.folders(base))
        names = [text.strip() for _, text in file.lines()]
        labels = []
        for number, name in enumerate(names):
            label = classes.get(name.partition("/")[0])
            if label is None:
                file.fail(f"entry {number}, {name!r}, is not in a folder of {base}")
            labels.append(label)
        kept, left_out = present(folder, base, names, file.path, missing)
        columns = {
            "image": path_column([names[number] for number in kept]),
            "label": np.array([labels[number] for number in kept], np.int64),
        }
        return SetTable(columns, {"label": classes}, "image", base, left_out)
