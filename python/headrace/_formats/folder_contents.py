"""`FolderContents`: the names in a folder, and in its folders, as far as they say what it holds."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from functools import cached_property

from headrace._files.places import is_far, list_folder
from headrace._files.system_error import system_error

__all__ = ["OTHER_PICTURES", "PICTURES", "FolderContents", "folder_contents"]

PICTURES = (".jpg", ".jpeg", ".png")
OTHER_PICTURES = (".webp", ".gif", ".bmp", ".tif", ".tiff")
# What says something about files, and is none of the data.
_ABOUT = {"readme", "license", "licence", "changelog", "citation", "checksums", "md5sums", "sha256sums", "_success"}
_ABOUT_ENDINGS = (".md", ".md5", ".sha256", ".log", ".tmp", ".draft", ".journal", ".crc", ".hridx", ".tfindex")
# Of its folders that are looked into, and of the names in one.
_FOLDERS = 8
_NAMES = 1000


@dataclass
class FolderContents:
    """Names come in byte order; those that begin with a dot are left out."""

    path: str
    files: list[str]
    folders: list[str]

    def has(self, *names: str) -> bool:
        return set(names) <= set(self.files)

    @cached_property
    def data_files(self) -> list[str]:
        """The files without those that say something about others."""
        return [name for name in self.files if not _is_about(name)]

    @cached_property
    def below(self) -> list[FolderContents]:
        """The first few of its folders, each with its first names."""
        return [folder_contents(os.path.join(self.path, name), _NAMES) for name in self.folders[:_FOLDERS]]

    @property
    def pictures(self) -> list[str]:
        return [name for name in self.files if name.lower().endswith(PICTURES + OTHER_PICTURES)]


def folder_contents(path: str, most: int | None = None) -> FolderContents:
    """NotFoundError: it cannot be listed."""
    files: list[str] = []
    folders: list[str] = []
    try:
        if is_far(path):
            entries = list_folder(path)[:most]
        else:
            with os.scandir(path) as scanned:
                entries = [(each.name, each.is_dir()) for each in itertools.islice(scanned, most)]
    except OSError as error:
        raise system_error(f"cannot list {path}", error) from error
    for name, is_folder in entries:
        if not name.startswith("."):
            (folders if is_folder else files).append(name)
    return FolderContents(path, sorted(files, key=os.fsencode), sorted(folders, key=os.fsencode))


def _is_about(name: str) -> bool:
    lower = name.lower()
    return os.path.splitext(lower)[0] in _ABOUT or lower.endswith(_ABOUT_ENDINGS)
