"""The folders of LibriSpeech and LibriTTS: a folder for each speaker, in it one for each chapter with what is said."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from headrace._sets.picture_names import path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import text_of
from headrace._sets.set_table import LeftOut, SetTable
from headrace._sets.text_column import text_column
from headrace.errors import DataError

__all__ = ["LibriForm", "libri_table"]

_NUMBER = re.compile(r"[0-9]{1,9}")


class LibriForm(NamedTuple):
    texts: Sequence[str]
    """The columns of what is said: the fields after the name of a recording."""
    separator: str
    joint: str
    """What is between speaker and chapter in the name of the file of what is said."""
    transcript: str
    """The end of this name."""
    ending: str
    """That of a recording's name."""


class _Utterance(NamedTuple):
    file: str
    name: str
    texts: Sequence[str]
    speaker: int
    chapter: int


def libri_table(folder: SetFolder, base: str, form: LibriForm, missing: str) -> SetTable:
    left_out: list[LeftOut] = []
    found = list(_utterances(folder, base, form, left_out))
    if not found:
        raise DataError(f"{folder.of}: no speakers with chapters in {folder.path(base)}")
    names = [f"{each.speaker}/{each.chapter}/{each.name}{form.ending}" for each in found]
    kept, absent = present(folder, base, names, found[0].file, missing)
    rows = [found[number] for number in kept]
    texts = {name: text_column([each.texts[place] for each in rows]) for place, name in enumerate(form.texts)}
    numbers = {
        "speaker": np.array([each.speaker for each in rows], np.int64),
        "chapter": np.array([each.chapter for each in rows], np.int64),
        "utterance": text_column([each.name for each in rows]),
    }
    audio = {"audio": path_column([names[number] for number in kept])}
    return SetTable(audio | texts | numbers, {}, "audio", base, left_out + absent)


def _utterances(folder: SetFolder, base: str, form: LibriForm, left_out: list[LeftOut]) -> Iterator[_Utterance]:
    for speaker in _numbered(folder, base, left_out):
        for chapter in _numbered(folder, os.path.join(base, speaker), left_out):
            yield from _said(folder, base, speaker, chapter, form, left_out)


def _numbered(folder: SetFolder, place: str, left_out: list[LeftOut]) -> list[str]:
    """The folders that numbers name."""
    names = folder.folders(place)
    where = folder.path(place)
    left_out += [LeftOut(where, name, "its name is not a number") for name in names if not _NUMBER.fullmatch(name)]
    return [name for name in names if _NUMBER.fullmatch(name) and name == str(int(name))]


def _said(
    folder: SetFolder, base: str, speaker: str, chapter: str, form: LibriForm, left_out: list[LeftOut]
) -> Iterator[_Utterance]:
    place = os.path.join(base, speaker, chapter)
    (file,) = folder.files([f"{speaker}{form.joint}{chapter}{form.transcript}"], [place])
    unnamed = {name for name in folder.entries(place) if name.endswith(form.ending)}
    for line, text in file.lines():
        name, *texts = text_of(file, line, text).split(form.separator, len(form.texts))
        if len(texts) != len(form.texts) or "/" in name or not name:
            file.fail("it must be the name of a recording and what is said in it", line)
        unnamed.discard(f"{name}{form.ending}")
        yield _Utterance(file.path, name, texts, int(speaker), int(chapter))
    left_out += [LeftOut(folder.path(place), name, f"{file.path} does not name it") for name in sorted(unnamed)]
