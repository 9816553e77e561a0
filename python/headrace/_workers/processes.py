"""Worker processes for Python functions and datasets: what goes to them, and what comes back when they fail.

A process is started by exec of this interpreter with `headrace.worker`; it never imports the user's script. What it is to
call travels by value, once a run, in memory that all processes of a pool map. Later runs of the same kind get it, too."""

import hashlib
import io
import json
import mmap
import os
import pickle
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable
from types import FunctionType
from typing import Any

from headrace import _engine
from headrace._arguments.import_folder import IMPORT_FOLDER, import_late, import_path, start_folder
from headrace._arguments.options import shown
from headrace._workers.loaded_plugins import loaded_paths
from headrace._workers.module_globals import globals_behind, set_globals, stamps_of_modules
from headrace.errors import GraphError, ResourceError, UnsupportedError, without_init

# Buffers begin where a cache line does.
ALIGNMENT = 64
# While a process imports, so many objects may come before garbage is collected: collections would take a fifth of the time
# that torch takes.
IMPORT_THRESHOLD = 1_000_000
# Takes the working folder off the path before it imports anything (Python's option -P, which 3.10 lacks), and is then given
# the path and the plugins of this process.
START = (
    f"import gc; usual = gc.get_threshold(); gc.set_threshold({IMPORT_THRESHOLD}); "
    "import sys; sys.path[:] = filter(None, sys.path); import json; sys.path[:], plugins = json.loads(sys.argv[1]); "
    "from headrace.worker import main; main(int(sys.argv[2]), int(sys.argv[3]), plugins, usual)"
)


def packed(code: tuple[Any, ...]) -> tuple[bytes, list[str], int, bytes]:
    """The folder in which a process starts, its command, the descriptor of the memory with what it is to run, and what tells
    the processes apart that may run it. To run: a kind, functions or objects of that kind with their details and salts, and
    worker_init; and the context's settings of far stores."""
    if not sys.executable:
        raise UnsupportedError("processes= needs an interpreter to start, and sys.executable names none")
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    command = [
        os.path.join(IMPORT_FOLDER, sys.executable),
        *flags,
        "-c",
        START,
        json.dumps([import_path(), loaded_paths()]),
    ]
    buffers: list[pickle.PickleBuffer] = []
    data = _pickled_code(code, buffers.append)
    settings = _storage_settings()
    folder = os.fsencode(start_folder())
    kind = _kind_of_process(code, [settings, repr((folder, command)).encode()])
    try:
        return folder, command, _in_memory([settings, data, *(buffer.raw() for buffer in buffers)]), kind
    except OSError as error:
        raise ResourceError(f"no memory to send {_named(code)} to other processes: {error}") from error


def _kind_of_process(code: tuple[Any, ...], others: list[bytes]) -> bytes:
    """A process in which another run has left its imports, and what worker_init has set, is as good as a new one to a run of
    the same kind: its modules would be imported from the same files, in the same folder and environment."""
    _, targets, init = code
    # A process that was seeded is not left alone any more.
    unseeded = any(salt is None for _, _, salt in targets)
    here = [unseeded, _working_folder(), _outputs(), sorted(os.environ.items()), stamps_of_modules()]
    digest = hashlib.blake2b(repr(here).encode("utf-8", "surrogateescape"), digest_size=32)
    for each in others:
        digest.update(each)
    if init is not None:
        digest.update(_pickled_code(("function", [(init, None, None)], None), lambda _: True))
    return digest.digest()


def _working_folder() -> tuple[int, int]:
    found = os.stat(".")
    return found.st_dev, found.st_ino


def _outputs() -> list[tuple[int, int] | None]:
    """Where what the user's code prints goes."""
    found: list[tuple[int, int] | None] = []
    for descriptor in (1, 2):
        try:
            stat = os.fstat(descriptor)
        except OSError:  # Closed.
            found.append(None)
            continue
        found.append((stat.st_dev, stat.st_ino))
    return found


def _storage_settings() -> bytes:
    """Those of the run, for memory that only its processes map."""
    table = _engine.storage_variable.get(None)
    return pickle.dumps(None if table is None else table.settings())


