"""`LibriTTS`: sentences of books, read aloud."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.libri_files import LibriForm, libri_table
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["LibriTTS"]

_PARTS = ("dev-clean", "dev-other", "test-clean", "test-other", "train-clean-100", "train-clean-360", "train-other-500")
_FORM = LibriForm(("original_text", "normalized_text"), "\t", "_", ".trans.tsv", ".wav")


class LibriTTS(NamedSet):
    """Gives the read sentences of LibriTTS.

    Columns: `audio` (the bytes of the file, of WAV at 24 kHz), `original_text` and `normalized_text` (string),
    `speaker` and `chapter` (int64) and `utterance` (string: the name of the recording). Rows are in byte order of the
    folders' names, and within a chapter in the order of its list; recordings that the list lacks are left out, and
    listed.

    Args:
        root: The folder that holds `dev-clean` and the like, or `LibriTTS` in it.
        part: The rows to give, by the publisher's names of the folders.
        missing: What to do about recordings that the lists name and that are not there: "error", or "skip" to leave
            them out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.LibriTTS("data", "dev-clean")
    """

    publisher = "https://www.openslr.org/60"

    def __init__(
        self,
        root: str | PathLike[str],
        part: Literal[
            "dev-clean",
            "dev-other",
            "test-clean",
            "test-other",
            "train-clean-100",
            "train-clean-360",
            "train-other-500",
        ],
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "part": choice("part", part, _PARTS, "LibriTTS"),
                "missing": choice("missing", missing, MISSING, "LibriTTS"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, part: str, missing: str) -> SetTable:
        return libri_table(folder, folder.folder(part, f"LibriTTS/{part}"), _FORM, missing)
