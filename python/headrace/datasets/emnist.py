"""`EMnist`: handwritten letters and digits."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Literal

from headrace._arguments.options import choice, flag
from headrace._sets.digit_pictures import SPLITS, idx_name, joined, picture_columns
from headrace._sets.named_set import NamedSet
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["EMnist"]

_MERGED = digits + ascii_uppercase + "abdefghnqrt"
# The characters of each subset where its mapping is not there, and the label of the first.
_CHARACTERS: dict[str, tuple[str, int]] = {
    "byclass": (digits + ascii_uppercase + ascii_lowercase, 0),
    "bymerge": (_MERGED, 0),
    "balanced": (_MERGED, 0),
    "letters": (ascii_uppercase, 1),
    "digits": (digits, 0),
    "mnist": (digits, 0),
}


class EMnist(NamedSet):
    """Gives the pictures of handwritten characters of EMNIST.

    Columns: `image` (uint8: (28, 28, 1)) and `label` (int64, as the files have it: those of "letters" are 1 to 26).
    The names of the classes are those of the mapping beside the files. Rows are in the order of the files, those of
    "all" with train before test. The files are read as they are, or compressed (.gz). All images are kept in memory.

    Args:
        root: The folder that holds the files, or `gzip` or `EMNIST/raw`.
        subset: The six ways in which the publisher divides the characters.
        split: The rows to give.
        upright: Turn the pictures, which the files have by columns, upright. False: as stored.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.EMnist("data", "letters")
    """

    publisher = "https://www.nist.gov/itl/products-and-services/emnist-dataset"

    def __init__(
        self,
        root: str | PathLike[str],
        subset: Literal["byclass", "bymerge", "balanced", "letters", "digits", "mnist"],
        split: Literal["train", "test", "all"] = "train",
        upright: bool = True,
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        arguments = {
            "subset": choice("subset", subset, list(_CHARACTERS), "EMnist"),
            "split": choice("split", split, SPLITS, "EMnist"),
            "upright": flag("upright", upright, "EMnist"),
        }
        self._open(root, arguments, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, subset: str, split: str, upright: bool) -> SetTable:
        below = ("", "raw", "gzip", "EMNIST/raw")
        stems = [f"emnist-{subset}-{part}" for part in (("train", "test") if split == "all" else (split,))]
        wanted = [
            name
            for stem in stems
            for name in (idx_name(f"{stem}-images", "idx3-ubyte"), idx_name(f"{stem}-labels", "idx1-ubyte"))
        ]
        files = folder.files(wanted, below)
        labels = _labels(folder.optional(f"emnist-{subset}-mapping.txt", below), subset)
        parts = [picture_columns(*pair, labels) for pair in zip(files[::2], files[1::2], strict=True)]
        columns = joined(parts, files)
        if upright:
            columns["image"] = columns["image"].swapaxes(1, 2)
        return SetTable(columns, {"label": labels})


def _labels(mapping: SetFile | None, subset: str) -> dict[str, int]:
    """From character to label."""
    if mapping is None:
        characters, first = _CHARACTERS[subset]
        return {character: first + number for number, character in enumerate(characters)}
    found: dict[str, int] = {}
    for line, text in mapping.lines():
        numbers = _numbers(text.split())
        if len(numbers) < 2 or not 0 < numbers[1] < 0x110000 or chr(numbers[1]) in found:
            mapping.fail(f"{text!r} is not a label and the code of a character of its own", line)
        found[chr(numbers[1])] = numbers[0]
    if not found:
        mapping.fail("it is empty")
    return found


def _numbers(words: Sequence[Any]) -> list[int]:
    return [int(word) for word in words] if all(word.isascii() and word.isdigit() for word in words) else []
