"""`Tedlium`: talks with what is said in them."""

from __future__ import annotations

import os
from os import PathLike
from typing import Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.segment_list import segments_of
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace._sets.text_column import text_column

__all__ = ["Tedlium"]

_SPLITS = ("train", "dev", "test")
_FOLDERS = {
    "1": ("TEDLIUM_release1",),
    "2": ("TEDLIUM_release2",),
    "3": ("TEDLIUM_release-3/legacy", "legacy"),
}


class Tedlium(NamedSet):
    """Gives the segments of the talks of TED-LIUM.

    Columns: `audio` (the bytes of the file of the whole talk, of NIST's SPHERE at 16 kHz), `start` and `end` (float64:
    the segment's, in seconds), `text` (string), `talk`, `speaker` and `label` (string, as the list has them). Rows are
    in byte order of the talks and in the order of their lists. A row reads its whole talk: shuffled rows read each talk
    as often as it has segments.

    Args:
        root: The folder that holds `TEDLIUM_release1`, `TEDLIUM_release2` or `TEDLIUM_release-3`, or the parts of one.
        release: The release; of the third its legacy division.
        split: The rows to give.
        missing: What to do about recordings that the lists name and that are not there: "error", or "skip" to leave
            them out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Tedlium("data", "2", "dev")
    """

    publisher = "https://www.openslr.org/51"

    def __init__(
        self,
        root: str | PathLike[str],
        release: Literal["1", "2", "3"],
        split: Literal["train", "dev", "test"] = "train",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "release": choice("release", release, list(_FOLDERS), "Tedlium"),
                "split": choice("split", split, _SPLITS, "Tedlium"),
                "missing": choice("missing", missing, MISSING, "Tedlium"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, release: str, split: str, missing: str) -> SetTable:
        base = os.path.dirname(folder.folder(f"{split}/stm", *(f"{each}/{split}/stm" for each in _FOLDERS[release])))
        lists = [name for name in folder.entries(f"{base}/stm") if name.endswith(".stm")]
        if not lists:
            folder.refuse(["lists of segments, *.stm"], [f"{base}/stm"], 1)
        files = folder.files(lists, [f"{base}/stm"])
        segments = [segment for file in files for segment in segments_of(file)]
        if not segments:
            files[0].fail("neither it nor another list has a segment")
        names = [f"{each.talk}.sph" for each in segments]
        place = folder.folder(f"{base}/sph")
        kept, left_out = present(folder, place, names, files[0].path, missing, again=True)
        rows = [segments[number] for number in kept]
        columns = {
            "audio": path_column([names[number] for number in kept]),
            "start": np.array([each.start for each in rows], np.float64),
            "end": np.array([each.end for each in rows], np.float64),
            "text": text_column([each.text for each in rows]),
            "talk": text_column([each.talk for each in rows]),
            "speaker": text_column([each.speaker for each in rows]),
            "label": text_column([each.label for each in rows]),
        }
        return SetTable(columns, {}, "audio", place, left_out)
