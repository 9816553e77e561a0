"""Sources of one path or several whose columns the files name, which are looked up at once: `Npy`, `Npz`, `Mds`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import path as path_of
from headrace._arguments.options import shown
from headrace._graph.adapters import adapts
from headrace._runs.foreign_files import name_foreign_file
from headrace.errors import Error, GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("Npy")
def npy(source: Dataset, /, paths: Any, **attributes: Any) -> None:
    try:
        listed = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    except TypeError:
        listed = []
    if not listed:
        raise GraphError(f"Npy: paths is {shown(paths)}; give a path, or a list of paths")
    texts = [path_of("paths", each, "Npy") for each in listed]
    fields = _found("Npy", lambda: _engine.npy_fields([os.fsencode(each) for each in texts]))
    source._begin("Npy", {"paths": texts, "fields": fields, **attributes})


@adapts("Npz")
def npz(source: Dataset, /, path: Any, columns: Any, **attributes: Any) -> None:
    _begin(source, "Npz", _engine.npz_fields, path, columns, attributes)


@adapts("Mds")
def mds(source: Dataset, /, path: Any, columns: Any, **attributes: Any) -> None:
    _begin(source, "Mds", _engine.mds_fields, path, columns, attributes)


_Fields = Callable[[bytes, "Sequence[str] | None"], list[str]]


def _begin(source: Dataset, op: str, fields_of: _Fields, path: Any, columns: Any, attributes: dict[str, Any]) -> None:
    text = path_of("path", path, op)
    chosen = _chosen(columns)
    fields = _found(op, lambda: fields_of(os.fsencode(text), chosen))
    source._begin(op, {"path": text, "columns": columns, "fields": fields, **attributes})


def _chosen(columns: Any) -> list[str] | None:
    """Columns that may be looked for; values that are wrong are left to the operator."""
    listed = list(columns) if isinstance(columns, (list, tuple)) else []
    return listed if listed and all(isinstance(each, str) and _is_unicode(each) for each in listed) else None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _found(op: str, find: Callable[[], list[str]]) -> list[str]:
    try:
        return find()
    except Error as error:
        name_foreign_file(error, op)
        error._reword(f"{op}: {error}")
        raise
