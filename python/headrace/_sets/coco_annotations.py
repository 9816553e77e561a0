"""`read_annotations` reads a file of COCO's annotations into arrays, once in a process as long as the file stays as it is."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from headrace import _engine
from headrace._files.places import absolute, is_far
from headrace._files.system_error import system_error
from headrace._sets.set_file import SetFile

__all__ = ["CocoAnnotations", "CocoCategory", "read_annotations"]

# The files of a set's train and val, of two tasks.
_MOST_KEPT = 4


class CocoCategory(NamedTuple):
    """A category as the file has it. Its number in the column `category` is its place in the list."""

    id: int
    name: str
    supercategory: str
    isthing: bool
    keypoints: tuple[str, ...]
    """Their names."""
    skeleton: tuple[tuple[int, int], ...]
    """Pairs of keypoints, counted from 1."""


@dataclass(frozen=True)
class CocoAnnotations:
    """`columns`: arrays of the images, and of the objects image after image, which no one may change."""

    categories: tuple[CocoCategory, ...]
    doubts: Mapping[str, int | str]
    columns: Mapping[str, Any]
    size: int
    checksum: int

    def of_objects(self, name: str, kept: Any) -> tuple[Any, Any]:
        """The values of a column of objects, and where those of each image begin; of the images that `kept` marks."""
        return _cut(self.columns[name], self.columns["object_splits"], kept)

    def outlines(self, kept: Any) -> tuple[Any, Any]:
        return _cut(self.columns["outlines"], self.columns["outline_splits"], kept)

    def labels(self) -> dict[str, int]:
        """The number of each category, by its name; of those that share a name, with the id."""
        names = [each.name for each in self.categories]
        shared = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
        return {
            f"{each.name} ({each.id})" if each.name in shared else each.name: number
            for number, each in enumerate(self.categories)
        }


_kept: OrderedDict[tuple[Any, ...], CocoAnnotations] = OrderedDict()


def read_annotations(file: SetFile, task: str) -> CocoAnnotations:
    """`task`: "detection", "keypoints", "captions" or "panoptic". DataError, naming the file and the entry."""
    key = (absolute(file.path), task, *_state(file.path))
    found = _kept.get(key)
    if found is None:
        found = _read(file.path, task)
        _kept[key] = found
        if len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    _kept.move_to_end(key)
    file.note(found.size, found.checksum)
    return found


def _state(path: str) -> tuple[Any, ...]:
    """What differs if the file does."""
    if is_far(path):
        return _engine.stat_file(os.fsencode(path)) or ()
    try:
        state = os.stat(path)
    except OSError as error:
        raise system_error(f"cannot read {path}", error) from None
    return state.st_ino, state.st_size, state.st_mtime_ns


def _read(path: str, task: str) -> CocoAnnotations:
    columns = _engine.read_coco(os.fsencode(path), task)
    categories = tuple(
        CocoCategory(number, name, above, thing, tuple(keypoints), tuple(tuple(bone) for bone in skeleton))
        for number, name, above, thing, keypoints, skeleton in columns.pop("categories")
    )
    doubts, size, checksum = (columns.pop(name) for name in ("doubts", "bytes", "checksum"))
    return CocoAnnotations(categories, doubts, columns, size, checksum)


def _cut(values: Any, splits: Any, kept: Any) -> tuple[Any, Any]:
    """Without a copy where all are kept."""
    if kept.all():
        return values, splits
    counts = np.diff(splits)
    marks = np.repeat(kept, counts)
    chosen = values[marks] if isinstance(values, np.ndarray) else [values[at] for at in np.flatnonzero(marks)]
    return chosen, np.cumsum(np.concatenate([[0], counts[kept]]))
