"""`FarListing` is what a far store has below a folder: each folder is listed at most once, and many siblings together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from headrace._files.places import files_below_far, is_file, list_folder
from headrace.errors import NotFoundError, UnsupportedError

__all__ = ["FarListing"]

# Folders within one folder that are listed one by one. If more are asked for, all that is below it is listed at once, by
# a request for each thousand files.
_ALONE = 4


class FarListing:
    """`root`: a URL, to which names are relative. Used by one thread."""

    def __init__(self, root: str) -> None:
        self._root = root
        # By folder, from the names in it to whether they are folders.
        self._listed: dict[str, dict[str, bool]] = {}
        self._alone: Counter[str] = Counter()

    def entries(self, folder: str) -> dict[str, bool] | None:
        """The names in a folder, and whether they are folders; None: there is no such folder. UnsupportedError: the store
        lists nothing."""
        try:
            found = self._listing("")
        except NotFoundError:
            return None
        above = ""
        for name in _parts(folder):
            if not found.get(name, False):
                return None
            place = f"{above}/{name}" if above else name
            found = self._below(above, place)
            above = place
        return found

    def is_folder(self, folder: str) -> bool:
        *above, name = _parts(folder) or [""]
        found = self.entries("/".join(above))
        return found is not None and (found[name] if name in found else not name)

    def is_file(self, path: str) -> bool:
        *above, name = _parts(path) or [""]
        try:
            found = self.entries("/".join(above))
        except UnsupportedError:
            # HTTP tells of single files alone.
            return is_file(self._url(path))
        return found is not None and found.get(name) is False

    def _below(self, above: str, place: str) -> dict[str, bool]:
        """What is in `place`, which is a folder in the folder `above`."""
        if place not in self._listed:
            self._alone[above] += 1
            if self._alone[above] > _ALONE:
                self._list_tree(above)
        return self._listing(place)

    def _listing(self, place: str) -> dict[str, bool]:
        if place not in self._listed:
            self._listed[place] = dict(list_folder(self._url(place)))
        return self._listed[place]

    def _list_tree(self, top: str) -> None:
        tree: dict[str, dict[str, bool]] = {}
        for path in files_below_far(self._url(top)):
            folder, _, name = path.rpartition("/")
            tree.setdefault(folder, {})[name] = False
        for folder in list(tree):
            for above, name in _ways_up(folder):
                tree.setdefault(above, {})[name] = True
        for folder, names in tree.items():
            self._listed.setdefault("/".join(filter(None, (top, folder))), names)
        # Folders without files are not in it.
        for name, is_folder in self._listed.get(top, {}).items():
            if is_folder:
                self._listed.setdefault("/".join(filter(None, (top, name))), {})

    def _url(self, place: str) -> str:
        return os.path.join(self._root, place) if place else self._root


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _ways_up(folder: str) -> Iterator[tuple[str, str]]:
    """Each folder above, and the name in it that leads here."""
    while folder:
        folder, _, name = folder.rpartition("/")
        yield folder, name
