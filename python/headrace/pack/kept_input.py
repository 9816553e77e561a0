"""Refuses to write over the file that is read."""

from headrace._files.places import same_file
from headrace.errors import GraphError

__all__ = ["check_other_file"]


def check_other_file(name: str, path: str, read: str, of: str) -> None:
    """Raises GraphError if `path`, given as `name` to be written, is the file `read`, by whatever name."""
    if same_file(path, read):
        raise GraphError(f"{of}: {name} is {path}, the file that is read, which it would replace; name another one")
