"""`Places365`: photographs of places."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice, flag
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels
from headrace._sets.set_lines import text_of, whole_numbers
from headrace._sets.set_table import SetTable

__all__ = ["Places365"]

# The list, and the folders of small and of large photographs.
_SPLITS = {
    "train": ("places365_train_standard.txt", ("data_256_standard", "data_256"), ("data_large_standard", "data_large")),
    "train-challenge": ("places365_train_challenge.txt", ("data_256_challenge",), ("data_large_challenge",)),
    "val": ("places365_val.txt", ("val_256",), ("val_large",)),
    "test": ("places365_test.txt", ("test_256",), ("test_large",)),
}
_PLACES = ("", "filelist_places365-standard", "filelist_places365-challenge")


class Places365(NamedSet):
    """Gives the photographs of places of Places365.

    Columns: `image` (the bytes of the file) and `label` (int64: 0 to 364; -1 in "test", which has no labels). The names
    of the classes are those of categories_places365.txt. Rows are in the order of the list.

    Args:
        root: The folder that holds categories_places365.txt, the lists and the folders of photographs.
        split: The rows to give.
        small: Whether the photographs are those of 256 × 256.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Places365("data", "val", small=True)
    """

    publisher = "http://places2.csail.mit.edu/download.html"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "train-challenge", "val", "test"] = "train",
        small: bool = False,
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, list(_SPLITS), "Places365"),
                "small": flag("small", small, "Places365"),
                "missing": choice("missing", missing, MISSING, "Places365"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, small: bool, missing: str) -> SetTable:
        listed, bases = _SPLITS[split][0], _SPLITS[split][1 if small else 2]
        names, listing = folder.files(["categories_places365.txt", listed], _PLACES)
        classes: dict[str, int] = {}
        for line, text in names.lines():
            name, number = _entry(names, line, text)
            if name in classes or number != len(classes):
                names.fail(f"{text!r} must be a class of its own with the number {len(classes)}", line)
            classes[text_of(names, line, name)] = number
        entries = [_entry(listing, line, text, split == "test") for line, text in listing.lines()]
        base = folder.folder(*bases)
        kept, left_out = present(folder, base, [name for name, _ in entries], listing.path, missing)
        entries = [entries[number] for number in kept]
        labels = np.array([label for _, label in entries], np.int64)
        if split != "test":
            labels = check_labels(listing, labels, classes)
        columns = {"image": path_column([name for name, _ in entries]), "label": labels}
        return SetTable(columns, {"label": classes}, "image", base, left_out)


def _entry(file: SetFile, line: int, text: str, alone: bool = False) -> tuple[str, int]:
    """A name and a number; of the list of test, a name alone."""
    name, _, number = text.strip().rpartition(" ")
    if alone:
        name, number = text.strip(), "-1"
    if not name:
        file.fail(f"{text!r} is not a name and a number", line)
    (label,) = whole_numbers(file, line, [number], "the label")
    return name.lstrip("/"), label
