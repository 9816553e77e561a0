"""`OxfordPets`: photographs of cats and dogs."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice, flag
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import text_of, whole_numbers
from headrace._sets.set_table import SetTable

__all__ = ["OxfordPets"]

_SPLITS = ("trainval", "test")


class OxfordPets(NamedSet):
    """Gives the photographs of cats and dogs of Oxford-IIIT Pet.

    Columns: `image` (the bytes of the file), `label` (int64: 0 to 36, the breeds) and `species` (int64: 0 cat, 1 dog).
    Rows are in the order of the list.

    Args:
        root: The folder that holds `images` and `annotations`, or `oxford-iiit-pet` in it.
        split: The rows to give.
        mask: Give a column `mask`, too (the bytes of a PNG: 1 pet, 2 background, 3 border).
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.OxfordPets("data")
    """

    publisher = "https://www.robots.ox.ac.uk/~vgg/data/pets"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["trainval", "test"] = "trainval",
        mask: bool = False,
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "OxfordPets"),
                "mask": flag("mask", mask, "OxfordPets"),
                "missing": choice("missing", missing, MISSING, "OxfordPets"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, mask: bool, missing: str) -> SetTable:
        (file,) = folder.files([f"{split}.txt"], ("annotations", "oxford-iiit-pet/annotations"))
        names, labels, species = [], [], []
        breeds: dict[int, str] = {}
        for line, text in file.lines():
            name, *words = text.split()
            if len(words) != 3:
                file.fail("it must be a name and three numbers", line)
            breed, kind, _ = whole_numbers(file, line, words, f"what is said of {name}")
            named = " ".join(name.rpartition("_")[0].split("_")).title()
            if not 1 <= breed <= 37 or kind not in (1, 2) or breeds.setdefault(breed, named) != named:
                file.fail(f"{name} cannot be of breed {breed} and species {kind}", line)
            names.append(name)
            labels.append(breed - 1)
            species.append(kind - 1)
        place = folder.folder("images", "oxford-iiit-pet/images").removesuffix("images")
        pictures = [f"{place}images/{name}.jpg" for name in names]
        masks = [f"{place}annotations/trimaps/{name}.png" for name in names]
        kept, left_out = present(folder, "", pictures, file.path, missing)
        if mask:
            masked, further = present(folder, "", masks, file.path, missing)
            kept, left_out = sorted(set(kept) & set(masked)), left_out + further
        columns = {
            "image": path_column([pictures[number] for number in kept]),
            "label": np.array([labels[number] for number in kept], np.int64),
            "species": np.array([species[number] for number in kept], np.int64),
        }
        if mask:
            columns["mask"] = path_column([masks[number] for number in kept])
        classes = {text_of(file, 1, breeds[breed]): breed - 1 for breed in sorted(breeds)}
        of_columns = {"label": classes, "species": {"cat": 0, "dog": 1}}
        if mask:
            of_columns["mask"] = {"pet": 1, "background": 2, "border": 3}
        return SetTable(columns, of_columns, "image", "", left_out, ("mask",) * mask)
