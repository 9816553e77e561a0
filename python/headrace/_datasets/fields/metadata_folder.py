"""`metadata_columns` gives the table of a folder of pictures: metadata.csv or metadata.jsonl in it and in folders below it,
each of which names files beside it and below."""

from __future__ import annotations

import glob
import os
import posixpath
from collections.abc import Callable, Iterable
from typing import Any

from headrace._arguments.counted import counted
from headrace._arguments.doubts import warn_once
from headrace._arguments.options import file_path, shown
from headrace._arguments.source_location import users_location
from headrace._datasets.base import source
from headrace._datasets.fields.frame_columns import plain_column
from headrace._datasets.fields.joined_columns import chosen_rows, joined_columns
from headrace._files import places
from headrace.errors import DataError, Error, GraphError, NotFoundError

__all__ = ["METADATA_NAMES", "files_in", "is_folder", "metadata_columns", "metadata_files"]

METADATA_NAMES = ("metadata.csv", "metadata.json", "metadata.jsonl")
# What Decode reads.
_PICTURES = (".bmp", ".gif", ".jfif", ".jpe", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")

# Reads one file as columns.
ReadTable = Callable[[str], dict[str, Any]]


def is_folder(table: Any) -> bool:
    if not isinstance(table, (str, os.PathLike)):
        return False
    try:
        return places.is_folder(file_path("table", table, "Manifest"))
    except (Error, ValueError, TypeError):  # It is no path.
        return False


def files_in(folder: str) -> list[str]:
    """The files below the folder, relative to it."""
    # It may be a URI of this machine.
    folder = file_path("table", folder, "Manifest")
    if places.is_far(folder):
        return places.files_below_far(folder)
    found = source("Files", {"patterns": f"{glob.escape(folder)}/**/*", "columns": ["path"]})
    try:
        paths = [str(row["path"]) for row in found]
    except NotFoundError:  # There is none.
        return []
    return [posixpath.relpath(path, folder) for path in paths]


def metadata_files(files: Iterable[str]) -> list[str]:
    """By their folders, the outermost first."""
    return sorted((each for each in files if posixpath.basename(each) in METADATA_NAMES), key=posixpath.split)


def metadata_columns(folder: str, paths: str, read: ReadTable, unmatched: str) -> dict[str, Any]:
    """Columns of file names are relative to the folder. `paths`: that of the pictures."""
    files = files_in(folder)
    tables = metadata_files(files)
    if not tables:
        raise GraphError(
            f"Manifest: {shown(folder)} has no metadata.csv, metadata.jsonl or metadata.json in it or below; of another table "
            "give what a library reads, as pandas.read_parquet(path), and root"
        )
    for one, other in zip(tables, tables[1:], strict=False):
        if posixpath.dirname(one) == posixpath.dirname(other):
            raise GraphError(f"Manifest: {shown(folder)} has both {one} and {other}; keep one of them")
    of_each = {table: _beside(table, read(posixpath.join(folder, table)), paths, folder) for table in tables}
    columns = joined_columns(of_each, f"Manifest: {shown(folder)}")
    rows = [(table, row) for table, each in of_each.items() for row in range(len(each[paths]))]
    return _matched(folder, columns, paths, rows, files, unmatched)


def _names_files(column: str, paths: str) -> bool:
    return column in (paths, "file_name") or column.endswith("_file_name")


def _beside(table: str, columns: dict[str, Any], paths: str, folder: str) -> dict[str, Any]:
    if paths not in columns:
        raise GraphError(
            f'Manifest: {table} in {shown(folder)} has no column "{paths}" (columns: {", ".join(map(str, columns))})'
        )
    inner = posixpath.dirname(table)
    made = dict(columns)
    for name in columns:
        if _names_files(name, paths):
            values = plain_column(columns[name], f'Manifest: column "{name}" of {table}')
            made[name] = [_inside(inner, value) for value in values]
    return made


def _inside(folder: str, name: Any) -> Any:
    """What is no text is told of by whoever takes the column."""
    if not isinstance(name, str) or not name or not folder or name.startswith("/") or "://" in name:
        return name
    return f"{folder}/{name}"


def _matched(
    folder: str, columns: dict[str, Any], paths: str, rows: list[tuple[str, int]], files: list[str], unmatched: str
) -> dict[str, Any]:
    if not all(isinstance(name, str) for name in columns[paths]):
        # Manifest says what a column of paths holds.
        return columns
    there = set(files)
    named = {_plain(value) for name in columns if _names_files(name, paths) for value in columns[name]}
    lonely = [each for each in files if each.lower().endswith(_PICTURES) and each not in named]
    lost = [number for number, name in enumerate(columns[paths]) if _is_lost(name, there)]
    if unmatched == "skip":
        _warn(folder, len(lost), len(lonely))
        gone = set(lost)
        return chosen_rows(columns, [number for number in range(len(rows)) if number not in gone]) if lost else columns
    if lost:
        table, row = rows[lost[0]]
        raise DataError(
            f"Manifest: row {row} of {table} in {shown(folder)} names {shown(columns[paths][lost[0]])}, and there is no such "
            f'file{_more(len(lost), "such row")}; give unmatched="skip" to leave out rows without a file'
        )
    if lonely:
        raise DataError(
            f"Manifest: {lonely[0]} in {shown(folder)} has no row in the metadata{_more(len(lonely), 'such picture')}; give "
            'unmatched="skip" to leave out pictures without a row'
        )
    return columns


def _more(count: int, what: str) -> str:
    return f" ({counted(count, what)} in all)" if count > 1 else ""


def _plain(name: Any) -> Any:
    return posixpath.normpath(name) if isinstance(name, str) else name


def _is_lost(name: Any, there: set[str]) -> bool:
    """Whether it names no file of the folder; paths that are not relative to it are looked at when they are read."""
    return isinstance(name, str) and not name.startswith("/") and "://" not in name and _plain(name) not in there


def _warn(folder: str, lost: int, lonely: int) -> None:
    if lost or lonely:
        warn_once(
            f"Manifest: {counted(lost, 'row')} of the metadata of {shown(folder)} {'names' if lost == 1 else 'name'} no file, and "
            f"{counted(lonely, 'picture')} {'has' if lonely == 1 else 'have'} no row; they are left out",
            users_location(),
        )
