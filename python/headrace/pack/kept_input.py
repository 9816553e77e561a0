"""Refuses to write over the file that is read."""

import os

from headrace.errors import GraphError

__all__ = ["check_other_file"]


def check_other_file(name: str, path: str, read: str, of: str) -> None:
    """Raises GraphError if `path`, given as `name` to be written, is the file `read`, by whatever name."""
    if os.path.exists(path) and os.path.exists(read) and os.path.samefile(path, read):
        raise GraphError(f"{of}: {name} is {path}, the file that is read, which it would replace; name another one")
