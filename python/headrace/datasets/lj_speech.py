"""`LJSpeech`: sentences of books, read by one speaker."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import text_of
from headrace._sets.set_table import SetTable
from headrace._sets.text_column import text_column

__all__ = ["LJSpeech"]

_FIELDS = 3


class LJSpeech(NamedSet):
    """Gives the 13,100 sentences of LJ Speech.

    Columns: `audio` (the bytes of the file, of WAV at 22.05 kHz), `text` and `normalized_text` (string) and `utterance`
    (string: the name of the recording). Rows are in the order of metadata.csv.

    Args:
        root: The folder that holds metadata.csv and `wavs`, or `LJSpeech-1.1` in it.
        missing: What to do about recordings that the lists name and that are not there: "error", or "skip" to leave
            them out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.LJSpeech("data")
    """

    publisher = "https://keithito.com/LJ-Speech-Dataset"

    def __init__(
        self,
        root: str | PathLike[str],
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"missing": choice("missing", missing, MISSING, "LJSpeech")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, missing: str) -> SetTable:
        (file,) = folder.files(["metadata.csv"], ("", "LJSpeech-1.1"))
        rows = [(line, text_of(file, line, text).split("|")) for line, text in file.lines()]
        for line, fields in rows:
            if len(fields) != _FIELDS or "/" in fields[0]:
                file.fail("it must be a name, a text and a normalized text between bars", line)
        names = [f"{fields[0]}.wav" for _, fields in rows]
        base = folder.folder("wavs", "LJSpeech-1.1/wavs")
        kept, left_out = present(folder, base, names, file.path, missing)
        columns = {
            "audio": path_column([names[number] for number in kept]),
            "text": text_column([rows[number][1][1] for number in kept]),
            "normalized_text": text_column([rows[number][1][2] for number in kept]),
            "utterance": text_column([rows[number][1][0] for number in kept]),
        }
        return SetTable(columns, {}, "audio", base, left_out)
