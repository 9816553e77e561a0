"""`write_set` writes the rows of a dataset to a set of files: what all methods `Dataset.write_…` have in common."""

import base64
import contextlib
import hashlib
import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.counted import counted
from headrace._arguments.storage import within
from headrace._files.places import is_far
from headrace._writing.encoding import DRAFT, Encoding, Part
from headrace._writing.far_set import FarSet
from headrace._writing.part_paths import check_no_other_set, part_paths
from headrace._writing.set_journal import FinishedPart, SetJournal
from headrace._writing.target_folder import check_folder
from headrace.errors import StateError, UnsupportedError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["WrittenSet", "write_set"]

# Changes when the same rows would give other parts.
_FORMAT = 1


@dataclass
class WrittenSet:
    """What `write_set` wrote."""

    paths: list[str]
    """The files of rows, in the order of the rows."""
    rows: list[int]
    """Of each file."""
    bytes: int
    """Of the files of rows."""
    kept: int
    """Of the files, those that an earlier run had finished."""
    seconds: float
    """Of this run."""


def write_set(
    dataset: "Dataset",
    path: str,
    encoding: Encoding,
    given: dict[str, Any],
    *,
    files: int = 1,
    paths: list[str] | None = None,
    resume: bool = False,
) -> WrittenSet:
    """Writes the rows of epoch `dataset.epoch`, in their order: each file has a run of them, and all have equally many,
    or one less. Files get their names together, when all of them are there.

    After an error or a kill, finished files stay as drafts; `resume` does not make them again, and the set is the same
    in the end. A dataset that gives no states is begun anew. Raises StateError if what is there was begun from another
    dataset, UnsupportedError while another process writes the set, and the errors of the pipeline, of the disk and of
    the encoding.

    Args:
        dataset: The rows.
        path: What the set is called: the file, or of several what `part_paths` makes their names of.
        encoding: How rows are written.
        given: Options of the run.
        files: The number of files.
        paths: Their paths, where they are not those of `part_paths`.
        resume: Go on with what an earlier run with the same arguments left.
    """
    started = time.monotonic()
    check_folder(path, encoding.of)
    if resume and is_far(path):
        raise UnsupportedError(
            f"{encoding.of}: resume is True, and {path} is in a far store, which keeps no finished parts of an earlier run: "
            "leave resume out, or write to this machine"
        )
    # What is kept with the dataset for its loops is not for files.
    rows = dataset.options(**given).options(as_=None, as_tuple=None, device=None, bytes_as="memoryview")
    with within(rows._options["storage"]):
        if paths is None:
            check_no_other_set(path, files, encoding.of)
            paths = part_paths(path, files)
        return _written(_SetWriter(rows, dataset.epoch, encoding, paths), path, resume, started)


def _written(writer: "_SetWriter", path: str, resume: bool, started: float) -> WrittenSet:
    encoding, paths = writer.encoding, writer.paths
    with writer.begun(path, resume) as journal:
        kept = len(journal.finished)
        with _noting_what_is_kept(journal):
            writer.run(journal)
            counts = [part.rows for part in journal.finished]
            made = encoding.assemble(paths, counts)
            journal.commit(made)
    if made is None:
        written = sum(part.sizes[writer.row_file] for part in journal.finished)
    else:
        written = sum(size for file, size in made if file in paths)
    return WrittenSet(paths, counts, written, kept, time.monotonic() - started)


