"""`DIV2K`: photographs, large and made small."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice, whole
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, pictures_below, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace.errors import GraphError

__all__ = ["DIV2K"]

_SPLITS = ("train", "valid")
# What the names of small photographs end with.
_FORMS = {"bicubic": "", "unknown": "", "mild": "m", "difficult": "d", "wild": "w"}


class DIV2K(NamedSet):
    """Gives the photographs of DIV2K and what they became when made small: 800 to train, 100 for validation.

    Columns: `hr_image` and `lr_image` (the bytes of the files). Rows are in the order of the large photographs' names;
    of wild, with its four small ones of each photograph, in order of these.

    Args:
        root: The folder that holds `DIV2K_train_HR` and the like.
        split: The rows to give.
        downgrade: How the photographs were made small.
        scale: By how much: 2, 3, 4 or 8; 4 of mild, difficult and wild.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.DIV2K("data", "valid", "unknown", 4)
    """

    publisher = "https://data.vision.ee.ethz.ch/cvl/DIV2K"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "valid"] = "train",
        downgrade: Literal["bicubic", "unknown", "mild", "difficult", "wild"] = "bicubic",
        scale: int = 2,
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "DIV2K"),
                "downgrade": choice("downgrade", downgrade, list(_FORMS), "DIV2K"),
                "scale": _scale(scale, downgrade),
                "missing": choice("missing", missing, MISSING, "DIV2K"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, downgrade: str, scale: int, missing: str) -> SetTable:
        large = folder.folder(f"DIV2K_{split}_HR")
        sub, ending = _small(downgrade, scale)
        small = folder.folder(f"DIV2K_{split}_LR_{sub}")
        names, others = pictures_below(folder, large)
        pairs = []
        for name in names:
            stem = name.rpartition(".")[0]
            variants = [f"{stem}{ending}{number}" for number in range(1, 5)] if downgrade == "wild" else [stem + ending]
            pairs += [(f"{large}/{name}", f"{small}/{each}.png") for each in variants]
        place = folder.path(large)
        kept, left_out = present(folder, "", [second for _, second in pairs], place, missing)
        columns = {
            "hr_image": path_column([pairs[number][0] for number in kept]),
            "lr_image": path_column([pairs[number][1] for number in kept]),
        }
        return SetTable(columns, {}, "hr_image", "", others + left_out, ("lr_image",))


def _small(downgrade: str, scale: int) -> tuple[str, str]:
    """The folder of the small photographs, and what their names have in addition."""
    if downgrade == "bicubic" and scale == 8:
        return "x8", "x8"
    if _FORMS[downgrade]:
        return downgrade, f"x4{_FORMS[downgrade]}"
    return f"{downgrade}/X{scale}", f"x{scale}"


def _scale(scale: int, downgrade: str) -> int:
    number = whole("scale", scale, of="DIV2K")
    known = {"bicubic": (2, 3, 4, 8), "unknown": (2, 3, 4)}.get(downgrade, (4,))
    if number not in known:
        listed = ", ".join(map(str, known))
        raise GraphError(f"DIV2K: scale is {number}; of {downgrade!r} the publisher has {listed}")
    return number
