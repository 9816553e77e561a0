"""MindRecord: a file that is named alone stands for its set."""

import os
from typing import Any

from headrace import _engine, sources
from headrace._datasets.dataset import Dataset
from headrace._formats.format import Converted, Format, Place, Target
from headrace._mindrecord.set_files import db_path, set_paths

__all__ = ["MIND_RECORD"]


def _written(dataset: Dataset, path: str, **options: Any) -> Converted:
    written = dataset.write_mindrecord(path, **options)
    return Converted(written.paths, sum(written.rows), written.bytes, written.kept)


def _with_indices(path: str, files: int) -> list[str]:
    return [each for part in set_paths(path, files) for each in (part, db_path(part))]


def _set_of(place: Place) -> list[str]:
    one = len(place.files) == 1
    return _engine.mind_record_fields([os.fsencode(path) for path in place.files], one)[0]


MIND_RECORD = Format(
    "MindRecord",
    "hr.MindRecord",
    lambda paths, **options: sources.MindRecord(paths, **options),
    kinds=frozenset({"MindRecord"}),
    endings=(".mindrecord",),
    reads_files_alone=False,
    files_of=_set_of,
    beside=(".db",),
    target=Target((".mindrecord",), _written, _with_indices),
)
