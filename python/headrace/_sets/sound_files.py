"""The recordings of a set: the files of sounds in a folder, and what else is there."""

from __future__ import annotations

from collections.abc import Sequence

from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut

__all__ = ["SOUNDS", "sounds_below"]

SOUNDS = (".wav", ".flac", ".sph", ".au", ".mp3", ".ogg")


def sounds_below(folder: SetFolder, place: str, endings: Sequence[str] = SOUNDS) -> tuple[list[str], list[LeftOut]]:
    """The names of the recordings in one folder, in byte order, and what else is there. NotFoundError if there are none."""
    names = folder.entries(place)
    found = [name for name in names if name.lower().endswith(tuple(endings))]
    where = folder.path(place)
    if not found:
        folder.refuse([f"recordings, *{endings[0]}"], [place], 1)
    return found, [LeftOut(where, name, "it is not a recording") for name in sorted(set(names) - set(found))]
