"""Tables of files in graphs: a graph names the file and says how it was, so that whoever loads it makes the table again."""

from __future__ import annotations

import glob
import json
import os
import posixpath
import zlib
from collections.abc import Callable
from typing import Any

from headrace._arguments.options import path
from headrace._datasets.base import source
from headrace._datasets.fields.array_columns import array_columns
from headrace._datasets.fields.class_columns import numbered_columns
from headrace._datasets.fields.metadata_folder import files_in, is_folder, metadata_files
from headrace._datasets.fields.missing_values import given_missing, with_fill
from headrace._datasets.fields.ragged_column import RaggedColumn, bound_columns
from headrace._datasets.fields.tables import table_columns, with_plain_paths
from headrace._graph.reference import Binding
from headrace._kernels.mapping import Types
from headrace.errors import GraphError

__all__ = ["file_attributes", "held_table", "remade"]


def held_table(table: Any, paths: str, missing: Any, unmatched: str = "error") -> tuple[dict[str, Any], Types]:
    """The columns of a table of Manifest, with the types of their rows."""
    given = table_columns(table, paths, "Manifest", missing, unmatched)
    if paths not in given:
        raise GraphError(f'Manifest: the table has no column "{paths}" (columns: {", ".join(map(str, given))})')
    what = f'Manifest: column "{paths}"'
    fills = given_missing(missing, given, "Manifest")
    named = with_fill(given[paths], fills[paths], what) if paths in fills else given[paths]
    if isinstance(table, (str, os.PathLike)) and fills:
        # Lists of a file have their values already.
        missing = {name: value for name, value in fills.items() if not isinstance(given[name], RaggedColumn)}
    return array_columns(given | {paths: with_plain_paths(named, what)}, "Manifest", missing)


def file_attributes(table: Any, missing: Any, unmatched: str) -> dict[str, str]:
    """Those of Manifest that name the table's file, or its folder; none, if it is neither."""
    if not isinstance(table, (str, os.PathLike)):
        return {}
    try:
        fills = json.dumps({name: _plain(value) for name, value in dict(missing or {}).items()})
    except (TypeError, ValueError):  # bytes, which only its own process has
        return {}
    name = path("table", table, "Manifest")
    return {
        "table_file": name,
        "table_version": _version(name),
        "table_missing": fills,
        "table_unmatched": unmatched,
    }


def remade(attributes: dict[str, Any], reference: str) -> Callable[[], Binding]:
    """Makes the table again, once, of a node that names its file. GraphError if the file is another one by now."""
    made: list[Binding] = []

    def binding() -> Binding:
        if not made:
            made.append(_read_again(attributes, reference))
        return made[0]

    return binding


def _read_again(attributes: dict[str, Any], reference: str) -> Binding:
    table = attributes["table_file"]
    if _version(table) != attributes["table_version"]:
        raise GraphError(
            f"Manifest: {table} has changed since the graph was saved; make the graph anew, or give the table: "
            f"headrace.load(path, references={{{reference!r}: …}})"
        )
    missing = json.loads(attributes["table_missing"]) or None
    columns, types = held_table(table, attributes["path_column"], missing, attributes.get("table_unmatched") or "error")
    names = {column: json.loads(each) for column, each in (attributes.get("class_names") or {}).items()}
    columns, _, _ = numbered_columns(columns, types, names, "Manifest")
    return bound_columns(columns).binding


def _version(table: str) -> str:
    if is_folder(table):
        return _version_of_folder(table)
    (file,) = source("Files", {"patterns": glob.escape(table)})
    return f"{len(file['data'])} bytes, CRC-32 {zlib.crc32(file['data']):08x}"


def _version_of_folder(folder: str) -> str:
    files = files_in(folder)
    checksum = zlib.crc32("\n".join(files).encode("utf-8", "surrogateescape"))
    for table in metadata_files(files):
        (file,) = source("Files", {"patterns": glob.escape(posixpath.join(folder, table))})
        checksum = zlib.crc32(file["data"], checksum)
    return f"{len(files)} files, CRC-32 {checksum:08x}"


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
