"""The line of the user's script where an operator was written."""

import os
import sys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

SourceLocation = tuple[str, int]


def users_location() -> SourceLocation:
    """The innermost line outside this package: its file, relative to the working folder if it is inside, and number."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    # A path need not be UTF-8; a string of the graph must be.
    return _shown(frame.f_code.co_filename).encode("utf-8", "backslashreplace").decode(), frame.f_lineno


def _shown(path: str) -> str:
    try:
        folder = os.getcwd() + os.sep
    except OSError:  # the working folder is gone
        return path
    return path[len(folder) :] if path.startswith(folder) else path
