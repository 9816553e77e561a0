"""`GTZAN`: music of ten genres."""

from __future__ import annotations

import os
from os import PathLike

import numpy as np

from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import path_column
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut, SetTable
from headrace._sets.sound_files import sounds_below

__all__ = ["GTZAN"]

_GENRES = ("blues", "classical", "country", "disco", "hiphop", "jazz", "metal", "pop", "reggae", "rock")


class GTZAN(NamedSet):
    """Gives the 1,000 pieces of music of GTZAN.

    Columns: `audio` (the bytes of the file, of WAV or AU at 22.05 kHz) and `label` (int64: 0 to 9). Rows are in the
    order of the labels, and within one in byte order of the names. Copies have a jazz.00054.wav that cannot be decoded;
    it is a row. There are no divisions to train and to test.

    Args:
        root: The folder that holds the folders of the genres, or `genres` or `genres_original` in it.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.GTZAN("data")
    """

    publisher = "http://marsyas.info/downloads/datasets.html"

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
        place = folder.folder("blues", "genres/blues", "genres_original/blues", "Data/genres_original/blues")
        base = os.path.dirname(place)
        names: list[str] = []
        labels: list[int] = []
        left_out: list[LeftOut] = []
        for label, genre in enumerate(_GENRES):
            found, others = sounds_below(folder, folder.folder(os.path.join(base, genre)), [".wav", ".au"])
            names += [f"{genre}/{name}" for name in found]
            labels += [label] * len(found)
            left_out += others
        columns = {"audio": path_column(names), "label": np.array(labels, np.int64)}
        classes = {genre: number for number, genre in enumerate(_GENRES)}
        return SetTable(columns, {"label": classes}, "audio", base, left_out)
