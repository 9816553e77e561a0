"""`SetJournal` names the parts of a set that are finished, so that another process can go on after them.

It is `train.rec.journal` beside `train.rec` or the set's files. Its first line names the job and the number of rows; each
further one is a finished part: how many rows it has, the state of the pipeline after them, and size and CRC-32C of its
files. These are drafts until all parts are there, and then get their names together. The journal is locked while the set
is written, and removed at the end, so a set whose files got their names in part is known by it
(ops/source/unfinished_sets.h)."""

import base64
import contextlib
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from headrace import _engine
from headrace._files.opened_file import open_own_file
from headrace._files.system_error import saying
from headrace._writing.encoding import DRAFT, MADE
from headrace._writing.journal_lines import JOURNAL, checked_line, fields_of, is_count
from headrace.errors import Error, StateError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FinishedPart", "SetJournal"]


@dataclass
class FinishedPart:
    """A part whose files are there, under their names or as drafts."""

    rows: int
    state: str | None
    """After its last row, in base64; None: of a pipeline that cannot be restored."""
    sizes: list[int]
    """Of its files."""
    checksums: list[int]
    """CRC-32C."""

    @property
    def state_bytes(self) -> bytes | None:
        return None if self.state is None else base64.b64decode(self.state)


class SetJournal:
    """The journal of the set at `path`. A `with` block that ends by an exception keeps it and the finished parts, unless
    there is none. Used by one thread."""

    keeps_parts = True
    """Whether an error leaves the finished ones."""

    def __init__(self, path: str, parts: Sequence[Sequence[str]], job: str, stream: "_engine.OutputStream") -> None:
        self._path = path
        self._parts = parts
        self._job = job
        self._stream = stream
        self.finished: list[FinishedPart] = []
        self.rows: int | None = None
        """Of the whole set, where that is known."""

    @classmethod
    def create(cls, path: str, parts: Sequence[Sequence[str]], job: str) -> "Self":
        """An empty one, in place of what a killed process left; `begin` comes next. `parts` are the files of each part.
        UnsupportedError: another process writes the set, or what has the journal's name is not this user's."""
        return cls(path, parts, job, _engine.OutputStream(os.fsencode(path), JOURNAL))

    @classmethod
    def resume(cls, path: str, parts: Sequence[Sequence[str]], job: str) -> "Self | None":
        """Goes on after the finished parts whose bytes are there; None: there is none. StateError: the journal is of
        another job. UnsupportedError as `create`."""
        journal_path = path + JOURNAL
        if not os.path.lexists(journal_path):
            return None
        with saying(f"cannot read {journal_path}"):
            # Locked before it is read.
            stream = _engine.OutputStream.resume(os.fsencode(path), JOURNAL, os.lstat(journal_path).st_size)
        journal = cls(path, parts, job, stream)
        try:
            good = journal._read()
        finally:
            stream.keep()
        if not journal._can_go_on():
            return None
        # What a kill cut off goes.
        journal._stream = _engine.OutputStream.resume(os.fsencode(path), JOURNAL, good)
        return journal

    def begin(self, rows: int | None) -> None:
        self.rows = rows
        self._write(checked_line({"job": self._job, "rows": rows}))

    def add(self, part: FinishedPart) -> None:
        """The files of the next part are on the disk."""
        self._write(checked_line(asdict(part)))
        self.finished.append(part)

    def commit(self, made: Sequence[tuple[str, int]] | None = None) -> None:
        """All parts are there: gives their files their names, or those of the files that were `made` of them."""
        parts = [
            (os.fsencode(file), size)
            for names, part in zip(self._parts, self.finished, strict=True)
            for file, size in zip(names, part.sizes, strict=True)
        ]
        if made is None:
            _engine.commit_set(parts, DRAFT)
        else:
            _engine.commit_set([(os.fsencode(file), size) for file, size in made], MADE)
            for file, size in parts:
                _engine.OutputStream.resume(file, DRAFT, size).discard()
        self._stream.discard()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or not self.finished:
            self._stream.discard()
            return
        with contextlib.suppress(Error):
            self._stream.keep()

    def _write(self, line: bytes) -> None:
        self._stream.append([line])
        self._stream.flush()

    def _can_go_on(self) -> bool:
        """Whether the next row is known, or none is left."""
        if not self.finished or (self.rows is None and len(self._parts) > 1):
            return False
        return len(self.finished) == len(self._parts) or self.finished[-1].state is not None

    def _read(self) -> int:
        """Fills `finished` and `rows`. Returns the end of the last line that counts."""
        journal = self._path + JOURNAL
        with saying(f"cannot read {journal}"), open_own_file(journal) as file:
            # Without what comes after the last end of a line.
            written = file.read().split(b"\n")[:-1]
        if not written:
            return 0
        head, *lines = written
        found = fields_of(head)
        if found.get("job") != self._job:
            raise StateError(
                f"{journal} was begun from other data or with other options; give those to go on with it, or "
                "leave resume (--resume) out to begin anew"
            )
        self.rows = found["rows"] if is_count(found.get("rows")) else None
        good = len(head) + 1
        for line, files in zip(lines, self._parts, strict=False):
            part = _part_of(line, len(files))
            if part is None or not all(map(_is_there, files, part.sizes, part.checksums)):
                break
            self.finished.append(part)
            good += len(line) + 1
        return good


def _part_of(line: bytes, files: int) -> FinishedPart | None:
    """None: the line was damaged, or was not written here."""
    found = fields_of(line)
    if found.keys() != _FIELDS or not is_count(found["rows"]):
        return None
    for name in ("sizes", "checksums"):
        counts = found[name]
        if not isinstance(counts, list) or len(counts) != files or not all(map(is_count, counts)):
            return None
    if found["state"] is not None:
        try:
            base64.b64decode(found["state"], validate=True)
        except (TypeError, ValueError):
            return None
    return FinishedPart(**found)


_FIELDS = {each.name for each in fields(FinishedPart)}


def _is_there(file: str, size: int, checksum: int) -> bool:
    """Whether the file, or else its draft, has these bytes. A kill may have come after some files got their names."""
    draft = file + DRAFT
    if os.path.lexists(draft):
        # Others may have planted it.
        with saying(f"cannot read {draft}"):
            open_own_file(draft).close()
        return _engine.file_checksum(os.fsencode(draft)) == (size, checksum)
    return os.path.isfile(file) and _engine.file_checksum(os.fsencode(file)) == (size, checksum)
