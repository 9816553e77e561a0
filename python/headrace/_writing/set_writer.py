"""`write_set` writes the rows of a dataset to a set of files: what all methods `Dataset.write_…` have in common."""

import base64
import contextlib
import hashlib
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from headrace import _engine
from headrace._arguments.counted import counted
from headrace._arguments.storage import within
from headrace._files.places import is_far
from headrace._writing.encoding import DRAFT, Encoding, Part, Stream
from headrace._writing.far_set import FarSet
from headrace._writing.part_paths import check_no_other_set, part_paths
from headrace._writing.set_journal import FinishedPart, SetJournal
from headrace._writing.target_folder import check_folder
from headrace.errors import StateError, UnsupportedError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = [
    "SetInProgress",
    "SetWriter",
    "WriteSet",
    "WrittenSet",
    "discarding",
    "fill",
    "kept_part",
    "state_of",
    "write_set",
]

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


WriteSet = Callable[..., WrittenSet]
"""`write_set`, perhaps with another writer."""


class SetInProgress(Protocol):
    """The parts of a set that are finished, until `commit` gives their files their names: SetJournal, or FarSet."""

    keeps_parts: bool
    finished: list[FinishedPart]
    rows: int | None

    def begin(self, rows: int | None) -> None: ...
    def add(self, part: FinishedPart) -> None: ...
    def commit(self, made: Sequence[tuple[str, int]] | None = None) -> None: ...
    def __enter__(self) -> "SetInProgress": ...
    def __exit__(self, *_: Any) -> None: ...


def write_set(
    dataset: "Dataset",
    path: str,
    encoding: Encoding,
    given: dict[str, Any],
    *,
    files: int = 1,
    paths: list[str] | None = None,
    resume: bool = False,
    writer: "Callable[[Dataset, int, Encoding, list[str]], SetWriter] | None" = None,
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
        writer: Makes what writes the parts; None: SetWriter, which writes them in this process, in succession.
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
        rows._refuse_endless(encoding.of)
        if paths is None:
            check_no_other_set(path, files, encoding.of)
            paths = part_paths(path, files)
        made = (writer or SetWriter)(rows, dataset.epoch, encoding, paths)
        return _written(made, path, resume, started)


def _written(writer: "SetWriter", path: str, resume: bool, started: float) -> WrittenSet:
    encoding, paths = writer.encoding, writer.paths
    with writer.begun(path, resume) as journal:
        kept = len(journal.finished)
        with _noting_what_is_kept(journal):
            writer.write_rest(journal)
            counts = [part.rows for part in journal.finished]
            made = encoding.assemble(paths, counts)
            journal.commit(made)
    if made is None:
        written = sum(part.sizes[writer.row_file] for part in journal.finished)
    else:
        written = sum(size for file, size in made if file in paths)
    return WrittenSet(paths, counts, written, kept, time.monotonic() - started)


class SetWriter:
    """Writes the parts of one set. Used by one thread."""

    def __init__(self, rows: "Dataset", epoch: int, encoding: Encoding, paths: list[str]) -> None:
        self.rows = rows
        self.epoch = epoch
        self.encoding = encoding
        self.paths = paths
        self.files = [encoding.files(path) for path in paths]
        """Of each part."""
        self.row_file = self.files[0].index(paths[0])
        """The place of the file of rows among those of a part."""

    def begun(self, path: str, resume: bool) -> SetInProgress:
        """The journal, with the parts that an earlier run had finished; of a far store none."""
        if is_far(path):
            return FarSet(self.files)
        return self.journal(path, resume)

    def journal(self, path: str, resume: bool) -> SetJournal:
        job = self._job()
        journal = SetJournal.resume(path, self.files, job) if resume else None
        return journal or SetJournal.create(path, self.files, job)

    def write_rest(self, journal: SetInProgress) -> None:
        """Writes the parts that are left."""
        first = len(journal.finished)
        if first == len(self.paths):
            return
        if first == 0:
            journal.begin(self._count())
        self.write_from(first, journal)

    def write_from(self, first: int, journal: SetInProgress) -> None:
        """Writes part `first` and those after it."""
        last = len(self.paths) - 1
        number = sum(part.rows for part in journal.finished)
        with self._rows_after(journal) as rows:
            for index in range(first, last + 1):
                # The last part takes what is left, whatever was counted.
                left = None if index == last else max(0, self.end_of(index, journal.rows or 0) - number)
                part = self.encoding.begin(self.paths[index])
                with discarding(part):
                    count = fill(part, itertools.islice(rows, left), number)
                    state = None if left is None else state_of(rows)
                    journal.add(self._sealed(journal, index, part, count, state))
                number += count

    def _rows_after(self, journal: SetInProgress) -> Any:
        state = journal.finished[-1].state_bytes if journal.finished else None
        if state is None:
            return self.rows.iterate(epoch=self.epoch)
        try:
            return self.rows.iterate(state=state)
        except StateError as error:
            raise StateError(
                f"{self.encoding.of}: the files that are there are of another dataset: {error}; leave resume (--resume) "
                "out to begin anew"
            ) from error

    def end_of(self, index: int, total: int) -> int:
        """The row after the last one of a part."""
        return (index + 1) * total // len(self.paths)

    def _sealed(self, journal: SetInProgress, index: int, part: Part, count: int, state: str | None) -> FinishedPart:
        if not isinstance(journal, FarSet):
            return kept_part(part.streams, self.files[index], count, state)
        for stream in part.streams:
            stream.seal()
        return journal.sealed(part.streams, count)

    def _count(self) -> int | None:
        """Of all rows, where it decides which file they are in."""
        if len(self.paths) == 1:
            return None
        count = self.rows._finite_count(self.encoding.of)
        if count is not None:
            return count
        # Only a run of the pipeline shows it.
        with self.rows.options(callbacks=None, profile=None).iterate(epoch=self.epoch) as rows:
            return sum(1 for _ in rows)

    def _job(self) -> str:
        """Names what is written and how, but for the graph, which states name."""
        options = self.rows._options
        rows = [self.epoch, options["seed"], options["shard"], options["even"]]
        parts = [_FORMAT, self.encoding.of, self.encoding.identity, len(self.paths), rows]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def fill(part: Part, rows: Iterator[dict[str, Any]], first: int) -> int:
    """Writes the rows of a part. The number of them; `first` is that of the first one in the set."""
    number = first
    for row in rows:
        part.append(row, number)
        number += 1
    part.finish()
    return number - first


def kept_part(streams: Sequence[Stream], files: Sequence[str], rows: int, state: str | None) -> FinishedPart:
    """Leaves the drafts of a part, whose files these are, on the disk."""
    for stream in streams:
        stream.seal()
    sizes, checksums = [], []
    for file in files:
        size, checksum = _engine.file_checksum(os.fsencode(file + DRAFT))
        sizes.append(size)
        checksums.append(checksum)
    # There may be more parts than files that can be open.
    for stream in streams:
        stream.keep()
    return FinishedPart(rows, state, sizes, checksums)


def state_of(rows: Any) -> str | None:
    """In base64; None: of a pipeline that cannot be restored."""
    try:
        return base64.b64encode(rows.state()).decode()
    except StateError:
        return None


@contextlib.contextmanager
def discarding(part: Part) -> Iterator[None]:
    """Removes what an exception leaves of a part."""
    try:
        yield
    except BaseException:
        for stream in part.streams:
            stream.discard()
        raise


@contextlib.contextmanager
def _noting_what_is_kept(journal: SetInProgress) -> Iterator[None]:
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
