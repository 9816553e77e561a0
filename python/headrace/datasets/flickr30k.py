"""`Flickr30k`: photographs with five captions each."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.caption_list import caption_table
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["Flickr30k"]

_LISTS = ("results_20130124.token", "results.csv")
_BASES = ("flickr30k-images", "flickr30k_images", "flickr30k_images/flickr30k_images", "Images")


class Flickr30k(NamedSet):
    """Gives the 31,783 photographs of Flickr30k with their captions.

    Columns: `image` (the bytes of the file) and `captions` (string: (n,), in the order of their numbers; n differs
    where a caption is missing). Rows are in the order in which the list of captions first names each photograph. The
    list may be the publisher's, or the CSV of Kaggle.

    Args:
        root: The folder that holds results_20130124.token and the folder of photographs.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Flickr30k("data")
    """

    publisher = "https://shannon.cs.illinois.edu/DenotationGraph"

    def __init__(
        self,
        root: str | PathLike[str],
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"missing": choice("missing", missing, MISSING, "Flickr30k")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, missing: str) -> SetTable:
        (captions,) = folder.files([_LISTS], ("",))
        return caption_table(folder, captions, _BASES, missing)
