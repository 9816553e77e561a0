"""`YesNo`: a man who says yes and no in Hebrew."""

from __future__ import annotations

import re
from os import PathLike

import numpy as np

from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import path_column
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut, SetTable
from headrace._sets.sound_files import sounds_below
from headrace.errors import DataError

__all__ = ["YesNo"]

_WORDS = re.compile(r"[01](_[01]){7}\.wav")


class YesNo(NamedSet):
    """Gives the 60 recordings of YesNo.

    Columns: `audio` (the bytes of the file, of WAV at 8 kHz) and `label` (int64: (8,), 1 for each word that is yes, 0
    for no, by the name of the file). Rows are in byte order of the names. Other files of the folder are left out, and
    listed.

    Args:
        root: The folder `waves_yesno`, or the one that holds it.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.YesNo("data")
    """

    publisher = "https://www.openslr.org/1"

    def __init__(
        self,
        root: str | PathLike[str],
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder) -> SetTable:
        base = folder.folder("waves_yesno", "")
        names, left_out = sounds_below(folder, base, [".wav"])
        where = folder.path(base)
        left_out += [
            LeftOut(where, name, "its name is not eight of 0 and 1") for name in names if not _WORDS.fullmatch(name)
        ]
        names = [name for name in names if _WORDS.fullmatch(name)]
        if not names:
            raise DataError(f"{folder.of}: no recording in {where} has a name of eight of 0 and 1")
        words = [[int(word) for word in name[:-4].split("_")] for name in names]
        columns = {"audio": path_column(names), "label": np.array(words, np.int64)}
        return SetTable(columns, {"label": {"no": 0, "yes": 1}}, "audio", base, left_out)
