"""`USPS`: digits of envelopes."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.digit_pictures import SPLITS
from headrace._sets.named_set import NamedSet
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels
from headrace._sets.set_table import SetTable

__all__ = ["USPS"]

_CLASSES = {str(digit): digit for digit in range(10)}
_PIXELS = 256
_PLACES = [f"{number}" for number in range(1, _PIXELS + 1)]


class USPS(NamedSet):
    """Gives the handwritten digits of USPS: 7,291 to train, 2,007 to test.

    Columns: `image` (uint8: (16, 16, 1); v of the file becomes (v + 1) / 2 · 255, cut to a whole number) and `label`
    (int64: 0 to 9; the files have 1 to 10). Rows are in the order of the files, those of "all" with train before test.

    Args:
        root: The folder that holds `usps` and `usps.t`, plain or compressed (.bz2).
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.USPS("data")
    """

    publisher = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html#usps"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "all"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, SPLITS, "USPS")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        names = {"train": ["usps"], "test": ["usps.t"], "all": ["usps", "usps.t"]}[split]
        parts = [_part(file) for file in folder.files(names, ("", "USPS"))]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return SetTable(columns, {"label": _CLASSES})


def _part(file: SetFile) -> dict[str, Any]:
    labels, rows = [], []
    for line, text in file.lines():
        label, *pairs = text.split()
        places, _, values = zip(*(pair.partition(":") for pair in pairs), strict=True) if pairs else ((), (), ())
        if list(places) != _PLACES:
            file.fail(f"it must have the values 1 to {_PIXELS} in order", line)
        try:
            row = np.array(values, np.float32)
        except ValueError as error:
            file.fail(str(error), line)
        if not (label.isascii() and label.isdigit()) or not (np.abs(row) <= 1).all():
            file.fail("it must have a label of 1 to 10, and values of -1 to 1", line)
        labels.append(int(label) - 1)
        rows.append(((row + 1) / 2 * 255).astype(np.uint8))
    if not rows:
        file.fail("it is empty")
    return {"image": np.stack(rows).reshape(-1, 16, 16, 1), "label": check_labels(file, labels, _CLASSES)}
