"""Files of a MindRecord set by their names, and what their headers say."""

import json
import os
import struct
from typing import Any

from headrace import _engine
from headrace._arguments.options import shown
from headrace._files.opened_file import open_to_read
from headrace._files.system_error import saying
from headrace.errors import Error, GraphError

__all__ = ["MOST_FILES", "check_name", "db_path", "others_of_set", "read_header", "set_paths"]

MOST_FILES = 1000
_FORBIDDEN = set("\\/:*?\"<>|`&;'")
_LENGTH = struct.Struct("<Q")
_MOST_HEADER = 128 << 20


def check_name(path: str, of: str) -> str:
    """A name that MindSpore takes, and that a header can hold."""
    name = os.path.basename(path)
    if not name:
        raise GraphError(f"{of}: {shown(path)} has no name of a file at its end")
    if found := sorted(_FORBIDDEN & set(name)):
        raise GraphError(
            f"{of}: the name {shown(name)} has {' '.join(found)}, which MindSpore forbids in names of files"
        )
    if name != name.strip(" "):
        raise GraphError(f"{of}: the name {shown(name)} begins or ends with a space, which MindSpore forbids")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise GraphError(
            f"{of}: the name {shown(name)} is not UTF-8, and the headers of a set hold the names of its files"
        ) from None
    return path


def set_paths(path: str, files: int) -> list[str]:
    """One file has the name itself; several have it with their numbers, in as many digits as the last one."""
    if files == 1:
        return [path]
    digits = len(str(files - 1))
    return [f"{path}{number:0{digits}}" for number in range(files)]


def db_path(path: str) -> str:
    """Of the index of a file."""
    return f"{path}.db"


def read_header(path: str) -> dict[str, Any]:
    """Of a file that the engine finds to be good. Raises its errors otherwise."""
    _engine.mind_record_fields([os.fsencode(path)], False)
    with saying(f"cannot read {path}"), open_to_read(path) as file:
        (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
        header: dict[str, Any] = json.loads(file.read(min(length, _MOST_HEADER)))
    return header


def others_of_set(paths: list[str]) -> list[str]:
    """Files of the sets that these are of by now, but these: what a new set would leave behind. Only a file whose own
    header names the same set is one."""
    found: dict[str, None] = {}
    for path in paths:
        names = _names(path)
        folder = os.path.dirname(path)
        others = [os.path.join(folder, name) for name in names]
        found.update((other, None) for other in others if other not in paths and _names(other) == names)
    return list(found)


def _names(path: str) -> list[str]:
    """Of the files of its set; none: there is no such file."""
    if not os.path.isfile(path):
        return []
    try:
        names: list[str] = read_header(path)["shard_addresses"]
    except Error:
        return []
    return names
