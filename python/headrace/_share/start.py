"""`started` starts a process that shares a dataset, and `main` is that process."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import socket
import subprocess
import sys
from typing import BinaryIO

from headrace._arguments.import_folder import IMPORT_FOLDER, import_path, start_folder
from headrace._datasets.dataset import Dataset
from headrace._graph.parameters import sent_by_value
from headrace._share.group import Settings
from headrace._share.packets import packed
from headrace._share.sent_errors import sent
from headrace._share.server import Server
from headrace._share.socket_file import SocketFile
from headrace._workers.loaded_plugins import loaded_paths
from headrace.errors import Error, GraphError, ResourceError, UnsupportedError

__all__ = ["main", "started"]

# Leaves the process that started it, in a session of its own: it is to outlive that one, and Ctrl-C there. Takes the
# working folder off the path before it imports anything.
_START = (
    "import os, sys; os.fork() and os._exit(0); os.setsid(); sys.path[:] = filter(None, sys.path); import json; "
    "sys.path[:], plugins, place = json.loads(sys.argv[1]); from headrace import load_plugin; "
    "list(map(load_plugin, plugins)); from headrace._share.start import main; "
    "main(*place, *map(int, sys.argv[2:]))"
)


def started(dataset: Dataset, file: SocketFile, settings: Settings, own_folder: bool) -> socket.socket:
    """Starts it, and returns the first consumer's side of a socket to it. `own_folder`: it deletes the file's folder."""
    if not sys.executable:
        raise UnsupportedError("share: a process needs an interpreter to start, and sys.executable names none")
    with sent_by_value():
        pickled = pickle.dumps((dataset, settings))
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with there, _in_memory(pickled) as memory:
        numbers = [file.listener.fileno(), there.fileno(), memory.fileno()]
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        place = [file.path, own_folder, _working_folder()]
        given = json.dumps([import_path(), loaded_paths(), place])
        command = [os.path.join(IMPORT_FOLDER, sys.executable), *flags, "-c", _START, given, *map(str, numbers)]
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=start_folder(), pass_fds=numbers)
        except OSError as error:
            here.close()
            raise ResourceError(f"share: no process can be started: {error}") from error
        process.wait()
    return here


def _in_memory(data: bytes) -> BinaryIO:
    """A file without a name."""
    try:
        memory = os.fdopen(os.memfd_create("headrace-shared", os.MFD_CLOEXEC), "w+b")
        memory.write(data)
        memory.seek(0)
    except OSError as error:
        raise ResourceError(f"share: no memory to send the dataset to another process: {error}") from error
    return memory


def _working_folder() -> str:
    with contextlib.suppress(OSError):
        return os.getcwd()
    return "/"


def main(path: str, own_folder: bool, folder: str, listener: int, first: int, memory: int) -> None:
    """`folder`: where it works, as paths of files may not be absolute. `listener`, `first` and
    `memory`: descriptors of sockets, and of the pickled dataset."""
    for each in (listener, first, memory):
        os.set_inheritable(each, False)
    connection = socket.socket(fileno=first)
    file = SocketFile(path, socket.socket(fileno=listener))
    try:
        with contextlib.suppress(OSError):
            os.chdir(folder)
        with os.fdopen(memory, "rb") as pickled:
            dataset, settings = pickle.load(pickled)
        server = Server(dataset, file, settings, stays=False)
    except BaseException as error:
        file.remove()
        _remove_folder(path, own_folder)
        refused = error if isinstance(error, Error) else GraphError(_not_made(error))
        connection.send(packed({"kind": "refused", "error": sent(refused)}))
        raise SystemExit(1) from None
    try:
        server.run(connection)
    finally:
        _remove_folder(path, own_folder)


def _remove_folder(path: str, is_own: bool) -> None:
    if is_own:
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(path))


def _not_made(error: BaseException) -> str:
    return (
        f"share: the dataset cannot be made in the process that is to share it: {type(error).__name__}: {error}; functions "
        "of a script travel where cloudpickle is installed (pip install cloudpickle), others by the names of their modules"
    )
