"""Files that are there whole or not at all."""

import contextlib
import os
import secrets
import stat

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes the file, or leaves what stood there as it was, also where the machine stops in the middle.

    A link is followed, and a file keeps its permissions. What is no file, such as /dev/stdout or a pipe, is written to.
    Raises OSError.
    """
    target = os.path.realpath(path)
    before = _status(target)
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(target, "wb") as file:
            file.write(data)
        return
    folder, name = os.path.split(target)
    # Not by tempfile, whose files are for their owner alone: the system's mask shall say who may read it.
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
    """So that the new name lasts; where the file system cannot, the file itself does."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
