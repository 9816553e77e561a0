"""The line of the user's script where an operator was written."""

import os
import sys
from types import FrameType

from headrace import _engine

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

SourceLocation = tuple[str, int]


def users_location(*libraries: str) -> SourceLocation:
    """The innermost line outside this package, and outside of the libraries of these names: its file, relative to the
    working folder if it is inside, and number."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_within(frame, libraries):
        frame = frame.f_back
    # A path need not be UTF-8; a string of the graph must be.
    return _engine.printable(_shown(frame.f_code.co_filename)), frame.f_lineno


def _is_within(frame: FrameType, libraries: tuple[str, ...]) -> bool:
    if frame.f_code.co_filename.startswith(_PACKAGE):
        return True
    return bool(libraries) and str(frame.f_globals.get("__name__", "")).partition(".")[0] in libraries


def _shown(path: str) -> str:
    try:
        folder = os.getcwd() + os.sep
    except OSError:  # the working folder is gone
        return path
    return path[len(folder) :] if path.startswith(folder) else path
