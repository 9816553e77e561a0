"""Reading and atomic writing of whole files."""

import contextlib
import os
import secrets
import stat

from headrace.errors import UnsupportedError

__all__ = ["read_whole", "write_whole"]


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file. Raises OSError."""
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnsupportedError(f"{os.fspath(path)} is a pipe, a socket or a device, where a file is expected")
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    """Does not wait for a writer where the path is a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Replaces the file completely or not at all, even if the machine stops in the middle.

    A link is followed, and a file keeps its permissions. Devices and pipes, such as /dev/stdout, are written to directly.
    Raises OSError.
    """
    target = os.path.realpath(path)
    before = _status(target)
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(target, "wb") as file:
            file.write(data)
        return
    folder, name = os.path.split(target)
    # Not by tempfile, whose files only their owner may read: the umask decides who may read this file.
    written = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}.new")
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if before is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            os.fsync(file.fileno())
        os.replace(written, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(written)
        raise
    _sync_folder(folder)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _sync_folder(folder: str) -> None:
    """Syncs the folder, so that the new name lasts. Where the file system cannot, the synced contents still do."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
