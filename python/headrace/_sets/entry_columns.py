"""The entries of LMDB files as a column of a set: the engine reads them by their numbers."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence

from headrace._datasets.dataset import Dataset
from headrace._files.opened_file import open_to_read, opened_size
from headrace._files.system_error import system_error
from headrace._sets.set_folder import SetFolder
from headrace.sources import Lmdb

__all__ = ["database_file", "entry_count", "with_entries"]

# Both meta pages are in it, whatever the size of a page: they differ after each commit.
_HEAD = 1 << 17


def database_file(folder: SetFolder, names: Sequence[str], below: Sequence[str]) -> list[str]:
    """The paths of the LMDB files in folders of these names, in the first of the folders `below` that has most of them.
    NotFoundError names those that are missing."""
    lacking = {sub: [name for name in names if not _is_there(folder, sub, name)] for sub in below}
    sub, missing = min(lacking.items(), key=lambda item: len(item[1]))
    if missing:
        folder.refuse([f"{name}/data.mdb" for name in missing], below, len(names))
    places = [os.path.join(sub, name, "data.mdb") for name in names]
    for place in places:
        _note(folder, place)
    return [folder.path(place) for place in places]


def _is_there(folder: SetFolder, sub: str, name: str) -> bool:
    return folder.is_file(os.path.join(sub, name, "data.mdb"))


def _note(folder: SetFolder, place: str) -> None:
    path = folder.path(place)
    try:
        with open_to_read(path) as file:
            head = file.read(_HEAD)
            folder.note(place, opened_size(file), zlib.crc32(head))
    except OSError as error:
        raise system_error(f"{folder.of}: cannot read {path}", error) from None


def entry_count(path: str) -> int:
    return len(Lmdb(path, ["key"]))


def with_entries(
    table: Dataset, column: str, paths: Sequence[str], shuffle: bool, seed: int | None, name: str | None
) -> Dataset:
    """The rows of `table` with the values of these files, one file after the other, before its columns."""
    first, *others = (Lmdb(path, ["value"]) for path in paths)
    joined = table.zip(first.concat(*others) if others else first)
    # Over both, so that they stay together: what `shuffle` of a source stands for.
    ordered = joined._append("permute", {"seed": seed, "name": name}) if shuffle else joined
    return ordered.rename({"value": column}).project([column, *table.schema])
