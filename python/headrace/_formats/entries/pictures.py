"""Folders of images: a folder a class, images with metadata.csv or metadata.jsonl, or images alone."""

import os
from collections.abc import Mapping
from typing import Any

from headrace import sources
from headrace._formats.files_below import files_below
from headrace._formats.folder_contents import PICTURES, FolderContents, folder_contents
from headrace._formats.format import Format, Place

__all__ = ["CLASS_FOLDERS", "IMAGES", "WITH_METADATA"]

_METADATA = ("metadata.csv", "metadata.jsonl")
_OTHERS = (".webp", ".gif", ".bmp", ".tif", ".tiff")


def _has_class_folders(folder: FolderContents) -> bool:
    """Whether its first folders hold images, below them or at once, and it has no other data."""
    return not folder.data_files and bool(folder.below) and all(map(_is_class, folder.below))


def _is_class(folder: FolderContents) -> bool:
    return bool(folder.pictures) and len(folder.pictures) == len(folder.data_files)


def _extensions(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """With the endings of images that are not the usual ones."""
    if "extensions" in given:
        return {}
    names = [name for each in folder_contents(place.files[0]).below for name in each.pictures]
    found = {os.path.splitext(name)[1].lower() for name in names}
    return {"extensions": sorted({*PICTURES, *found})} if found & set(_OTHERS) else {}


def _pictures_below(place: Place) -> list[str]:
    return files_below(place.files[0], (*PICTURES, *_OTHERS))


def _has_metadata(folder: FolderContents) -> bool:
    """Beside images, in the folder or in those below it."""
    within = [folder, *folder.below]
    return any(each.pictures for each in within) and any(set(_METADATA) & set(each.files) for each in within)


WITH_METADATA = Format(
    "images with metadata",
    "hr.Manifest",
    lambda paths, **options: sources.Manifest(paths, **options),
    is_folder=_has_metadata,
    proposed=lambda _, given: {} if "path_column" in given else {"path_column": "file_name"},
    takes_patterns=False,
    reads_files_alone=False,
    files_of=_pictures_below,
)
CLASS_FOLDERS = Format(
    "class folders of images",
    "hr.ImageFolder",
    lambda paths, **options: sources.ImageFolder(paths, **options),
    is_folder=_has_class_folders,
    proposed=_extensions,
    takes_patterns=False,
    reads_files_alone=False,
    files_of=_pictures_below,
)
IMAGES = Format(
    "images",
    "hr.Files",
    lambda paths, **options: sources.Files(paths, **options),
    kinds=frozenset({"JPEG", "PNG", "GIF", "BMP", "TIFF", "WebP"}),
    reads_files_alone=False,
)
