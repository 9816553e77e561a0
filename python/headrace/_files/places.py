"""What is at a path: on this machine by Python, in a far store by the engine."""

from __future__ import annotations

import os

from headrace import _engine
from headrace._files.system_error import system_error

__all__ = [
    "absolute",
    "check_readable",
    "exists",
    "file_size",
    "files_below_far",
    "is_far",
    "is_file",
    "is_folder",
    "joined",
    "list_folder",
    "matching_files",
    "real_path",
    "same_file",
]


def is_far(path: str | bytes | os.PathLike[str]) -> bool:
    """Whether it is a URL of a store, such as "s3://bucket/key". UnsupportedError: no store has its scheme."""
    given = os.fsencode(path)
    return b"://" in given and _engine.is_far(given)


def exists(path: str) -> bool:
    """Also of a link to nothing."""
    return _kind(path) != "" if is_far(path) else os.path.lexists(path)


def check_readable(path: str) -> None:
    """Raises why a file in a far store cannot be read, where `exists` says that there is none: refused keys are no
    missing file."""
    if is_far(path):
        _engine.check_readable(os.fsencode(path))


def is_file(path: str) -> bool:
    return _kind(path) == "file" if is_far(path) else os.path.isfile(path)


def is_folder(path: str) -> bool:
    return _kind(path) == "folder" if is_far(path) else os.path.isdir(path)


def file_size(path: str) -> int:
    """NotFoundError: there is none."""
    if not is_far(path):
        try:
            return os.stat(path).st_size
        except OSError as error:
            raise system_error(f"cannot look at {path}", error) from error
    return _engine.open_file(os.fsencode(path)).size


def list_folder(path: str) -> list[tuple[str, bool]]:
    """Names in byte order, and which of them are folders. NotFoundError: there is no such folder."""
    if is_far(path):
        return [(name, kind == "folder") for name, kind, _ in _engine.list_folder(os.fsencode(path))]
    try:
        with os.scandir(path) as entries:
            found = [(each.name, each.is_dir()) for each in entries]
    except OSError as error:
        raise system_error(f"cannot list {path}", error) from error
    return sorted(found, key=lambda each: os.fsencode(each[0]))


def files_below_far(folder: str) -> list[str]:
    """All files of a tree in a far store, relative to the folder, by one listing."""
    return [name for name, kind, _ in _engine.list_tree(os.fsencode(folder)) if kind == "file"]


def matching_files(pattern: str) -> list[str]:
    """The files in a far store that match a pattern, in byte order. NotFoundError: there is none."""
    return _engine.match_files(os.fsencode(pattern))


def absolute(path: str) -> str:
    return path if is_far(path) else os.path.abspath(path)


def joined(*names: str) -> str:
    """As os.path.join; a URL begins anew, as an absolute path does."""
    begin = max((at for at, name in enumerate(names) if is_far(name)), default=0)
    return os.path.join(*names[begin:])


def real_path(path: str) -> str:
    """Without links; a URL as it is."""
    return path if is_far(path) else os.path.realpath(path)


def same_file(path: str, other: str) -> bool:
    """Whether both name one file that is there."""
    if is_far(path) or is_far(other):
        return path == other
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def _kind(path: str) -> str:
    found = _engine.stat_file(os.fsencode(path))
    return "" if found is None else found[0]
