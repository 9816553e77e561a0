"""Opens files; no other module of the package does, which tests/check/test_opened_files.py holds. Those of far stores are
read through the engine.

Reading never waits for a pipe. Files are written by the engine (`_engine.OutputStream`), whose io/files/opened_file.h
opens what this module does not."""

import errno
import importlib
import os
import stat
from io import BufferedReader
from typing import IO, BinaryIO

from headrace._files.far_file import FarFile
from headrace._files.places import is_far
from headrace.errors import UnsupportedError

__all__ = ["open_lock", "open_own_file", "open_special", "open_spool", "open_to_read", "opened_size"]

Path = str | os.PathLike[str]
# Of a far file that are read at once, at least: less costs a request as well.
_FAR_BUFFER = 1 << 18
# Of a spool.
_IN_MEMORY = 16 << 20
_SPECIAL = "is a pipe, a socket or a device"


def open_to_read(path: Path) -> BufferedReader:
    """A regular file, for reading. Raises OSError, and UnsupportedError for whatever is not one; of a far store's the
    engine's errors."""
    if is_far(path):
        return BufferedReader(FarFile(path), _FAR_BUFFER)
    file = open(path, "rb", opener=_open_at_once)
    try:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        raise UnsupportedError(f"{os.fspath(path)} {_SPECIAL}, where a file is expected")
    except BaseException:
        file.close()
        raise


def opened_size(file: BufferedReader) -> int:
    """The bytes of a file that `open_to_read` gave."""
    return file.raw.size if isinstance(file.raw, FarFile) else os.fstat(file.fileno()).st_size


def _open_at_once(path: str, flags: int) -> int:
    """Does not wait for a writer where the path is a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def open_own_file(path: Path) -> BufferedReader:
    """A file that this user made earlier, for reading.

    Raises OSError, and UnsupportedError for a link, whatever is not a regular file, a file of another user, and one with
    several names.
    """
    _check_own(path, os.lstat(path))
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    try:
        # It may have been replaced meanwhile.
        _check_own(path, os.fstat(file.fileno()))
    except BaseException:
        file.close()
        raise
    return file


def open_lock(path: Path) -> int:
    """The descriptor of a file that processes lock and nobody reads, which is made where there is none. Raises OSError,
    also for a link."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)


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


def open_spool() -> IO[bytes]:
    """A file without a name, for writing and reading: in memory, or once it is large on the disk of this machine."""
    # Few programs need it.
    spool: IO[bytes] = importlib.import_module("tempfile").SpooledTemporaryFile(_IN_MEMORY)
    return spool


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
