"""`SocketFile`: the path at which a process shares batches, which one process at a time owns.

A lock file beside it, locked while a process takes or gives up the path, makes this free of races; a lock ends with its
process. Who holds the lock and finds nobody listening may delete the socket's file, which a killed process leaves."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
from collections.abc import Callable, Iterator

from headrace import _engine
from headrace._files.opened_file import open_lock
from headrace._files.system_error import system_error
from headrace.errors import Error, GraphError

__all__ = ["SocketFile", "connected", "locked"]

# Of a path, with the byte after it.
_MOST_BYTES = 108
_BACKLOG = 1024


def connected(path: str) -> socket.socket | None:
    """None: nobody listens there."""
    _check_length(path)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(path)
    except (ConnectionRefusedError, FileNotFoundError):
        connection.close()
        return None
    except PermissionError as error:
        connection.close()
        what = (
            f"connect: the mode of the socket {_engine.printable(path)} does not let this user connect: share it with "
            "mode=0o660 and a group that both users are in"
        )
        raise system_error(what, error) from None
    except OSError as error:
        connection.close()
        raise _refused(path, error) from None
    return connection


@contextlib.contextmanager
def locked(path: str, wait: bool = True) -> Iterator[bool]:
    """Whether this process alone may take or give up the path. False: another one does, and `wait` is False."""
    lock = f"{path}.lock"
    while True:
        try:
            descriptor = open_lock(lock)
        except OSError as error:
            raise _refused_lock(path, error) from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            # Else it was deleted, and another process has locked a new one.
            if _is_at(descriptor, lock):
                try:
                    yield True
                finally:
                    with contextlib.suppress(OSError):
                        os.unlink(lock)
                return
        finally:
            os.close(descriptor)


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


class SocketFile:
    """The path while this process owns it.

    Attributes:
        listener: The socket, which does not block.
        shown: The path, for messages.
        mode: Of the file, as it was made.
    """

    def __init__(self, path: str, listener: socket.socket) -> None:
        self.path, self.listener = path, listener
        self.shown = _engine.printable(path)
        self._file = os.stat(path)
        self.mode = stat.S_IMODE(self._file.st_mode)
        listener.setblocking(False)

    @classmethod
    def made(cls, path: str, mode: int) -> SocketFile:
        """Under the lock, where nobody listens."""
        _check_length(path)
        _remove_left(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            # From its beginning; the umask takes rights from these.
            os.fchmod(listener.fileno(), mode)
            listener.bind(path)
            os.chmod(path, mode)
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            raise _refused(path, error) from None
        return cls(path, listener)

    def withdraw(self, accept: Callable[[], bool]) -> bool:
        """Gives the path up, unless somebody comes, whom `accept` accepts. Returns whether it did."""
        with locked(self.path, wait=False) as is_ours:
            if not is_ours or accept():
                return False
            self.remove()
            return True

    def remove(self) -> None:
        """The file, if it is still that of this process, and the socket."""
        with contextlib.suppress(OSError):
            if os.path.samestat(self._file, os.stat(self.path)):
                os.unlink(self.path)
        self.listener.close()


def _check_length(path: str) -> None:
    size = len(os.fsencode(path))
    if size >= _MOST_BYTES:
        raise GraphError(
            f"share: the path of a socket has at most {_MOST_BYTES - 1} bytes, and this one has {size}: give a shorter one, "
            f"such as /tmp/train.sock ({_engine.printable(path)})"
        )


def _remove_left(path: str) -> None:
    """What a killed process left."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refused(path, error) from None
    if not stat.S_ISSOCK(found.st_mode):
        raise GraphError(
            f"share: {_engine.printable(path)} is there, and is not a socket: give another path, or delete it"
        )
    try:
        os.unlink(path)
    except OSError as error:
        raise _refused(path, error) from None


def _refused_lock(path: str, error: OSError) -> Error:
    what = f"share: no socket can be made at {_engine.printable(path)}"
    if isinstance(error, PermissionError):
        what += f": give a folder in which this user may write; {_engine.printable(path)}.lock is another user's, or cannot be made"
    return system_error(what, error)


def _refused(path: str, error: OSError) -> Error:
    return system_error(f"share: the socket {_engine.printable(path)}", error)