def _pickled_code(code: tuple[Any, ...], take: Callable[[pickle.PickleBuffer], Any]) -> bytes:
    try:
        cloudpickle = import_late("cloudpickle")
    except ImportError:
        cloudpickle = None

    def dumped(value: Any, take: Callable[[pickle.PickleBuffer], Any] = lambda _: None) -> bytes:
        if cloudpickle is not None:
            return bytes(cloudpickle.dumps(value, protocol=5, buffer_callback=take))
        return _dumped(value, take)

    try:
        _, targets, init = code
        given = globals_behind([*(target for target, _, _ in targets), init], dumped)
        return dumped((code, given), take)
    except GraphError:
        raise
    except MemoryError as error:
        raise ResourceError(f"no memory to send {_named(code)} to other processes: {error}") from error
    except Exception as error:
        advice = "" if cloudpickle is not None else "; pip install cloudpickle, which sends functions by their code"
        raise GraphError(f"{_named(code)} cannot be sent to other processes: {error}{advice}") from error


def _named(code: tuple[Any, ...]) -> str:
    return ", ".join(shown(target) for target, _, _ in code[1])


def _dumped(code: Any, take: Callable[[pickle.PickleBuffer], Any]) -> bytes:
    file = io.BytesIO()
    _Pickler(file, protocol=5, buffer_callback=take).dump(code)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    """Sends functions and classes by their name, and refuses those that other processes cannot import."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (type, FunctionType)) and value.__module__ == "__main__":
            raise GraphError(
                f"{value.__qualname__} is defined in the script that runs, which worker processes do not import: "
                "pip install cloudpickle, which sends functions by their code, or move it to a module"
            )
        return NotImplemented


def _in_memory(parts: list[Any]) -> int:
    """A descriptor of memory with the parts, after a table of their offsets and sizes."""
    extents = []
    end = 8 + 16 * len(parts)
    for part in parts:
        start = -(-end // ALIGNMENT) * ALIGNMENT
        extents.append((start, len(part)))
        end = start + len(part)
    descriptor = os.memfd_create("headrace-code", os.MFD_CLOEXEC)
    try:
        os.posix_fallocate(descriptor, 0, end)
        with mmap.mmap(descriptor, end) as memory:
            memory[: 8 + 16 * len(parts)] = struct.pack(
                f"<{1 + 2 * len(parts)}Q", len(parts), *(number for extent in extents for number in extent)
            )
            for (start, size), part in zip(extents, parts, strict=True):
                memory[start : start + size] = part
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def unpacked(descriptor: int) -> tuple[Any, ...]:
    """The code in that memory, once the run's settings of far stores hold in this process and the globals that it uses are
    set. Large arrays in it are those of the memory, and copied where they are written to. Closes the descriptor."""
    memory = memoryview(mmap.mmap(descriptor, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE))
    os.close(descriptor)
    (count,) = struct.unpack_from("<Q", memory)
    numbers = struct.unpack_from(f"<{2 * count}Q", memory, 8)
    parts = [memory[start : start + size] for start, size in zip(numbers[::2], numbers[1::2], strict=True)]
    settings = pickle.loads(parts[0])
    if settings is not None:
        _engine.storage_variable.set(_engine.StorageTable(settings))
    code, given = pickle.loads(parts[1], buffers=parts[2:])
    set_globals(given)
    return tuple(code)


class WorkerTraceback(Exception):
    """The cause of an exception that was raised in a worker process: its traceback there."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def pickled(exception: BaseException | None) -> bytes:
    """The exception and its traceback as text; for one of which nothing can be pickled, the text alone."""
    if exception is None:
        return b""
    text = _engine.printable("".join(traceback.format_exception(exception)), keep_lines=True)
    try:
        import cloudpickle as module
    except ImportError:
        module = pickle
    for given in (exception, _ByParts(exception)):
        try:
            data = bytes(module.dumps((given, text)))
            pickle.loads(data)
            return data
        except Exception:
            continue
    return pickle.dumps((None, text))


class _ByParts:
    """Pickles an exception that its class does not make of `args`, as where __init__ takes other arguments."""

    def __init__(self, exception: BaseException) -> None:
        self._parts = (type(exception), exception.args, exception.__dict__)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_parts, self._parts


def _of_parts(kind: type[BaseException], args: tuple[Any, ...], attributes: dict[str, Any]) -> BaseException:
    exception = without_init(kind, args)
    exception.__dict__.update(attributes)
    return exception


def exception_of(data: bytes, message: str) -> BaseException:
    """The exception that a worker process raised."""
    exception, text = None, message
    try:
        exception, text = pickle.loads(data)
    except Exception:
        pass  # Of a class that is not known here.
    if not isinstance(exception, BaseException):
        exception = RuntimeError(message)
    exception.__cause__ = WorkerTraceback(text)
    return exception
