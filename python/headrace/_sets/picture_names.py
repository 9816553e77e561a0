"""The pictures of a set: names that its lists have, or its folders, and which of them are there."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace._files.places import absolute
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut
from headrace.errors import DataError

__all__ = ["MISSING", "class_pictures", "path_column", "paths_below", "pictures_below", "present"]

# What a set may do about pictures that its lists name and that are not there.
MISSING = ("error", "skip")
_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".webp", ".tif", ".tiff")


def path_column(names: Sequence[str]) -> Any:
    """Names of files, whatever their bytes are."""
    return np.array([os.fsencode(name) for name in names], "S" if names else "S1")


def paths_below(base: str, names: Any) -> Any:
    """Whole paths of what `path_column` gives."""
    return np.char.add(os.fsencode(os.path.join(absolute(base), "")), names)


def present(
    folder: SetFolder, base: str, names: Sequence[str], named_by: str, missing: str, *, again: bool = False
) -> tuple[list[int], list[LeftOut]]:
    """The numbers of those names of files below `base` that are there, and what is left out. NotFoundError names those
    that are missing, unless they are skipped; DataError one that leads elsewhere, or comes twice, unless names may come
    `again`."""
    _check(names, named_by, again)
    by_folder: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        by_folder[os.path.dirname(name)].append(number)
    absent: list[int] = []
    for sub, numbers in by_folder.items():
        place = os.path.join(base, sub) if sub else base
        there = set(folder.entries(place)) if folder.is_folder(place) else set()
        absent += [number for number in numbers if os.path.basename(names[number]) not in there]
    absent.sort()
    if absent and missing == "error":
        folder.refuse([names[number] for number in absent], [base], len(names), 'missing="skip" leaves them out')
    gone = set(absent)
    left_out = [LeftOut(named_by, names[number], f"it is not in {folder.path(base)}") for number in absent]
    return [number for number in range(len(names)) if number not in gone], left_out


def _check(names: Sequence[str], named_by: str, again: bool) -> None:
    for name in names:
        if name.startswith("/") or ".." in name.split("/"):
            raise DataError(f"{named_by}: {name!r} is not the path of a file within a folder")
    if again or len(set(names)) == len(names):
        return
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"{named_by}: {name} comes twice")
        seen.add(name)


def class_pictures(
    folder: SetFolder, base: str, classes: Sequence[str], endings: Sequence[str] = _ENDINGS
) -> tuple[list[str], list[int], list[LeftOut]]:
    """Of a folder a class: the files' names, in byte order within each class; the numbers of their classes; and what is
    not a picture."""
    names: list[str] = []
    numbers: list[int] = []
    left_out: list[LeftOut] = []
    for number, each in enumerate(classes):
        found, others = pictures_below(folder, os.path.join(base, each), endings)
        names += [f"{each}/{name}" for name in found]
        numbers += [number] * len(found)
        left_out += others
    if not names:
        raise DataError(f"{folder.of}: no pictures in the class folders of {folder.path(base)}")
    return names, numbers, left_out


def pictures_below(folder: SetFolder, place: str, endings: Sequence[str] = _ENDINGS) -> tuple[list[str], list[LeftOut]]:
    """The names of the pictures in one folder, and what else is there."""
    found: list[str] = []
    left_out: list[LeftOut] = []
    for name in folder.entries(place):
        if name.lower().endswith(tuple(endings)):
            found.append(name)
        else:
            left_out.append(LeftOut(folder.path(place), name, "it is not a picture"))
    return found, left_out
