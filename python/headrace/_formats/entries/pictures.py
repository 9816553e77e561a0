"""Folders of images: a folder a class, images with metadata.csv or metadata.jsonl, or images alone."""

import csv
import json
import os
from collections.abc import Mapping
from typing import Any

from headrace import sources
from headrace._datasets.fields.declared_fields import first_lines
from headrace._datasets.fields.metadata_folder import METADATA_NAMES
from headrace._formats.files_below import files_below
from headrace._formats.first_bytes import escaped
from headrace._formats.folder_contents import OTHER_PICTURES, PICTURES, FolderContents, folder_contents
from headrace._formats.format import Format, Place
from headrace.errors import Error

__all__ = ["CLASS_FOLDERS", "IMAGES", "WITH_METADATA"]

_FILE_NAME = "file_name"


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
    return {"extensions": sorted({*PICTURES, *found})} if found & set(OTHER_PICTURES) else {}


def _pictures_below(place: Place) -> list[str]:
    return files_below(place.files[0], (*PICTURES, *OTHER_PICTURES))


def _has_metadata(folder: FolderContents) -> bool:
    """Beside images, in the folder or in those below it."""
    within = [folder, *folder.below]
    return any(each.pictures for each in within) and any(set(METADATA_NAMES) & set(each.files) for each in within)


def _path_column(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """`file_name`; of several columns of names, as unpacked rows may have, the first that names pictures."""
    if "path_column" in given:
        return {}
    row = _first_row(folder_contents(place.files[0]))
    others = [name for name in row if name.endswith(f"_{_FILE_NAME}")]
    if _FILE_NAME in row or not others:
        return {"path_column": _FILE_NAME}
    of_pictures = [name for name in others if str(row[name]).lower().endswith((*PICTURES, *OTHER_PICTURES))]
    return {"path_column": (of_pictures or others)[0]}


def _first_row(folder: FolderContents) -> dict[str, Any]:
    """Of the metadata; empty: it has none that can be read, as the source will say."""
    tables = [
        os.path.join(each.path, name)
        for each in (folder, *folder.below)
        for name in METADATA_NAMES
        if name in each.files
    ]
    is_csv = tables[0].endswith(".csv")
    try:
        lines = list(first_lines(escaped(tables[0]), 2 if is_csv else 1, "open", json=not is_csv))
        if is_csv:
            return dict(zip(*csv.reader(lines), strict=False))
        row = json.loads(lines[0]) if lines else {}
    except (Error, ValueError, RecursionError, TypeError, csv.Error):
        return {}
    return row if isinstance(row, dict) else {}


WITH_METADATA = Format(
    "images with metadata",
    "hr.Manifest",
    lambda paths, **options: sources.Manifest(paths, **options),
    is_folder=_has_metadata,
    proposed=_path_column,
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
