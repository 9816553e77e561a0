"""`files_below` lists the files of a folder that is read as a whole."""

import os

from headrace._files.places import files_below_far, is_far

__all__ = ["files_below"]


def files_below(folder: str, endings: tuple[str, ...] = ("",)) -> list[str]:
    """Those whose names, in lower case, end so. Folders that links lead back to are gone into once."""
    if is_far(folder):
        names = files_below_far(folder)
        return [os.path.join(folder, name) for name in names if name.lower().endswith(endings)]
    found: list[str] = []
    seen: set[str] = set()
    for at, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(at)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        found += [os.path.join(at, name) for name in names if name.lower().endswith(endings)]
    return found
