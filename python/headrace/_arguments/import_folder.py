"""The folder that was current when headrace was imported: other processes import from there what this one did.

Where `sys.path` has "", as in a console, a notebook and `python -c`, or another path that is not absolute, Python imports
from the folder that is current, which may be one of data by the time a process is started. So these paths stand for the
folder of the import, as for multiprocessing."""

import os
import sys

__all__ = ["IMPORT_FOLDER", "import_path", "start_folder"]


def _current() -> str:
    try:
        return os.getcwd()
    except OSError:  # It was deleted.
        return "/"


IMPORT_FOLDER = _current()


def import_path() -> list[str]:
    """`sys.path` with absolute paths."""
    return [os.path.join(IMPORT_FOLDER, os.fspath(each)).rstrip("/") or "/" for each in sys.path]


def start_folder() -> str:
    """Where a process starts, since PYTHONPATH and the paths of libraries may not be absolute either."""
    return IMPORT_FOLDER if os.access(IMPORT_FOLDER, os.X_OK) else "/"
