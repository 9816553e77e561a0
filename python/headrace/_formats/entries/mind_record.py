"""MindRecord: a file that is named alone stands for its set."""

from typing import Any

from headrace import sources
from headrace._datasets.dataset import Dataset
from headrace._formats.format import Converted, Format, Target
from headrace._mindrecord.set_files import db_path, set_paths

__all__ = ["MIND_RECORD"]


def _written(dataset: Dataset, path: str, **options: Any) -> Converted:
    written = dataset.write_mindrecord(path, **options)
    return Converted(written.paths, sum(written.rows), written.bytes, written.kept)


def _with_indices(path: str, files: int) -> list[str]:
    return [each for part in set_paths(path, files) for each in (part, db_path(part))]


MIND_RECORD = Format(
    "MindRecord",
    "hr.MindRecord",
    lambda paths, **options: sources.MindRecord(paths, **options),
    kinds=frozenset({"MindRecord"}),
    endings=(".mindrecord",),
    beside=(".db",),
    target=Target((".mindrecord",), _written, _with_indices),
)
