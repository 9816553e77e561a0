"""`write_part` writes one part of a set on a node: what a task of `headrace.ray.write` runs.

Each attempt writes under names of its own, so that one that was given up for lost does no harm if it goes on. On a far store
the parts get their names here, as an upload that ends replaces a whole object."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace._files.system_error import system_error
from headrace._writing.encoding import Encoding, Part
from headrace._writing.set_journal import FinishedPart
from headrace._writing.set_writer import discarding, fill, kept_part, state_of
from headrace.errors import Error, NotFoundError
from headrace.ray.batch_ranges import SentRanges, range_here
from headrace.ray.maker import Failure, failure_of
from headrace.ray.setting_up import set_up

__all__ = ["PartJob", "WrittenPart", "attempt_path", "write_part"]


@dataclass(frozen=True)
class PartJob:
    """What all tasks of a set have in common."""

    sent: SentRanges
    encoding: Encoding
    paths: list[str]
    """Of the parts."""
    attempts: str | None
    """The folder for their drafts; None: the parts are written to a far store."""
    setup: Callable[[], Any] | None


@dataclass(frozen=True)
class WrittenPart:
    part: FinishedPart
    folder: str | None
    """Of the attempt, which has the drafts."""
    node: str


def attempt_path(folder: str, path: str) -> str:
    """Of the part whose path is to be `path`."""
    return os.path.join(folder, os.path.basename(path))


def write_part(job: PartJob, index: int, start: int, stop: int | None) -> WrittenPart | Failure:
    """Errors of the rows and of the disk are given back, as others end the task, and Ray shows them in its own way.

    Args:
        job: The set.
        index: The number of the part.
        start: Its first row.
        stop: The row after its last one; None: it takes all rows that are left.
    """
    try:
        with set_up(job.setup):
            return _written(job, index, start, stop)
    except Error as error:
        return failure_of(error)


def _written(job: PartJob, index: int, start: int, stop: int | None) -> WrittenPart:
    folder = None if job.attempts is None else _attempt_folder(job.attempts, job.encoding.of)
    path = job.paths[index] if folder is None else attempt_path(folder, job.paths[index])
    with range_here(job.sent, start, stop) as rows:
        part = job.encoding.begin(path)
        with discarding(part):
            count = fill(part, rows, start)
            if folder is None:
                finished = _put_part(part, count)
            else:
                finished = kept_part(
                    part.streams, job.encoding.files(path), count, None if stop is None else state_of(rows)
                )
    return WrittenPart(finished, folder, os.uname().nodename)


def _put_part(part: Part, rows: int) -> FinishedPart:
    for stream in part.streams:
        stream.seal()
    sizes = [stream.size for stream in part.streams]
    for stream in part.streams:
        stream.commit()
    return FinishedPart(rows, None, sizes, [0 for _ in sizes])


def _attempt_folder(folder: str, of: str) -> str:
    attempt = os.path.join(folder, uuid.uuid4().hex)
    try:
        os.mkdir(attempt, 0o700)
    except FileNotFoundError:
        raise NotFoundError(
            f"{of}: there is no folder {folder} on the node {os.uname().nodename}: write to a folder that all nodes share "
            "under one path, or to a far store"
        ) from None
    except OSError as error:
        raise system_error(f"{of}: cannot write to {folder} on the node {os.uname().nodename}", error) from error
    return attempt
