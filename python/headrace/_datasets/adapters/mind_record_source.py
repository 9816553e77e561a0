"""`MindRecord`: a source whose columns are the fields that its files have, which are looked up at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.options import path, shown
from headrace._graph.adapters import adapts
from headrace._runs.foreign_files import name_foreign_file
from headrace.errors import Error, GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("MindRecord")
def mind_record(source: Dataset, /, paths: Any, **attributes: Any) -> None:
    # A file stands for its set where it is named alone, not in a list.
    one = isinstance(paths, (str, bytes, os.PathLike))
    texts = [path("paths", each, "MindRecord") for each in _listed(paths, one)]
    source._begin("MindRecord", {"paths": texts, "fields": _fields(texts, one), "one": one, **attributes})


def _listed(paths: Any, one: bool) -> list[Any]:
    try:
        listed = [paths] if one else list(paths)
    except TypeError:
        listed = []
    if not listed:
        raise GraphError(f"MindRecord: paths is {shown(paths)}; give a path, or a list of paths")
    return listed


def _fields(texts: list[str], one: bool) -> list[str]:
    try:
        return _engine.mind_record_fields([os.fsencode(each) for each in texts], one)[1]
    except Error as error:
        name_foreign_file(error, "MindRecord")
        error._reword(f"MindRecord: {error}")
        raise
