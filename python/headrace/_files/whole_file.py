"""Reading and atomic writing of whole files."""

import contextlib
import os
import stat

from headrace._files.opened_file import draft_name, make_file, open_special, open_to_read
from headrace.errors import ResourceError, UnsupportedError

__all__ = ["read_whole", "write_whole"]

# In a row, as Linux has it.
_MOST_LINKS = 40


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file. Raises OSError, and ResourceError if there is no memory for it."""
    with open_to_read(path) as file:
        try:
            return file.read()
        except MemoryError:
            size = os.fstat(file.fileno()).st_size
            raise ResourceError(f"no memory for the {size:,} bytes of {os.fspath(path)}") from None


def write_whole(path: str | os.PathLike[str], data: bytes, *, named: bool = True) -> None:
    """Replaces the file completely or not at all, even if the machine stops in the middle.

    A file of this user's keeps its permissions. At a path that the user `named`, a link of this user's is followed, and
    devices and pipes, such as /dev/stdout, are written to directly. At others, whose names can be foreseen, a link is
    replaced, and a device or pipe is refused. Raises OSError and UnsupportedError.
    """
    target = os.fspath(path)
    if named:
        before = _status(target)
        if before is not None and not stat.S_ISREG(before.st_mode):
            _write_special(target, data)
            return
        target = _followed(target)
    _replace(target, data)


def _write_special(path: str, data: bytes) -> None:
    with open_special(path) as file:
        file.write(data)


def _followed(path: str) -> str:
    """Where links of this user lead. UnsupportedError for one of another user, which may have been planted."""
    for _ in range(_MOST_LINKS):
        if not os.path.islink(path):
            break
        owner = os.lstat(path).st_uid
        if owner not in (os.geteuid(), 0):
            raise UnsupportedError(
                f"{path} is a symbolic link of user {owner}, and this process belongs to user {os.geteuid()}: remove it, "
                "or write to what it leads to"
            )
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return path


def _replace(target: str, data: bytes) -> None:
    before = _own_status(target)
    # Not by tempfile, whose files only their owner may read: the umask decides who may read this file.
    written = draft_name(target)
    descriptor = make_file(written)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if before is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(written, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(written)
        raise
    _sync_folder(os.path.dirname(target) or ".")


def _own_status(path: str) -> os.stat_result | None:
    """Of the regular file that is replaced; None: there is none of this user's. Raises UnsupportedError for a pipe, a
    socket or a device."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(status.st_mode):
        return status if status.st_uid == os.geteuid() else None
    if stat.S_ISLNK(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return None
    raise UnsupportedError(f"{path} is a pipe, a socket or a device, where a file is to be written; remove it")


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _sync_folder(folder: str) -> None:
    """Syncs the folder, so that the new name lasts. Where the file system cannot, the synced contents still do."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
