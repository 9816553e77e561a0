"""The folder that was current when headrace was imported: other processes import from there what this one did.

Where `sys.path` has "", as in a console, a notebook and `python -c`, or another path that is not absolute, Python imports
from the folder that is current, which may be one of data by the time a process is started. So these paths stand for the
folder of the import, as for multiprocessing."""

import importlib
import os
import sys
from typing import Any

__all__ = ["IMPORT_FOLDER", "import_late", "import_path", "start_folder"]


def _current() -> str:
    try:
        return os.getcwd()
    except OSError:  # It was deleted.
        return "/"


IMPORT_FOLDER = _current()


def import_path() -> list[str]:
    """`sys.path` with absolute paths."""
    return [os.path.join(IMPORT_FOLDER, os.fspath(each)).rstrip("/") or "/" for each in sys.path]


def import_late(name: str) -> Any:
    """A module that is first needed after the import, from these paths too. Raises ImportError."""
    if sys.modules.get(name) is not None:
        return sys.modules[name]
    before, absolute = list(sys.path), import_path()
    sys.path[:] = absolute
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = before + [each for each in sys.path if each not in absolute]


def start_folder() -> str:
    """Where a process starts, since PYTHONPATH and the paths of libraries may not be absolute either."""
    return IMPORT_FOLDER if os.access(IMPORT_FOLDER, os.X_OK) else "/"
