"""`Numpy` and `Manifest`: sources whose columns are arrays in memory."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import path, text
from headrace._datasets.fields.array_columns import array_attributes, array_columns
from headrace._datasets.fields.frame_columns import frame_columns
from headrace._datasets.fields.tables import table_columns, with_plain_paths
from headrace._graph import reference
from headrace._graph.adapters import adapts
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("Numpy")
def numpy(source: Dataset, /, arrays: Mapping[str, Any] | Any, **attributes: Any) -> None:
    given = dict(arrays) if isinstance(arrays, Mapping) else frame_columns(arrays, "Numpy")
    if given is None:
        given = {"data": arrays}
    if not given:
        raise GraphError("Numpy: no arrays; give a dict from column to array, or one array")
    source._begin("Numpy", {**array_attributes(given), **attributes})


@adapts("Manifest")
def manifest(
    source: Dataset, /, table: Any, path_column: str, root: str | PathLike[str] | None, **attributes: Any
) -> None:
    paths = text("path_column", path_column, "Manifest")
    given = table_columns(table, paths, "Manifest")
    if paths not in given:
        raise GraphError(f'Manifest: the table has no column "{paths}" (columns: {", ".join(map(str, given))})')
    plain_paths = with_plain_paths(given[paths], f'Manifest: column "{paths}"')
    columns, types = array_columns(given | {paths: plain_paths}, "Manifest")
    found = {
        "arrays": reference.arrays(columns),
        "types": _engine.Columns(types),
        "path_column": paths,
        "root": "" if root is None else path("root", root, "Manifest"),
    }
    source._begin("Manifest", {**found, **attributes})
