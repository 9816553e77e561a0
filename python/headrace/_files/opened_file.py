"""Opens files; no other module of the package does, which tests/check/test_opened_files.py holds.

Reading never waits for a pipe. Writing goes to a new file, or to one that this user made: in a folder that others may
write to, a name may already be a link to a file of this user's, a pipe, or a file that its maker still holds open.
io/files/opened_file.h does the same for the engine."""

import errno
import os
import secrets
import stat
from io import BufferedReader
from typing import BinaryIO

from headrace.errors import UnsupportedError

__all__ = [
    "check_folder",
    "draft_name",
    "make_file",
    "open_own_file",
    "open_special",
    "open_to_read",
    "remove_own_file",
]

Path = str | os.PathLike[str]
_SPECIAL = "is a pipe, a socket or a device"


def open_to_read(path: Path) -> BufferedReader:
    """A regular file, for reading. Raises OSError, and UnsupportedError for whatever is not one."""
    file = open(path, "rb", opener=_open_at_once)
    try:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        raise UnsupportedError(f"{os.fspath(path)} {_SPECIAL}, where a file is expected")
    except BaseException:
        file.close()
        raise


def _open_at_once(path: str, flags: int) -> int:
    """Does not wait for a writer where the path is a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def make_file(path: Path) -> int:
    """The descriptor of a new, empty file, which is read anywhere and written at its end. Raises OSError; FileExistsError
    if anything has the name, a link too."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND | os.O_CLOEXEC, 0o666)


def draft_name(path: str) -> str:
    """A name beside `path` that nobody can foresee, for a new file that is renamed to `path` when it is whole."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}.new")


def check_folder(folder: str) -> None:
    """Raises OSError if no file can be made there."""
    tried = draft_name(os.path.join(folder, "headrace"))
    os.close(make_file(tried))
    os.unlink(tried)


def open_own_file(path: Path) -> int:
    """The descriptor of a file that this user made earlier, which is read anywhere and written at its end.

    Raises OSError, and UnsupportedError for a link, whatever is not a regular file, a file of another user, and one with
    several names.
    """
    _check_own(path, os.lstat(path))
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_APPEND | os.O_CLOEXEC)
    try:
        # It may have been replaced meanwhile.
        _check_own(path, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def remove_own_file(path: Path) -> None:
    """Removes a file that this user made earlier, if it is there. Raises as `open_own_file`."""
    try:
        _check_own(path, os.lstat(path))
        os.unlink(path)
    except FileNotFoundError:
        pass


def open_special(path: Path) -> BinaryIO:
    """A pipe or a device that the user named, such as /dev/stdout, for writing. Raises OSError; FileExistsError if it is a
    regular file by now."""
    file = open(os.open(path, os.O_WRONLY | os.O_CLOEXEC), "wb")
    try:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    except BaseException:
        file.close()
        raise
    return file


def _check_own(path: Path, status: os.stat_result) -> None:
    refused = ""
    if stat.S_ISLNK(status.st_mode):
        refused = "is a symbolic link"
    elif not stat.S_ISREG(status.st_mode):
        refused = "is a folder" if stat.S_ISDIR(status.st_mode) else _SPECIAL
    elif status.st_uid != os.geteuid():
        refused = f"belongs to user {status.st_uid}, and this process to user {os.geteuid()}"
    elif status.st_nlink > 1:
        refused = f"has {status.st_nlink} names (hard links)"
    if refused:
        raise UnsupportedError(
            f"{os.fspath(path)} {refused}, and only a regular file of this user's with one name is written to: remove it, "
            "or write to another folder"
        )
