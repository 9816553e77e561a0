"""`Semeion`: black and white digits."""

from __future__ import annotations

from os import PathLike

import numpy as np

from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["Semeion"]

_CLASSES = {str(digit): digit for digit in range(10)}
_PIXELS = 256
_BITS = {"0.0000": 0, "1.0000": 1, "0": 0, "1": 1}


class Semeion(NamedSet):
    """Gives the 1,593 handwritten digits of SEMEION.

    Columns: `image` (uint8: (16, 16, 1), 0 or 255) and `label` (int64: 0 to 9). Rows are in the order of the file.

    Args:
        root: The folder that holds `semeion.data`.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Semeion("data")
    """

    publisher = "https://archive.ics.uci.edu/dataset/178/semeion+handwritten+digit"

    def __init__(
        self,
        root: str | PathLike[str],
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder) -> SetTable:
        (file,) = folder.files(["semeion.data"], ("", "SEMEION", "semeion"))
        labels, rows = [], []
        for line, text in file.lines():
            bits = [_BITS.get(word, -1) for word in text.split()]
            digit = bits[_PIXELS:]
            if len(bits) != _PIXELS + 10 or -1 in bits or sum(digit) != 1:
                file.fail(f"it must have {_PIXELS} numbers of 0 or 1, and 10 of which one is 1", line)
            labels.append(digit.index(1))
            rows.append(bits[:_PIXELS])
        if not rows:
            file.fail("it is empty")
        images = np.array(rows, np.uint8).reshape(-1, 16, 16, 1) * np.uint8(255)
        return SetTable({"image": images, "label": np.array(labels, np.int64)}, {"label": _CLASSES})