class _SetWriter:
    def __init__(self, rows: "Dataset", epoch: int, encoding: Encoding, paths: list[str]) -> None:
        self._rows = rows
        self._epoch = epoch
        self.encoding = encoding
        self.paths = paths
        self._files = [encoding.files(path) for path in paths]
        self.row_file = self._files[0].index(paths[0])
        """The place of the file of rows among those of a part."""

    def begun(self, path: str, resume: bool) -> SetJournal | FarSet:
        """The journal, with the parts that an earlier run had finished; of a far store none."""
        if is_far(path):
            return FarSet(self._files)
        job = self._job()
        journal = SetJournal.resume(path, self._files, job) if resume else None
        return journal or SetJournal.create(path, self._files, job)

    def run(self, journal: SetJournal | FarSet) -> None:
        """Writes the parts that are left."""
        parts = len(self.paths)
        first = len(journal.finished)
        if first == parts:
            return
        if first == 0:
            journal.begin(self._count())
        number = sum(part.rows for part in journal.finished)
        with self._rows_after(journal) as rows:
            for index in range(first, parts):
                # The last part takes what is left, whatever was counted.
                left = None if index == parts - 1 else max(0, self._end_of(index, journal.rows or 0) - number)
                part = self.encoding.begin(self.paths[index])
                with _discarding(part):
                    count = self._fill(part, itertools.islice(rows, left), number)
                    state = None if left is None else _state_of(rows)
                    journal.add(self._sealed(journal, index, part, count, state))
                number += count

    def _fill(self, part: Part, rows: Iterator[dict[str, Any]], first: int) -> int:
        """The number of rows; `first` is that of the first one in the set."""
        number = first
        for row in rows:
            part.append(row, number)
            number += 1
        part.finish()
        return number - first

    def _rows_after(self, journal: SetJournal | FarSet) -> Any:
        state = journal.finished[-1].state_bytes if journal.finished else None
        if state is None:
            return self._rows.iterate(epoch=self._epoch)
        try:
            return self._rows.iterate(state=state)
        except StateError as error:
            raise StateError(
                f"{self.encoding.of}: the files that are there are of another dataset: {error}; leave resume (--resume) "
                "out to begin anew"
            ) from error

    def _end_of(self, index: int, total: int) -> int:
        """The row after the last one of a part."""
        return (index + 1) * total // len(self.paths)

    def _sealed(
        self, journal: SetJournal | FarSet, index: int, part: Part, count: int, state: str | None
    ) -> FinishedPart:
        for stream in part.streams:
            stream.seal()
        if isinstance(journal, FarSet):
            return journal.sealed(part.streams, count)
        sizes, checksums = [], []
        for file in self._files[index]:
            size, checksum = _engine.file_checksum(os.fsencode(file + DRAFT))
            sizes.append(size)
            checksums.append(checksum)
        # There may be more parts than files that can be open.
        for stream in part.streams:
            stream.keep()
        return FinishedPart(count, state, sizes, checksums)

    def _count(self) -> int | None:
        """Of all rows, where it decides which file they are in."""
        if len(self.paths) == 1:
            return None
        count = self._rows._finite_count(self.encoding.of)
        if count is not None:
            return count
        # Only a run of the pipeline shows it.
        with self._rows.options(callbacks=None, profile=None).iterate(epoch=self._epoch) as rows:
            return sum(1 for _ in rows)

    def _job(self) -> str:
        """Names what is written and how, but for the graph, which states name."""
        options = self._rows._options
        rows = [self._epoch, options["seed"], options["shard"], options["even"]]
        parts = [_FORMAT, self.encoding.of, self.encoding.identity, len(self.paths), rows]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _state_of(rows: Any) -> str | None:
    try:
        return base64.b64encode(rows.state()).decode()
    except StateError:
        return None


@contextlib.contextmanager
def _discarding(part: Part) -> Iterator[None]:
    """Removes what an exception leaves of a part."""
    try:
        yield
    except BaseException:
        for stream in part.streams:
            stream.discard()
        raise


@contextlib.contextmanager
def _noting_what_is_kept(journal: SetJournal | FarSet) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if journal.finished and journal.keeps_parts:
            count = len(journal.finished)
            are = "is" if count == 1 else "are"
            note = (
                f"{counted(count, 'file')} {are} finished and kept; the same call with resume=True goes on after them"
            )
            if sys.version_info >= (3, 11):
                error.add_note(note)
            else:  # Kept where later Pythons keep them, for the command `convert`.
                error.__notes__ = [*getattr(error, "__notes__", ()), note]  # type: ignore[attr-defined]
        raise
