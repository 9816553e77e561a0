"""`SpeechCommands`: spoken words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut, SetTable
from headrace._sets.text_column import text_column
from headrace.errors import DataError

__all__ = ["SpeechCommands"]

_SPLITS = ("train", "valid", "test", "all")
_LISTS = ("validation_list.txt", "testing_list.txt")
_VERSIONS = ("speech_commands_v0.02", "speech_commands_v0.01")
_PLACES = ("", *_VERSIONS, "SpeechCommands", *(f"SpeechCommands/{version}" for version in _VERSIONS))
_NO_WORDS = ("_background_noise_",)
# The word, the speaker, and which of their recordings.
_RECORDING = re.compile(r"([^/._][^/]*)/([0-9A-Za-z]+)_nohash_([0-9]{1,9})\.wav")


class SpeechCommands(NamedSet):
    """Gives the spoken words of Speech Commands: 105,829 of 35 words in version 0.02.

    Columns: `audio` (the bytes of the file, of WAV at 16 kHz), `label` (int64: the word, by the folders in byte order),
    `speaker` (string) and `utterance` (int64: which of the speaker's recordings of the word). Rows are in byte order of
    the words and of the files' names; those of "valid" and "test" in the order of validation_list.txt and
    testing_list.txt. "train" has what neither list names. `_background_noise_` is left out, and listed.

    Args:
        root: The folder that holds the lists and the folders of the words, or `speech_commands_v0.02` or
            `SpeechCommands` in it.
        split: The rows to give.
        missing: What to do about recordings that the lists name and that are not there: "error", or "skip" to leave
            them out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.SpeechCommands("data")
    """

    publisher = "https://arxiv.org/abs/1804.03209"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "valid", "test", "all"] = "train",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "SpeechCommands"),
                "missing": choice("missing", missing, MISSING, "SpeechCommands"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, missing: str) -> SetTable:
        base = folder.place(_LISTS, _PLACES)
        lists = folder.files(_LISTS, [base])
        words = [word for word in folder.folders(base) if word not in _NO_WORDS]
        if not words:
            folder.refuse(["folders of words"], [base], 1)
        if split in ("train", "all"):
            names, left_out = _recordings(folder, base, words)
            listed = set(_listed(*lists)) if split == "train" else set()
            names = [name for name in names if name not in listed]
        else:
            names, left_out = _present(folder, base, lists[split == "test"], missing)
        if not names:
            raise DataError(f"{folder.of}: no recordings in {folder.path(base)}")
        labels = {word: number for number, word in enumerate(words)}
        return SetTable(_columns(names, labels), {"label": labels}, "audio", base, _noises(folder, base) + left_out)


def _columns(names: Sequence[str], labels: Mapping[str, int]) -> dict[str, Any]:
    parts = [found for name in names if (found := _RECORDING.fullmatch(name)) is not None]
    return {
        "audio": path_column(names),
        "label": np.array([labels[found[1]] for found in parts], np.int64),
        "speaker": text_column([found[2] for found in parts]),
        "utterance": np.array([int(found[3]) for found in parts], np.int64),
    }


def _noises(folder: SetFolder, base: str) -> list[LeftOut]:
    where = folder.path(base)
    there = [name for name in _NO_WORDS if folder.is_folder(os.path.join(base, name))]
    return [LeftOut(where, name, "it is not a word") for name in there]


def _present(folder: SetFolder, base: str, file: SetFile, missing: str) -> tuple[list[str], list[LeftOut]]:
    names = list(_listed(file))
    kept, left_out = present(folder, base, names, file.path, missing)
    return [names[number] for number in kept], left_out


def _recordings(folder: SetFolder, base: str, words: Sequence[str]) -> tuple[list[str], list[LeftOut]]:
    names: list[str] = []
    left_out: list[LeftOut] = []
    for word in words:
        place = os.path.join(base, word)
        for entry in folder.entries(place):
            if _RECORDING.fullmatch(f"{word}/{entry}"):
                names.append(f"{word}/{entry}")
            else:
                left_out.append(LeftOut(folder.path(place), entry, "it is not a speaker's recording"))
    return names, left_out


def _listed(*lists: SetFile) -> Iterator[str]:
    for file in lists:
        for line, text in file.lines():
            if _RECORDING.fullmatch(text.strip()) is None:
                file.fail("it must be a word, / and speaker_nohash_number.wav", line)
            yield text.strip()
