"""`SBU`: photographs with a caption each."""

from __future__ import annotations

from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import text_of
from headrace._sets.set_table import SetTable

__all__ = ["SBU"]


class SBU(NamedSet):
    """Gives the photographs of SBU with their captions.

    Columns: `image` (the bytes of the file) and `caption` (string, without the spaces around it). A photograph is found
    by the last part of its address, or by what follows the address's host with _ in place of /. Rows are in the order
    of the list. As many of the addresses are gone, photographs that are missing are left out, and listed, unless
    `missing` says otherwise.

    Args:
        root: The folder that holds SBU_captioned_photo_dataset_urls.txt, …_captions.txt, and `sbu_images` or `dataset`,
            or `SBU` or `dataset` in it.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.SBU("data")
    """

    publisher = "https://www.cs.rice.edu/~vo9/sbucaptions"

    def __init__(
        self,
        root: str | PathLike[str],
        missing: Literal["error", "skip"] = "skip",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"missing": choice("missing", missing, MISSING, "SBU")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, missing: str) -> SetTable:
        stem = "SBU_captioned_photo_dataset"
        addresses, captions = folder.files([f"{stem}_urls.txt", f"{stem}_captions.txt"], ("", "dataset", "SBU"))
        urls, texts = list(addresses.lines()), list(captions.lines())
        if len(urls) != len(texts):
            captions.fail(f"it has {len(texts):,} captions, and {addresses.path} has {len(urls):,} addresses")
        base = folder.folder("sbu_images", "dataset", "SBU/sbu_images")
        named = [_name(url.strip()) for _, url in urls]
        there = set(folder.entries(base))
        names = [joined if joined in there else last for joined, last in named]
        kept, left_out = present(folder, base, names, addresses.path, missing, again=True)
        held = np.empty(len(kept), object)
        held[:] = [text_of(captions, texts[number][0], texts[number][1].strip()) for number in kept]
        columns = {"image": path_column([names[number] for number in kept]), "caption": held}
        return SetTable(columns, {}, "image", base, left_out)


def _name(url: str) -> tuple[str, str]:
    """The names that a photograph may have."""
    path = url.partition("://")[2].partition("/")[2]
    return path.replace("/", "_"), url.rpartition("/")[2]
