"""`Numpy` and `Manifest`: sources whose columns are arrays in memory."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import choice, path, shown, text
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
        _refuse_other(arrays)
        given = {"data": arrays}
    if not given:
        raise GraphError("Numpy: no arrays; give a dict from column to array, or one array")
    source._begin("Numpy", {**array_attributes(given, missing, classes), **attributes})


def _refuse_other(arrays: Any) -> None:
    """What stands for arrays in other libraries, or in a hurry."""
    if isinstance(arrays, (str, PathLike)):
        raise GraphError(f"Numpy: arrays is {shown(arrays)}; write hr.Npy(path) or hr.Npz(path) for a file")
    if hasattr(arrays, "iterate") or hasattr(arrays, "__next__"):
        advice = "it is a dataset already" if hasattr(arrays, "iterate") else "write hr.Generator(function, columns)"
        raise GraphError(f"Numpy: arrays is {shown(arrays)}, which gives rows one by one; {advice}")
    shapes = [getattr(each, "shape", None) for each in arrays] if isinstance(arrays, tuple) else []
    if len(set(shapes)) > 1 and all(shapes) and len({shape[0] for shape in shapes if shape}) == 1:
        raise GraphError(
            f"Numpy: arrays is a tuple of {len(shapes)} arrays, which have no names; give them in a dict from column to "
            'array: hr.Numpy({"features": x, "label": y})'
        )
    if isinstance(arrays, (list, tuple)) and arrays and isinstance(arrays[0], Mapping):
        raise GraphError(
            f"Numpy: arrays is a list of rows, the first with {', '.join(map(shown, arrays[0]))}; write "
            "hr.from_dataset(rows)"
        )


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
