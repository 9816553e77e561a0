"""`Numpy` and `Manifest`: sources whose columns are arrays in memory."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import choice, path, text
from headrace._datasets.fields.array_columns import array_attributes
from headrace._datasets.fields.class_columns import given_classes, numbered_columns
from headrace._datasets.fields.frame_columns import frame_columns
from headrace._datasets.fields.metadata_folder import is_folder
from headrace._datasets.fields.ragged_column import bound_columns
from headrace._datasets.fields.table_file import file_attributes, held_table
from headrace._graph.adapters import adapts
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("Numpy")
def numpy(
    source: Dataset,
    /,
    arrays: Mapping[str, Any] | Any,
    missing: Mapping[str, Any] | None,
    classes: Any = None,
    **attributes: Any,
) -> None:
    given = dict(arrays) if isinstance(arrays, Mapping) else frame_columns(arrays, "Numpy")
    if given is None:
        given = {"data": arrays}
    if not given:
        raise GraphError("Numpy: no arrays; give a dict from column to array, or one array")
    source._begin("Numpy", {**array_attributes(given, missing, classes), **attributes})


@adapts("Manifest")
def manifest(
    source: Dataset,
    /,
    table: Any,
    path_column: str,
    root: str | PathLike[str] | None,
    missing: Mapping[str, Any] | None,
    unmatched: str | None = None,
    classes: Any = None,
    **attributes: Any,
) -> None:
    paths = text("path_column", path_column, "Manifest")
    named = given_classes(classes, "Manifest")
    if is_folder(table):
        if root is not None:
            raise GraphError("Manifest: the table is a folder, whose metadata name files below it; leave out root")
        root = table
    elif unmatched is not None:
        raise GraphError(
            "Manifest: unmatched is for a folder with metadata, and the table is something else; leave it out"
        )
    unmatched = choice("unmatched", unmatched or "error", ("error", "skip"), "Manifest")
    columns, types = held_table(table, paths, missing, unmatched)
    columns, types, names = numbered_columns(columns, types, named, "Manifest")
    found = {
        "arrays": bound_columns(columns),
        "types": _engine.Columns(types),
        "path_column": paths,
        "root": "" if root is None else path("root", root, "Manifest"),
        "class_names": names,
        **file_attributes(table, missing, unmatched),
    }
    source._begin("Manifest", {**found, **attributes})
