"""`VCTK`: sentences of newspapers, read by many speakers."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import path_column
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut, SetTable
from headrace._sets.text_column import text_column
from headrace.errors import DataError

__all__ = ["VCTK"]

_MICROPHONES = ("mic1", "mic2")
_SOUNDS = "wav48_silence_trimmed"
_SPEAKER = re.compile(r"[a-z][0-9]+")
_RECORDING = re.compile(r"([a-z][0-9]+_[0-9]+)_(mic[12])\.flac")


class VCTK(NamedSet):
    """Gives the sentences of VCTK 0.92, read by 110 speakers.

    Columns: `audio` (the bytes of the file, of FLAC at 48 kHz), `text` (the bytes of the file of what is said, of
    UTF-8), `speaker` and `utterance` (string). Rows are in byte order of the speakers and of the files' names.
    Recordings without a text, as all of p315, are left out, and listed.

    Args:
        root: The folder that holds `wav48_silence_trimmed` and `txt`, or `VCTK-Corpus-0.92` in it.
        microphone: Which of the two that recorded.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.VCTK("data")
    """

    publisher = "https://datashare.ed.ac.uk/handle/10283/3443"

    def __init__(
        self,
        root: str | PathLike[str],
        microphone: Literal["mic1", "mic2"] = "mic1",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"microphone": choice("microphone", microphone, _MICROPHONES, "VCTK")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, microphone: str) -> SetTable:
        base = os.path.dirname(folder.folder(_SOUNDS, f"VCTK-Corpus-0.92/{_SOUNDS}"))
        texts = folder.folder(os.path.join(base, "txt"))
        rows: list[tuple[str, str]] = []
        speakers = folder.folders(os.path.join(base, _SOUNDS))
        where = folder.path(base, _SOUNDS)
        left_out = [LeftOut(where, each, "it is not a speaker") for each in speakers if not _SPEAKER.fullmatch(each)]
        for speaker in filter(_SPEAKER.fullmatch, speakers):
            said = os.path.join(texts, speaker)
            known = set(folder.entries(said)) if folder.is_folder(said) else set()
            place = os.path.join(base, _SOUNDS, speaker)
            for name in folder.entries(place):
                utterance, reason = _utterance(name, microphone, known)
                if reason:
                    left_out.append(LeftOut(folder.path(place), name, reason))
                elif utterance:
                    rows.append((speaker, utterance))
        if not rows:
            raise DataError(f"{folder.of}: no recordings with texts in {where}")
        audio = [f"{_SOUNDS}/{speaker}/{name}_{microphone}.flac" for speaker, name in rows]
        columns = {
            "audio": path_column(audio),
            "text": path_column([f"txt/{speaker}/{name}.txt" for speaker, name in rows]),
            "speaker": text_column([speaker for speaker, _ in rows]),
            "utterance": text_column([name for _, name in rows]),
        }
        return SetTable(columns, {}, "audio", base, left_out, ("text",))


def _utterance(name: str, microphone: str, known: Collection[str]) -> tuple[str, str]:
    """Its name, empty for that of the other microphone; and why it is left out."""
    found = _RECORDING.fullmatch(name)
    if found is None:
        return "", "it is not a recording"
    if found[2] != microphone:
        return "", ""
    return found[1], "" if f"{found[1]}.txt" in known else "its text is not in the folder txt"
