"""MDS data sets: a folder with an index.json, or folders of such."""

import json
import os

from headrace import sources
from headrace._files.whole_file import read_whole
from headrace._formats.files_below import files_below
from headrace._formats.folder_contents import FolderContents
from headrace._formats.format import Format

__all__ = ["MDS"]

_INDEX = "index.json"


def _has_index(folder: FolderContents) -> bool:
    if folder.has(_INDEX):
        return _lists_shards(os.path.join(folder.path, _INDEX))
    return (
        not folder.files and bool(folder.below) and all(each.has(_INDEX) and _has_index(each) for each in folder.below)
    )


def _lists_shards(path: str) -> bool:
    try:
        found = json.loads(read_whole(path))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("shards"), list)


MDS = Format(
    "MDS",
    "hr.Mds",
    lambda paths, **options: sources.Mds(paths, **options),
    is_folder=_has_index,
    takes_patterns=False,
    takes_several=False,
    files_of=lambda place: files_below(place.files[0]),
)
