"""`Flickr8k`: photographs with five captions each."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.caption_list import caption_table
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["Flickr8k"]

_LISTS = ("Flickr8k.token.txt", "captions.txt")
_BASES = ("Images", "Flicker8k_Dataset", "Flickr8k_Dataset", "Flickr8k_Dataset/Flicker8k_Dataset")
_SPLITS = ("all", "train", "dev", "test")
_NOWHERE = ("2258277193_586949ec62.jpg.1",)


class Flickr8k(NamedSet):
    """Gives the 8,091 photographs of Flickr8k with their captions.

    Columns: `image` (the bytes of the file) and `captions` (string: (n,), in the order of their numbers; n differs
    where a caption is missing). Rows are in the order in which the list of captions first names each photograph. The
    list may be the publisher's, or the CSV of Kaggle. The list names 2258277193_586949ec62.jpg.1, a photograph that no
    copy of the set has: it is always left out, and listed.

    Args:
        root: The folder that holds Flickr8k.token.txt and the folder of photographs.
        split: The rows to give; the lists of the parts are Flickr_8k.trainImages.txt and the like.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Flickr8k("data")
    """

    publisher = "https://hockenmaier.cs.illinois.edu/8k-pictures.html"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["all", "train", "dev", "test"] = "all",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "Flickr8k"),
                "missing": choice("missing", missing, MISSING, "Flickr8k"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, missing: str) -> SetTable:
        part = f"Flickr_8k.{split}Images.txt"
        lists = [(part, f"Flickr8k_text/{part}")] if split != "all" else []
        captions, *parts = folder.files([_LISTS, *lists], ("", "Flickr8k_text"))
        kept = [text.strip() for part in parts for _, text in part.lines()] if parts else None
        return caption_table(folder, captions, _BASES, missing, kept, _NOWHERE)
