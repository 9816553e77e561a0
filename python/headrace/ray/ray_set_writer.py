"""`RaySetWriter` has the parts of a set written by tasks of Ray, and gives them their names in this process."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._files.places import is_far
from headrace._files.system_error import saying
from headrace._writing.encoding import DRAFT
from headrace._writing.set_journal import FinishedPart
from headrace._writing.set_writer import SetInProgress, SetWriter
from headrace.errors import NotFoundError, ResourceError
from headrace.ray.batch_ranges import sent_ranges
from headrace.ray.installed import started_ray
from headrace.ray.maker import Failure
from headrace.ray.manifest import manifest_path
from headrace.ray.part_task import PartJob, WrittenPart, attempt_path, write_part
from headrace.ray.put_set import PutSet

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset
    from headrace._writing.encoding import Encoding

__all__ = ["RaySetWriter", "TaskOptions"]

ATTEMPTS = ".attempts"
"""The ending of the name of the folder of drafts that tasks write, after the set's."""
# How long cancelled tasks may take to end.
_PATIENCE_S = 10.0
# Of a part whose task was lost, with its node or for lack of memory.
_RETRIES = 3


@dataclass(frozen=True)
class TaskOptions:
    """Of each task."""

    resources: dict[str, Any]
    setup: Callable[[], Any] | None


class RaySetWriter(SetWriter):
    """As SetWriter. Parts are made in any order and finished in theirs, so an error is that of the first row that fails."""

    def __init__(
        self, task: TaskOptions, path: str, rows: Dataset, epoch: int, encoding: Encoding, paths: list[str]
    ) -> None:
        super().__init__(rows, epoch, encoding, paths)
        self._sent = sent_ranges(rows, epoch, encoding.of)
        self._task = task
        self._path = path
        self._ray = started_ray("headrace.ray.write")

    def begun(self, path: str, resume: bool) -> SetInProgress:
        journal: SetInProgress = PutSet(path, self.files) if is_far(path) else self.journal(path, resume)
        # It names a set that is whole.
        _engine.remove_file(os.fsencode(manifest_path(path)))
        return journal

    def write_from(self, first: int, journal: SetInProgress) -> None:
        self._check_kept(journal)
        with self._attempts() as attempts:
            job = PartJob(self._sent, self.encoding, self.paths, attempts, self._task.setup)
            with self._tasks(job, first, journal.rows) as tasks:
                for index, task in enumerate(tasks, first):
                    journal.add(self._taken(index, self._ended(index, task)))

    def _check_kept(self, journal: SetInProgress) -> None:
        """StateError where the parts that are kept are of another pipeline, which tasks would not see."""
        if journal.finished:
            self._rows_after(journal).close()

    @contextlib.contextmanager
    def _attempts(self) -> Iterator[str | None]:
        """The folder, empty; what killed processes left in it is gone, and what lost tasks write then fails."""
        if is_far(self._path):
            yield None
            return
        base = self._path + ATTEMPTS
        folder = os.path.join(base, uuid.uuid4().hex)
        _remove_tree(base)
        with saying(f"{self.encoding.of}: cannot write to {base}"):
            os.mkdir(base, 0o700)
            os.mkdir(folder, 0o700)
        try:
            yield folder
        finally:
            _remove_tree(base)

    @contextlib.contextmanager
    def _tasks(self, job: PartJob, first: int, total: int | None) -> Iterator[list[Any]]:
        """Of all parts that are left. None of them runs after the block."""
        ray = self._ray
        run = ray.remote(**self._task.resources, max_retries=_RETRIES, retry_exceptions=False)(write_part)
        # Once on each node, not once a task.
        held = ray.put(job)
        tasks: list[Any] = []
        try:
            for index in range(first, len(self.paths)):
                start, stop = self._rows_of(index, total)
                name = f"{self.encoding.of} {os.path.basename(self.paths[index])}"
                tasks.append(run.options(name=name).remote(held, index, start, stop))
            yield tasks
        finally:
            self._cancel(tasks)

    def _cancel(self, tasks: list[Any]) -> None:
        _, running = self._ray.wait(tasks, num_returns=len(tasks), timeout=0) if tasks else ([], [])
        for task in running:
            self._ray.cancel(task, force=True)
        if running:
            self._ray.wait(running, num_returns=len(running), timeout=_PATIENCE_S)

    def _rows_of(self, index: int, total: int | None) -> tuple[int, int | None]:
        """Of a part; the last one takes what is left, whatever was counted."""
        if total is None:
            return 0, None
        start = self.end_of(index - 1, total)
        return start, None if index == len(self.paths) - 1 else self.end_of(index, total)

    def _ended(self, index: int, task: Any) -> WrittenPart:
        of = self.encoding.of
        try:
            result: WrittenPart | Failure = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except self._ray.exceptions.RayError as error:
            raise ResourceError(
                f"{of}: {self.paths[index]} was not written, as its task was lost again and again: {error}"
            ) from error
        if isinstance(result, Failure):
            raise result.again()
        return result

    def _taken(self, index: int, written: WrittenPart) -> FinishedPart:
        """Moves the drafts that a task wrote to where `commit` looks for them."""
        if written.folder is not None:
            here = self.encoding.files(attempt_path(written.folder, self.paths[index]))
            for draft, file in zip(here, self.files[index], strict=True):
                self._move(draft + DRAFT, file + DRAFT, written.node)
        return written.part

    def _move(self, draft: str, place: str, node: str) -> None:
        of = self.encoding.of
        with saying(f"{of}: cannot write {place}"):
            try:
                os.replace(draft, place)
            except FileNotFoundError:
                raise NotFoundError(
                    f"{of}: the node {node} wrote {draft}, and it is not there on this one: write to a folder that all "
                    "nodes share under one path, or to a far store"
                ) from None


def _remove_tree(folder: str) -> None:
    """Lost tasks may still make files in it."""
    with contextlib.suppress(OSError):
        shutil.rmtree(folder)
