"""`ESC50`: sounds of fifty kinds."""

from __future__ import annotations

import os
from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.headed_csv import headed_csv
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace._sets.text_column import text_column

__all__ = ["ESC50"]

_PLACES = ("", "ESC-50-master", "ESC-50")


class ESC50(NamedSet):
    """Gives the 2,000 sounds of ESC-50, of five seconds each.

    Columns: `audio` (the bytes of the file, of WAV at 44.1 kHz), `label` (int64: 0 to 49), `fold` (int64: 1 to 5),
    `esc10` (bool: whether it is one of ESC-10) and `source` (string: the name of the recording that it is of). Rows are
    in the order of esc50.csv.

    Args:
        root: The folder that holds `meta` and `audio`, or `ESC-50-master` or `ESC-50` in it.
        missing: What to do about recordings that the lists name and that are not there: "error", or "skip" to leave
            them out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.ESC50("data")
    """

    publisher = "https://github.com/karolpiczak/ESC-50"

    def __init__(
        self,
        root: str | PathLike[str],
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"missing": choice("missing", missing, MISSING, "ESC50")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, missing: str) -> SetTable:
        (file,) = folder.files(["esc50.csv"], [os.path.join(each, "meta") for each in _PLACES])
        rows = headed_csv(file, ("filename", "fold", "target", "category", "esc10", "src_file"))
        base = folder.folder(*(os.path.join(each, "audio") for each in _PLACES))
        kept, left_out = present(folder, base, rows.names("filename"), file.path, missing)
        rows = rows.chosen(kept)
        columns = {
            "audio": path_column(rows.names("filename")),
            "label": rows.numbers("target"),
            "fold": rows.numbers("fold"),
            "esc10": rows.flags("esc10"),
            "source": text_column(rows.fields("src_file")),
        }
        return SetTable(columns, {"label": rows.classes("category", "target")}, "audio", base, left_out)
