"""Reading and atomic writing of whole files."""

import os
import stat

from headrace import _engine
from headrace._files.opened_file import open_special, open_to_read
from headrace._files.places import is_far
from headrace._files.system_error import saying
from headrace.errors import ResourceError, UnsupportedError

__all__ = ["check_place", "read_whole", "write_whole"]

# In a row, as Linux has it.
_MOST_LINKS = 40


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file. Raises OSError, and ResourceError if there is no memory for it; of a far store's file
    the engine's errors."""
    if is_far(path):
        return _engine.read_file(os.fsencode(path))
    with open_to_read(path) as file:
        try:
            return file.read()
        except MemoryError:
            size = os.fstat(file.fileno()).st_size
            raise ResourceError(f"no memory for the {size:,} bytes of {os.fspath(path)}") from None


def write_whole(
    path: str | os.PathLike[str],
    data: bytes | memoryview,
    what: str | None = None,
    *,
    named: bool = True,
    durable: bool = True,
) -> None:
    """Replaces the file completely or not at all; if `durable`, even if the machine stops in the middle.

    A file of this user's keeps its permissions. At a path that the user `named`, a link of this user's is followed, and
    devices and pipes, such as /dev/stdout, are written to directly. At others, whose names can be foreseen, a link is
    replaced, and a device or pipe is refused. Raises an Error that begins with `what`, "cannot write PATH" if not given.
    """
    target = os.fspath(path)
    with saying(what or f"cannot write {target}"):
        if named and not is_far(target):
            before = _status(target)
            if before is not None and not stat.S_ISREG(before.st_mode):
                _write_special(target, data)
                return
            target = _followed(target)
        _replace(target, data, durable)


def check_place(path: str, what: str) -> None:
    """Raises an Error that begins with `what` if no file can be made at the path. Leaves nothing there."""
    with saying(what):
        _engine.OutputStream(os.fsencode(path)).discard()


def _replace(path: str, data: bytes | memoryview, durable: bool) -> None:
    stream = _engine.OutputStream(os.fsencode(path), durable=durable)
    try:
        stream.append([data])
        stream.commit()
    except BaseException:
        # A traceback may keep it alive.
        stream.discard()
        raise


def _write_special(path: str, data: bytes | memoryview) -> None:
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


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
