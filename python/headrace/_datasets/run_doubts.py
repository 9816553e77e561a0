"""Doubts that only the data show, when a run begins: parts of pairs that are missing, images that are left out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.doubts import warn_once
from headrace._datasets.base import ordered
from headrace._datasets.class_names import has_class_folders
from headrace._files.places import is_far
from headrace.errors import Error

if TYPE_CHECKING:
    from headrace._datasets.runs import Runs

__all__ = ["warn_of_data", "warn_of_far_rows"]

# The default of ImageFolder, and what Decode reads besides.
_DEFAULT = (".jpg", ".jpeg", ".png")
_READ = (".bmp", ".gif", ".jfif", ".jpe", ".tif", ".tiff", ".webp")
# Names that are looked at: enough to see what a folder holds, and few enough for a first batch not to wait for them.
_MOST_NAMES = 20_000
# So many rows are meant to have no end.
_ENDLESS = 1 << 60


def warn_of_data(dataset: Runs, epoch: int) -> None:
    """Warns once for each line."""
    for each in ordered(dataset)[1]:
        if each._node.side_by_side:
            _warn_of_lengths(each, epoch)
        elif has_class_folders(each._node):
            _warn_of_endings(each)


def warn_of_far_rows(dataset: Runs, ranks: int) -> None:
    """Warns once for each line of a source whose far files each rank reads and pays for."""
    if ranks < 2:
        return
    for each in ordered(dataset)[1]:
        attributes = each._node.attributes
        if not _deals_rows(attributes) or not any(map(is_far, _named_files(attributes))):
            continue
        warn_once(
            f"{each._node.op}: each of the {ranks} ranks reads all bytes of the far files and keeps its rows; with "
            'sharding="splits" a rank reads its own bytes alone',
            each._location,
        )


def _deals_rows(attributes: Any) -> bool:
    """Of a source that reads in splits."""
    if "sharding" not in attributes or attributes.get("index") is not None:
        return False
    return attributes["sharding"] == "rows" or (attributes["sharding"] is None and not attributes.get("shuffle"))


def _named_files(attributes: Any) -> list[str | bytes]:
    named = attributes.get("patterns") or attributes.get("paths") or ()
    return [named] if isinstance(named, str | bytes) else [each for each in named if isinstance(each, str | bytes)]


def _warn_of_lengths(zipped: Any, epoch: int) -> None:
    try:
        counts = [_engine.count(*each._bound_graph({"epoch": epoch})) for each in zipped._inputs]
    except Error:  # The run reports it.
        return
    known = [count for count in counts if count is not None and 0 <= count < _ENDLESS]
    if len(set(known)) < 2:
        return
    least = min(known)
    listed = " and ".join(f"{count:,}" for count in known)
    warn_once(
        f"{zipped._node.op}: the inputs have {listed} rows, and the rows beyond {least:,} are left out: after one that is "
        f"missing, every pair is a wrong one; find what is missing, or write take({least}) for the longer input",
        zipped._location,
    )


def _warn_of_endings(folder: Any) -> None:
    if folder._endings_seen:
        return
    folder._endings_seen = True
    attributes = folder._node.attributes
    if attributes.get("extensions") != _DEFAULT or attributes.get("listing") is not None:
        return
    found = _endings_in(attributes["root"], attributes.get("classes"))
    if not found:
        return
    listed = ", ".join(f"{count:,} {ending}" for ending, count in sorted(found.items()))
    names = ", ".join(f'"{ending}"' for ending in (*_DEFAULT, *sorted(found)))
    warn_once(
        f"{folder._node.op}: files that Decode reads are left out, by their endings: {listed}; write extensions=({names}) to "
        "read them, too, or keep them elsewhere",
        folder._location,
    )


def _endings_in(root: str, classes: Any) -> dict[str, int]:
    """The numbers of files by their endings, in class folders and below."""
    found: dict[str, int] = {}
    try:
        top = os.fsdecode(_engine.local_path(os.fsencode(root)))
        folders = [each.path for each in os.scandir(top) if each.is_dir() and _is_read(each.name, classes)]
    except (OSError, Error):  # The run reports it, or it is no local folder.
        return {}
    left = _MOST_NAMES
    for class_folder in folders:
        for _, below, names in os.walk(class_folder, followlinks=False):
            below[:] = [name for name in below if not name.startswith(".")]
            for name in names:
                ending = os.path.splitext(name)[1].lower()
                if ending in _READ and not name.startswith("."):
                    found[ending] = found.get(ending, 0) + 1
            left -= len(names)
            if left <= 0:
                return found
    return found


def _is_read(name: str, classes: Any) -> bool:
    return name in classes if classes else not name.startswith(".")
