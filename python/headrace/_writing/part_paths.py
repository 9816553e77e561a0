"""Names of the files of a set: `train-00002-of-00010.rec`. ops/source/unfinished_sets.h knows them."""

import glob
import os
import re

from headrace._files.places import is_far, is_folder, list_folder
from headrace._files.system_error import saying
from headrace.errors import UnsupportedError

__all__ = ["MANIFEST", "MOST_FILES", "check_no_other_set", "part_paths", "set_pattern"]

MANIFEST = ".manifest.json"
"""The ending of the name of what lists the files of a set, after the set's."""
MOST_FILES = 99_999
# Endings after that of the format.
_COMPRESSED = (".gz", ".zst")


def part_paths(path: str, files: int) -> list[str]:
    """The paths of so many files; of a single one `path` itself."""
    if files == 1:
        return [path]
    stem, ending = _split(path)
    return [f"{stem}-{number:05}-of-{files:05}{ending}" for number in range(files)]


def set_pattern(path: str, files: int) -> str:
    """The path of the only file, or a pattern that matches the files of the set alone."""
    if files == 1:
        return path
    stem, ending = map(_escaped, _split(path))
    return f"{stem}-?????-of-{files:05}{ending}"


def check_no_other_set(path: str, files: int, of: str) -> None:
    """Raises UnsupportedError if a set of another number of files has this name: whoever reads the folder would read
    both."""
    if files == 1:
        return
    stem, ending = _split(path)
    folder, stem = os.path.split(stem)
    others = re.compile(rf"{re.escape(stem)}-\d{{5}}-of-(?!{files:05})\d{{5}}{re.escape(ending)}")
    with saying(f"{of}: cannot write to {folder or '.'}"):
        names = _names_in(folder or ".")
    for name in names:
        if others.fullmatch(name):
            raise UnsupportedError(
                f"{of}: {os.path.join(folder, name)} belongs to a set of another number of files, and would be read "
                "together with this one: remove that set, or write to another name"
            )


def _names_in(folder: str) -> list[str]:
    if not is_far(folder):
        return sorted(os.listdir(folder))
    # A store has no empty folders: what holds no file is not there.
    return [name for name, _ in list_folder(folder)] if is_folder(folder) else []


def _split(path: str) -> tuple[str, str]:
    """ "a/train" and ".tfrecord.gz"."""
    stem, ending = os.path.splitext(path)
    if ending in _COMPRESSED:
        stem, inner = os.path.splitext(stem)
        ending = inner + ending
    return stem, ending


def _escaped(text: str) -> str:
    return glob.escape(text).replace(";", "[;]")
