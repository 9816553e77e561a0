"""`convert` writes the rows of a path in another format: their order, their columns, and what a run that ended early left."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace import transforms as T
from headrace._arguments.options import shown
from headrace._arguments.suggestions import did_you_mean
from headrace._datasets.dataset import Dataset
from headrace._files.places import exists, real_path
from headrace._formats.format import Converted, Format, Target
from headrace._formats.opening import Found, found_at
from headrace._formats.row_bar import RowBar
from headrace._formats.table import FORMATS
from headrace._writing.journal_lines import JOURNAL
from headrace.errors import GraphError, UnsupportedError

__all__ = ["Conversion", "convert"]

_OF = "convert"
_ADVICE = "; --columns OLD=NEW chooses and renames columns, --cast COLUMN=DTYPE converts them"


@dataclass
class Conversion:
    """What is converted, and how."""

    source: str
    path: str
    """What is written."""
    format: str | None = None
    """The name of the target's format, such as "tar"; None: the path's ending says it."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Those that are written, with their new names, in this order; empty: all."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """From the names that columns have in the source to dtypes."""
    files: int = 1
    workers: int | None = None
    resume: bool = False
    overwrite: bool = False


def convert(wanted: Conversion) -> Converted:
    """Writes all rows in the order of the source. The bytes are the same whatever the number of workers.

    Raises UnsupportedError if files of the target's name are there, and the errors of the source, of the target's format and
    of the disk.
    """
    target = _target_of(wanted)
    found = found_at(wanted.source, _OF)
    written = target.paths(wanted.path, wanted.files)
    _check_other_files([*found.place.files, *found.format.files_of(found.place)], written)
    _check_free(wanted, written)
    _check_whole(found, wanted)
    dataset = _chosen(found.opened({}), wanted)
    try:
        return _written(dataset, target, wanted)
    except GraphError as error:
        first, end, rest = str(error).partition("\n")
        # A list of mistakes names what is wrong below.
        if not first.endswith(":"):
            error._reword(f"{first}{_ADVICE}{end}{rest}")
        raise


# ---- the target ----


def _targets() -> Iterable[tuple[Format, Target]]:
    return ((each, each.target) for each in FORMATS if each.target is not None)


def _target_of(wanted: Conversion) -> Target:
    for form, target in _targets():
        if form.name.lower() == wanted.format or (
            wanted.format is None and wanted.path.lower().endswith(target.endings)
        ):
            return target
    names = ", ".join(f"{form.name.lower()} ({target.endings[0]})" for form, target in _targets())
    if wanted.format is not None:
        raise GraphError(f"{_OF}: --to is {shown(wanted.format)}; it must be one of {names}")
    raise GraphError(f"{_OF}: the name of TARGET, {wanted.path}, does not say its format; give --to one of {names}")


def _check_other_files(read: list[str], written: list[str]) -> None:
    there = {real_path(path) for path in read}
    for path in written:
        if real_path(path) in there:
            raise GraphError(f"{_OF}: TARGET is {path}, a file that is read, which it would replace; name another one")


def _check_free(wanted: Conversion, written: list[str]) -> None:
    """Whether nothing is replaced, but what an earlier run gave names to when it was killed."""
    if wanted.overwrite or (wanted.resume and exists(wanted.path + JOURNAL)):
        return
    there = next((path for path in written if exists(path)), None)
    if there is not None:
        raise UnsupportedError(f"{_OF}: {there} is there; --overwrite replaces it, or write to another name")


# ---- the rows ----


def _check_whole(found: Found, wanted: Conversion) -> None:
    """Whether no column is lost without a word."""
    left_out = [] if wanted.columns else found.left_out({})
    if left_out:
        raise GraphError(f"{_OF}: {wanted.source}: {left_out[0]}; name the columns to write with --columns")


def _chosen(dataset: Dataset, wanted: Conversion) -> Dataset:
    names = list(dataset.schema)
    for option, given in (("--columns", wanted.columns), ("--cast", wanted.casts)):
        for name in given:
            if name not in names:
                raise GraphError(
                    f"{_OF}: {option} names {shown(name)}, and the columns are {', '.join(names)}{did_you_mean(name, names)}"
                )
    for name, dtype in wanted.casts.items():
        dataset = dataset.map(T.TypeCast(dtype), name)
    if not wanted.columns:
        return dataset
    renamed = {old: new for old, new in wanted.columns.items() if old != new}
    dataset = dataset.project(list(wanted.columns))
    return dataset.rename(renamed) if renamed else dataset


def _written(dataset: Dataset, target: Target, wanted: Conversion) -> Converted:
    options: dict[str, Any] = {} if wanted.workers is None else {"workers": wanted.workers}
    with RowBar(os.path.basename(wanted.path), dataset._count()) as bar:
        return target.write(dataset, wanted.path, files=wanted.files, resume=wanted.resume, callbacks=[bar], **options)
