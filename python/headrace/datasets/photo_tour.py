"""`PhotoTour`: patches of photographs, and which show the same point."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice, text
from headrace._sets.bitmap_file import grey_pixels
from headrace._sets.named_set import NamedSet
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import whole_numbers
from headrace._sets.set_table import SetTable

__all__ = ["PhotoTour"]

_SPLITS = ("train", "test")
_PAIRS = "m50_100000_100000_0.txt"
_OF_SHEET = 256


class PhotoTour(NamedSet):
    """Gives the patches of Photo Tourism: of Notre Dame, Yosemite, Liberty and others.

    Columns: of "train" `image` (uint8: (64, 64, 1)) and `point` (int64: the number of the point that the patch shows).
    Of "test" `image1`, `image2` (uint8: (64, 64, 1)) and `match` (int64: 1 where both show the same point). Rows are
    in the order of the patches, or of the list of pairs. All patches are kept in memory, up to 1.9 GB.

    Args:
        root: The folder that holds a folder of the given subset.
        subset: The name of its folder, such as "notredame" or "liberty_harris".
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.PhotoTour("data", "liberty")
    """

    publisher = "http://phototour.cs.washington.edu/patches"

    def __init__(
        self,
        root: str | PathLike[str],
        subset: str,
        split: Literal["train", "test"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {"subset": text("subset", subset, "PhotoTour"), "split": choice("split", split, _SPLITS, "PhotoTour")},
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, subset: str, split: str) -> SetTable:
        base = folder.folder(subset)
        info, *lists = folder.files(["info.txt", *([_PAIRS] if split == "test" else [])], (base,))
        points = [whole_numbers(info, line, text.split()[:1], "the point")[0] for line, text in info.lines()]
        sheets = folder.files([f"patches{number:04}.bmp" for number in range(-(-len(points) // _OF_SHEET))], (base,))
        patches = np.zeros((0, 64, 64, 1), np.uint8)
        if sheets:
            patches = np.concatenate([_patches(sheet) for sheet in sheets])[: len(points)]
        if split == "train":
            return SetTable({"image": patches, "point": np.array(points, np.int64)})
        pairs = np.array([_pair(lists[0], line, text, len(points)) for line, text in lists[0].lines()], np.int64)
        first, second, match = pairs.reshape(-1, 3).T
        classes = {"different": 0, "same": 1}
        return SetTable({"image1": patches[first], "image2": patches[second], "match": match}, {"match": classes})


def _patches(sheet: SetFile) -> Any:
    """The 16 × 16 patches of a sheet, row by row."""
    pixels = grey_pixels(sheet)
    if pixels.shape != (1024, 1024):
        sheet.fail(f"it must have 1024 × 1024 pixels, and has {pixels.shape[1]} × {pixels.shape[0]}")
    return pixels.reshape(16, 64, 16, 64).swapaxes(1, 2).reshape(_OF_SHEET, 64, 64, 1)


def _pair(file: SetFile, line: int, text: str, count: int) -> tuple[int, int, int]:
    numbers = whole_numbers(file, line, text.split(), "a pair")
    if len(numbers) < 5 or not (0 <= numbers[0] < count and 0 <= numbers[3] < count):
        file.fail(f"it must have two patches below {count:,}, each with its point", line)
    return numbers[0], numbers[3], int(numbers[1] == numbers[4])
