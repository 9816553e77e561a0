"""`CMUArctic`: sentences for speech synthesis."""

from __future__ import annotations

import re
from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import text_of
from headrace._sets.set_table import SetTable
from headrace._sets.text_column import text_column

__all__ = ["CMUArctic"]

_SPEAKERS = (
    "aew",
    "ahw",
    "aup",
    "awb",
    "axb",
    "bdl",
    "clb",
    "eey",
    "fem",
    "gka",
    "jmk",
    "ksp",
    "ljm",
    "lnh",
    "rms",
    "rxr",
    "slp",
    "slt",
)
_SENTENCE = re.compile(r"\(\s*([^\s/]+)\s+\"(.*)\"\s*\)")


class CMUArctic(NamedSet):
    """Gives the sentences of a speaker of CMU Arctic, some 1,130 each.

    Columns: `audio` (the bytes of the file, of WAV at 16 kHz), `text` (string) and `utterance` (string: the name of the
    recording). Rows are in the order of txt.done.data.

    Args:
        root: The folder that holds `cmu_us_aew_arctic` and the like.
        speaker: The speaker.
        missing: What to do about recordings that the lists name and that are not there: "error", or "skip" to leave
            them out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.CMUArctic("data", "bdl")
    """

    publisher = "http://festvox.org/cmu_arctic"

    def __init__(
        self,
        root: str | PathLike[str],
        speaker: Literal[
            "aew",
            "ahw",
            "aup",
            "awb",
            "axb",
            "bdl",
            "clb",
            "eey",
            "fem",
            "gka",
            "jmk",
            "ksp",
            "ljm",
            "lnh",
            "rms",
            "rxr",
            "slp",
            "slt",
        ] = "aew",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "speaker": choice("speaker", speaker, _SPEAKERS, "CMUArctic"),
                "missing": choice("missing", missing, MISSING, "CMUArctic"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, speaker: str, missing: str) -> SetTable:
        above = f"cmu_us_{speaker}_arctic"
        (file,) = folder.files(["txt.done.data"], (f"{above}/etc", f"ARCTIC/{above}/etc"))
        found = [(line, _SENTENCE.fullmatch(text_of(file, line, text).strip())) for line, text in file.lines()]
        rows = []
        for line, each in found:
            if each is None:
                file.fail("it must be a name and a text in quotes, between brackets", line)
            rows.append((each[1], each[2]))
        names = [f"{name}.wav" for name, _ in rows]
        base = folder.folder(f"{above}/wav", f"ARCTIC/{above}/wav")
        kept, left_out = present(folder, base, names, file.path, missing)
        columns = {
            "audio": path_column([names[number] for number in kept]),
            "text": text_column([rows[number][1] for number in kept]),
            "utterance": text_column([rows[number][0] for number in kept]),
        }
        return SetTable(columns, {}, "audio", base, left_out)
