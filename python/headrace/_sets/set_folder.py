"""`SetFolder` finds the files of a named set in a user's folder, says what is missing, and keeps a fingerprint of what
was read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import NoReturn

from headrace._files.places import is_far, joined
from headrace._files.system_error import system_error
from headrace._sets.far_listing import FarListing
from headrace._sets.set_file import ENDINGS, SetFile
from headrace.errors import NotFoundError

__all__ = ["SetFolder"]

# Of the names in a message.
_SHOWN = 8
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".zip", ".rar", ".7z")


class SetFolder:
    """`of`: the set's class; `publisher`: where its files come from."""

    def __init__(self, of: str, root: str, publisher: str) -> None:
        self.of = of
        self.root = root
        self.publisher = publisher
        self._seen: dict[str, str] = {}
        # Of the root, and of folders elsewhere that URLs name.
        self._far: dict[str, FarListing] = {}
        if is_far(root):
            self._far[root.rstrip("/")] = FarListing(root)

    def path(self, *names: str) -> str:
        """Of what these names lead to below the root."""
        return joined(self.root, *names)

    def files(self, wanted: Sequence[str | tuple[str, ...]], below: Sequence[str] = ("",)) -> list[SetFile]:
        """The file of each of `wanted`, a name or several that it may have, in the first of the folders `below` that
        has them all. NotFoundError names those that are missing, and where they were looked for."""
        fewest: list[str] | None = None
        for sub in below:
            found = [self._first(sub, name) for name in wanted]
            missing = [_names(name)[0] for name, path in zip(wanted, found, strict=True) if path is None]
            if not missing:
                return [self._file(path) for path in found if path is not None]
            if fewest is None or len(missing) < len(fewest):
                fewest = missing
        self.refuse(fewest or [], below, len(wanted))

    def has(self, wanted: Sequence[str | tuple[str, ...]], below: Sequence[str] = ("",)) -> bool:
        return any(all(self._first(sub, name) is not None for name in wanted) for sub in below)

    def place(self, wanted: Sequence[str | tuple[str, ...]], below: Sequence[str] = ("",)) -> str:
        """The folder in which `files` finds them, by its name below the root."""
        found = next((sub for sub in below if self.has(wanted, (sub,))), None)
        if found is None:
            self.files(wanted, below)
        return found or ""

    def plain(self, wanted: str | tuple[str, ...], below: Sequence[str] = ("",)) -> str:
        """The path of a file that the engine reads by the numbers of its lines, which must not be compressed."""
        for sub in below:
            for name in _names(wanted):
                if self.is_file(joined(sub, name)):
                    return self.path(sub, name)
        packed = self.has([wanted], below)
        advice = "it is there compressed, and must be decompressed, as its lines are read by their numbers"
        self.refuse([_names(wanted)[0]], below, 1, advice if packed else "")

    def optional(self, wanted: str | tuple[str, ...], below: Sequence[str] = ("",)) -> SetFile | None:
        found = next((path for sub in below if (path := self._first(sub, wanted)) is not None), None)
        return None if found is None else self._file(found)

    def folder(self, *names: str) -> str:
        """The first of these folders that is there, by its name below the root. NotFoundError if none is."""
        for name in names:
            if self.is_folder(name):
                return name
        self.refuse([f"{name or '.'}/" for name in names[:1]], names, 1)

    def entries(self, folder: str) -> list[str]:
        """The names in a folder, in byte order, without those that begin with a dot."""
        path = self.path(folder)
        found = self._far_entries(path) if is_far(path) else self._own_entries(path)
        names = sorted(name for name in found if not name.startswith(b"."))
        self._seen[f"{folder}/"] = _digest(names)
        return [os.fsdecode(name) for name in names]

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder, in byte order."""
        return [name for name in self.entries(folder) if self.is_folder(os.path.join(folder, name))]

    def is_folder(self, folder: str) -> bool:
        path = self.path(folder)
        if not is_far(path):
            return os.path.isdir(path)
        listing, below = self._listing(path)
        return listing.is_folder(below)

    def is_file(self, name: str) -> bool:
        path = self.path(name)
        if not is_far(path):
            return os.path.isfile(path)
        folder, _, last = path.rpartition("/")
        listing, below = self._listing(folder)
        return listing.is_file(joined(below, last))

    def refuse(self, missing: Sequence[str], below: Sequence[str], of: int, advice: str = "") -> NoReturn:
        """Raises NotFoundError for files that are missing."""
        listed = ", ".join(missing[:_SHOWN]) + (f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else "")
        places = ", ".join(dict.fromkeys(self.path(sub) if sub else self.root for sub in below))
        raise NotFoundError(
            f"{self.of}: {len(missing):,} of {of:,} {'file' if of == 1 else 'files'} missing: {listed}; looked in {places}. "
            f"The set is not downloaded: its publisher gives it at {self.publisher}"
            + "".join(f"; {each}" for each in (advice, self._mistake()) if each)
        )

    def _mistake(self) -> str:
        """What may be wrong with the root: users give an archive, or unpack one and forget another."""
        if is_far(self.root):
            return ""
        if not os.path.isdir(self.root):
            what = "is not a folder" if os.path.lexists(self.root) else "does not exist"
            return f"{self.root} {what}: give the folder that holds the files, unpacked"
        names = sorted(name for name in os.listdir(self.root) if name.lower().endswith(_ARCHIVES))
        listed = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        return f"archives must be unpacked, and {listed} may hold them" if names else ""

    def note(self, name: str, size: int, checksum: int) -> None:
        """Notes what the engine read of files, for the fingerprint."""
        self._seen[name] = f"{size} {checksum:08x}"

    def fingerprint(self) -> str:
        """Of all that was read and listed."""
        return _digest([f"{name}\0{state}".encode("utf-8", "surrogateescape") for name, state in self._sorted()])

    def _sorted(self) -> list[tuple[str, str]]:
        return sorted(self._seen.items(), key=lambda item: os.fsencode(item[0]))

    def _first(self, sub: str, name: str | tuple[str, ...]) -> str | None:
        for each in _names(name):
            for ending in ENDINGS:
                path = joined(sub, each + ending)
                if self.is_file(path):
                    return path
        return None

    def _own_entries(self, path: str) -> list[bytes]:
        try:
            return os.listdir(os.fsencode(path))
        except OSError as error:
            raise system_error(f"{self.of}: cannot list {path}", error) from None

    def _far_entries(self, path: str) -> list[bytes]:
        listing, below = self._listing(path)
        found = listing.entries(below)
        if found is None:
            raise NotFoundError(f"{self.of}: cannot list {path}: there is no such folder")
        return [os.fsencode(name) for name in found]

    def _listing(self, path: str) -> tuple[FarListing, str]:
        """What lists a folder, and the folder's name there."""
        for top, listing in self._far.items():
            if f"{path}/".startswith(f"{top}/"):
                return listing, path[len(top) + 1 :]
        listing = self._far[path.rstrip("/")] = FarListing(path)
        return listing, ""

    def _file(self, path: str) -> SetFile:
        def note(size: int, checksum: int) -> None:
            self.note(path, size, checksum)

        return SetFile(self.path(path), note)


def _names(wanted: str | tuple[str, ...]) -> tuple[str, ...]:
    return (wanted,) if isinstance(wanted, str) else wanted


def _digest(parts: Iterable[bytes]) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()
