"""`SVHN`: digits of house numbers."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.mat_file import read_mat
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_rows import joined_columns
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels
from headrace._sets.set_table import SetTable

__all__ = ["SVHN"]

_CLASSES = {str(digit): digit for digit in range(10)}
# In the files, where 10 stands for 0.
_STORED = {str(digit): digit for digit in range(1, 11)}


class SVHN(NamedSet):
    """Gives the cropped digits of the Street View House Numbers: 73,257 to train, 26,032 to test, 531,131 extra.

    Columns: `image` (uint8: (32, 32, 3)) and `label` (int64: 0 to 9; the 10 of the files is digit 0). Rows are in the
    order of the files, those of "all" in the order train, test, extra. All images are kept in memory, those of extra
    in 1.6 GB. The pictures of whole house numbers are not read.

    Args:
        root: The folder that holds `train_32x32.mat` and the like.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.SVHN("data", "extra")
    """

    publisher = "http://ufldl.stanford.edu/housenumbers"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "extra", "all"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        known = ("train", "test", "extra", "all")
        self._open(root, {"split": choice("split", split, known, "SVHN")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        splits = ["train", "test", "extra"] if split == "all" else [split]
        files = folder.files([f"{each}_32x32.mat" for each in splits], ("", "SVHN", "svhn"))
        if len(files) == 1:
            return SetTable(_part(files[0]), {"label": _CLASSES})
        return SetTable(joined_columns((_part(file) for file in files), len(files)), {"label": _CLASSES})


def _part(file: SetFile) -> dict[str, Any]:
    held = read_mat(file, ("X", "y"))
    pixels, digits = held["X"], held["y"].reshape(-1)
    if pixels.dtype != np.uint8 or pixels.shape[:3] != (32, 32, 3):
        file.fail(f"its X must be uint8 of shape (32, 32, 3, n), and is {pixels.dtype} of shape {pixels.shape}")
    # MATLAB leaves out a last axis of length 1.
    images = pixels.reshape((32, 32, 3, -1), order="F").transpose(3, 0, 1, 2)
    if len(images) != len(digits):
        file.fail(f"it has {len(images):,} images and {len(digits):,} labels")
    return {"image": images, "label": check_labels(file, digits, _STORED) % 10}
