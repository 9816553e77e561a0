"""`write` packs a dataset on the nodes of a Ray cluster."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace import _mindrecord, _parquet, _records
from headrace._arguments import options as checks
from headrace._arguments.other_libraries import unknown_keyword
from headrace._arguments.suggestions import did_you_mean
from headrace._datasets.class_names import known_classes
from headrace._files.places import absolute, is_far
from headrace._files.system_error import saying
from headrace._runs.run_options import RunParameters
from headrace._writing.encoding import Encoding
from headrace._writing.part_paths import MOST_FILES
from headrace._writing.set_writer import WriteSet, WrittenSet, write_set
from headrace.errors import GraphError
from headrace.ray.installed import ray_or_error
from headrace.ray.manifest import write_manifest
from headrace.ray.ray_set_writer import RaySetWriter, TaskOptions
from headrace.ray.setting_up import check_setup
from headrace.ray.task_options import checked_resources, cpus_of

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["write"]

_OF = "headrace.ray.write"
# Of a file, where the number of files is not given.
_ROWS = 10_000


def write(
    dataset: Dataset,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    files: int | None = None,
    resume: bool = False,
    resources: Mapping[str, Any] | None = None,
    setup: Callable[[], Any] | None = None,
    **options: Any,
) -> Any:
    """Writes the rows of epoch `ds.epoch`, in their order, to a set of files, each of which a task of Ray makes on any node.

    The files have the bytes that `ds.write_records(path, files=files)` and the other writers give on one machine, whatever
    the number of nodes; the result is that of the same method. Tasks that are lost with their node run again. The folder is
    one that all nodes share under the same path, such as NFS, or in a far store.

        hr.ray.write(ds, "/shared/records/", format="records", files=64)

    Tasks write drafts in the folder PATH.attempts, which take their names together when all are there, in place of older
    files; an error or a kill leaves those as they were, or a set that is refused. In a far store each file appears when it is
    complete; an older set is removed first, and until the new one is there the object PATH.journal makes what is there be
    refused. Last comes PATH.manifest.json, which names the files with their rows and bytes.

    Raises UnsupportedError, naming the operator, where a row cannot be made by its number, as above a filter or a
    shuffle(window), where a node has another version or reads other files, and without Ray; ResourceError for a part whose
    task was lost four times; and the errors of the writer.

    Args:
        dataset: The rows. Paths in it are those of the nodes, so give absolute ones.
        path: As the writer takes it. If it ends in "/", it is a folder, which is made, and the set is called `part` in it.
        format: "records" (.rec), "tfrecord", "tar", "parquet" or "mindrecord"; None: what the ending of the path says.
        files: How many files the rows are divided among, in runs of equal length: as many tasks. None: one for each 10,000
            rows.
        resume: Go on with what a run with the same arguments left, here or on one machine; not in far stores.
        resources: Of each task, as Ray's tasks take them: num_cpus (by default 1), num_gpus, memory, resources, label_selector,
            accelerator_type, scheduling_strategy and runtime_env. A pipeline has as many workers as CPUs, if `workers` is not
            given.
        setup: A function without arguments that each task calls first, as to register file systems. If it returns a context
            manager, such as `hr.storage(…)`, the part is written within it. Settings of far stores do not travel otherwise.
        options: Those of the method, such as `compression` of `write_parquet`, and those of `iterate`, without `callbacks`
            and `profile`.
    """
    ray_or_error(_OF)
    form, path = _target(path, format)
    for name in ("callbacks", "profile"):
        if options.get(name) is not None:
            raise GraphError(
                f"{_OF}: {name} belongs to a run in this process, and rows are made by tasks; leave it out"
            )
    for name in options:
        if name not in form.own and name not in RunParameters.__annotations__:
            raise unknown_keyword(_OF, name, [*sorted(form.own), *RunParameters.__annotations__])
    check_setup(setup, _OF)
    chosen = checked_resources(resources, _OF)
    if options.get("workers") is None:
        options["workers"] = cpus_of(chosen)
    if files is None:
        count = dataset.options(**_of_runs(form, options))._finite_count(_OF) or 0
        files = min(max(1, -(-count // _ROWS)), MOST_FILES)
    task = TaskOptions(chosen, setup)
    return form.write(dataset, path, files, resume, options, functools.partial(_write_set, task))


def _write_set(
    task: TaskOptions, dataset: Dataset, path: str, encoding: Encoding, given: dict[str, Any], **options: Any
) -> WrittenSet:
    writer = functools.partial(RaySetWriter, task, path)
    written = write_set(dataset, path, encoding, given, writer=writer, **options)
    write_manifest(path, encoding.of, dataset.epoch, written)
    return written


# ---- formats ----


@dataclass(frozen=True)
class _Form:
    ending: str
    own: frozenset[str]
    """Options of its method that are not those of runs."""
    write: Callable[[Dataset, str, Any, Any, dict[str, Any], WriteSet], Any]
    """Of dataset, path, files, resume, options and what writes the set."""


def _of_runs(form: _Form, options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in form.own}


def _write_parquet(
    dataset: Dataset, path: str, files: Any, resume: Any, options: dict[str, Any], write: WriteSet
) -> Any:
    return _parquet.write_parquet(
        dataset,
        path,
        files,
        options.get("row_group_rows"),
        options.get("compression", "snappy"),
        options.get("images"),
        known_classes(dataset),
        resume,
        _of_runs(_FORMS["parquet"], options),
        write,
    )


def _write_mindrecord(
    dataset: Dataset, path: str, files: Any, resume: Any, options: dict[str, Any], write: WriteSet
) -> Any:
    return _mindrecord.write_mindrecord(
        dataset,
        path,
        files,
        options.get("index"),
        options.get("header_size"),
        options.get("page_size"),
        resume,
        _of_runs(_FORMS["mindrecord"], options),
        write,
    )


_FORMS = {
    "records": _Form(".rec", frozenset(), _records.write_records),
    "tfrecord": _Form(".tfrecord", frozenset(), _records.write_tfrecord),
    "tar": _Form(".tar", frozenset(), _records.write_tar),
    "parquet": _Form(".parquet", frozenset({"row_group_rows", "compression", "images"}), _write_parquet),
    "mindrecord": _Form(".mindrecord", frozenset({"index", "header_size", "page_size"}), _write_mindrecord),
}


def _target(path: str | os.PathLike[str], format: str | None) -> tuple[_Form, str]:
    """The form, and the path of the set as all nodes know it."""
    is_folder = os.fspath(path).endswith("/")
    path = checks.file_path("path", path, _OF)
    form = _form_of(path, format)
    if is_folder:
        if not is_far(path):
            with saying(f"{_OF}: cannot make the folder {path}"):
                os.makedirs(path, exist_ok=True)
        path = f"{path.rstrip('/')}/part{form.ending}"
    return form, absolute(path)


def _form_of(path: str, format: str | None) -> _Form:
    names = ", ".join(_FORMS)
    if format is None:
        for form in _FORMS.values():
            if path.endswith(form.ending):
                return form
        raise GraphError(f"{_OF}: the path {path} does not say a format; give format=, one of {names}")
    if format not in _FORMS:
        raise GraphError(
            f"{_OF}: format is {checks.shown(format)}{did_you_mean(str(format), list(_FORMS))}; it must be one of {names}"
        )
    return _FORMS[format]
