"""A `.rec` and its `.idx` while they are written, with a journal from which another process can go on.

Beside `train.rec` lie `train.rec.draft`, `train.idx.draft` and `train.rec.journal`. The journal's first line names the
job; each further one is a checkpoint: how far the job is, how many bytes both drafts have, and the CRC of those of the
records since the checkpoint before. A checkpoint is written when its bytes are in the system's hands, so that it holds
after a kill; `resume` reads the drafts again and goes on after the last checkpoint whose bytes are there. Finished files
take their names at the very end.

Others may foresee the names of the three, so they are new files, or those of this user (`_engine.OutputStream`).
"""

import contextlib
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._files.opened_file import open_own_file, open_to_read
from headrace._files.system_error import system_error
from headrace._writing.encoding import DRAFT
from headrace._writing.journal_lines import JOURNAL, checked_line, fields_of, is_count, parsed
from headrace.errors import DataError, Error, StateError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Checkpoint", "RecordDraft", "index_path", "is_kept"]

_BLOCK = 1 << 22
_FINISHED = b'{"finished": true}\n'


def index_path(record_path: str) -> str:
    """ "a/train.rec" to "a/train.idx"; of another ending, with ".idx" after it."""
    stem, ending = os.path.splitext(record_path)
    return f"{stem}.idx" if ending == ".rec" else f"{record_path}.idx"


def is_kept(record_path: str) -> bool:
    """Whether a run that did not finish left something to go on with."""
    journal = _journal_of(record_path)
    return os.path.isfile(journal) and not os.path.islink(journal)


@dataclass
class Checkpoint:
    """How far a job is."""

    position: int = 0
    """Entries of its input that are done, packed or skipped."""
    records: int = 0
    record_bytes: int = 0
    index_bytes: int = 0
    crc: int = 0
    """CRC-32 of the bytes of both since the checkpoint before."""
    skipped: list[list[str]] = field(default_factory=list)
    """Images left out since the checkpoint before: path and reason."""


class RecordDraft:
    """Records and their index on the way to `path`. Used by one thread.

    A `with` block that ends by an exception keeps what was written for `resume`, unless that is nothing, or the job has
    no name.
    """

    def __init__(self, path: str, writer: "_engine.RecordWriter", job: str, before: Sequence[Checkpoint]) -> None:
        self.path = path
        self.index_path = index_path(path)
        self.before = before
        """The checkpoints of the process that it goes on for."""
        self._writer = writer
        self._done = Checkpoint(**asdict(before[-1])) if before else Checkpoint()
        self._lines: list[str] = []
        self._has_name = False
        self._closed = False
        self._job = job
        try:
            self._open_files(job)
        except BaseException:
            _end(writer, bool(before))
            raise

    @classmethod
    def create(cls, path: str, job: str) -> "Self":
        """Starts over, in place of the draft of a killed process. UnsupportedError: another process writes `path`, or what
        has the names of the draft is not this user's."""
        return cls(path, _engine.RecordWriter(os.fsencode(path)), job, ())

    @classmethod
    def resume(cls, path: str, job: str) -> "Self":
        """Goes on after the last checkpoint whose bytes are there; begins anew if there is none. StateError: the draft
        is of another job. UnsupportedError as `create`."""
        before = _kept(path, job)
        if not before:
            return cls.create(path, job)
        return cls(path, _engine.RecordWriter.resume(os.fsencode(path), before[-1].record_bytes), job, before)

    @property
    def position(self) -> int:
        return self._done.position

    @property
    def records(self) -> int:
        return self._done.records + len(self._lines)

    @property
    def record_bytes(self) -> int:
        """Of the file so far."""
        return self._writer.offset

    def append(self, key: int, payload: Sequence[Any]) -> None:
        """A record of these pieces of bytes, end to end. DataError: it is too long."""
        offset = self._writer.append(payload)
        self._lines.append(f"{key}\t{offset}\n")

    def checkpoint(self, position: int, skipped: Sequence[tuple[str, str]]) -> None:
        """The first `position` entries of the input are done; `skipped` are those left out since the last call."""
        if position == self._done.position and not self._lines:
            return
        self._writer.flush()
        self._write(self._index, "".join(self._lines).encode())
        now = Checkpoint(
            position,
            self.records,
            self._writer.offset,
            self._index.size,
            0,
            [list(each) for each in skipped],
        )
        now.crc = _crc_of(self._draft, self._keys, self._done, now)
        self._write(self._journal, checked_line(asdict(now)))
        self._lines.clear()
        self._done = now

    def finish(self) -> None:
        """Gives both files their names. Call `checkpoint` before."""
        self._index.seal()
        self._writer.seal()
        self._write(self._journal, _FINISHED)
        # An old index beside new records would lead into the middle of them.
        _engine.remove_file(os.fsencode(self.index_path))
        self._writer.commit()
        self._has_name = True
        self._index.keep()
        _rename_index(self.path)
        self._close(keep_journal=False)

    @staticmethod
    def finished_before(path: str, job: str) -> list[Checkpoint]:
        """The checkpoints of a process that was killed after the records had their name and before the index had; the
        index gets it now. Empty: there was none."""
        lines = _lines(_journal_of(path))
        index = index_path(path)
        if len(lines) < 2 or lines[-1] != _FINISHED.strip() or os.path.exists(_draft_of(path)):
            return []
        has_name = os.path.exists(index)
        try:
            with (
                open_to_read(path) as records,
                open_to_read(index) if has_name else open_own_file(_draft_of(index)) as keys,
            ):
                good = _good(lines[:-1], path, job, records.fileno(), keys.fileno())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise system_error(f"cannot read {path}", error) from error
        if len(good) != len(lines) - 2 or not good or _size(path) != good[-1].record_bytes:
            return []
        if not has_name:
            _rename_index(path)
        _engine.remove_file(os.fsencode(_journal_of(path)))
        return good

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._closed:
            return
        # The journal tells, since an interrupt may have come between its line and what follows.
        keeps = kind is not None and self._job != "" and self._journal.size > self._journal_head
        if not self._has_name:
            for each in (self._writer, self._index):
                _end(each, keeps)
        self._close(keep_journal=keeps)

    # ---- files ----

    def _open_files(self, job: str) -> None:
        with contextlib.ExitStack() as opened:
            self._draft = _opened_to_read(_draft_of(self.path))
            opened.callback(os.close, self._draft)
            index = os.fsencode(self.index_path)
            if self._done.index_bytes > 0:
                self._index = _engine.OutputStream.resume(index, DRAFT, self._done.index_bytes)
            else:
                self._index = _engine.OutputStream(index, DRAFT)
            opened.callback(_end, self._index, bool(self.before))
            self._keys = _opened_to_read(_draft_of(self.index_path))
            opened.callback(os.close, self._keys)
            head = json.dumps({"job": job}).encode() + b"\n"
            lines = [checked_line(asdict(each)) for each in self.before]
            # Written anew, since a kill may have cut its last line.
            self._journal = _engine.OutputStream(os.fsencode(self.path), JOURNAL)
            opened.callback(_end, self._journal, bool(self.before))
            self._write(self._journal, head + b"".join(lines))
            self._journal_head = len(head)
            opened.pop_all()

    def _write(self, stream: "_engine.OutputStream", data: bytes) -> None:
        stream.append([data])
        stream.flush()

    def _close(self, keep_journal: bool) -> None:
        self._closed = True
        _end(self._journal, keep_journal)
        os.close(self._draft)
        os.close(self._keys)


def _opened_to_read(path: str) -> int:
    try:
        with open_to_read(path) as file:
            return os.dup(file.fileno())
    except OSError as error:
        raise system_error(f"cannot read {path}", error) from error


def _end(stream: "_engine.OutputStream | _engine.RecordWriter", keeps: bool) -> None:
    """Leaves the draft to be gone on with, or removes it. Does nothing after another end."""
    if not keeps:
        stream.discard()
        return
    # After an error of the disk the checkpoints say which bytes count.
    with contextlib.suppress(Error):
        stream.keep()


def _draft_of(path: str) -> str:
    return path + DRAFT


def _journal_of(path: str) -> str:
    return path + JOURNAL


def _checkpoint_of(line: bytes) -> Checkpoint | None:
    """None: the line was damaged, or is none that was written here: anyone can compute a CRC."""
    found = fields_of(line)
    skipped = found.pop("skipped", None)
    counts = {name: value for name, value in found.items() if is_count(value)}
    if counts.keys() != _COUNTS or counts.keys() != found.keys() or not _are_skipped(skipped):
        return None
    return Checkpoint(**counts, skipped=skipped)


_COUNTS = {each.name for each in fields(Checkpoint)} - {"skipped"}


def _are_skipped(found: Any) -> bool:
    """Whether these are pairs of a path and a reason."""
    return isinstance(found, list) and all(
        isinstance(each, list) and len(each) == 2 and all(isinstance(text, str) for text in each) for each in found
    )


def _follows(checkpoint: Checkpoint, before: Checkpoint) -> bool:
    """Whether a job could have come from one to the other."""
    return (
        checkpoint.position >= before.position
        and checkpoint.records >= before.records
        and checkpoint.record_bytes >= before.record_bytes
        and checkpoint.index_bytes >= before.index_bytes
    )


def _crc_of(draft: int, index: int, before: Checkpoint, now: Checkpoint) -> int:
    """Of what was written between two checkpoints. DataError if it is not there."""
    crc = _crc(draft, before.record_bytes, now.record_bytes, 0)
    return _crc(index, before.index_bytes, now.index_bytes, crc)


def _crc(descriptor: int, begin: int, end: int, crc: int) -> int:
    while begin < end:
        block = os.pread(descriptor, min(_BLOCK, end - begin), begin)
        if not block:
            raise DataError(f"the draft ends at byte {begin:,}, before byte {end:,}")
        crc = zlib.crc32(block, crc)
        begin += len(block)
    return crc


def _kept(path: str, job: str) -> list[Checkpoint]:
    """The checkpoints of an earlier process whose bytes are there, in order."""
    try:
        with open_own_file(_draft_of(path)) as draft, open_own_file(_draft_of(index_path(path))) as index:
            return _good(_lines(_journal_of(path)), path, job, draft.fileno(), index.fileno())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise system_error(f"cannot read what is kept beside {path}", error) from error


def _lines(journal: str) -> list[bytes]:
    """Those that were written whole."""
    try:
        with open_own_file(journal) as file:
            return file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise system_error(f"cannot read {journal}", error) from error


def _rename_index(path: str) -> None:
    index = index_path(path)
    _engine.commit_set([(os.fsencode(index), _size(_draft_of(index)))], DRAFT)


def _good(lines: list[bytes], path: str, job: str, draft: int, index: int) -> list[Checkpoint]:
    if not lines:
        return []
    if parsed(lines[0]).get("job") != job:
        raise StateError(
            f"{_draft_of(path)} was begun from another list or with other options; give those to go on with it, or leave "
            "resume (--resume) out to begin anew"
        )
    good: list[Checkpoint] = []
    before = Checkpoint()
    for line in lines[1:]:
        checkpoint = _checkpoint_of(line)
        try:
            if checkpoint is None or not _follows(checkpoint, before):
                break
            if _crc_of(draft, index, before, checkpoint) != checkpoint.crc:
                break
        except DataError:
            break
        before = checkpoint
        good.append(checkpoint)
    return good


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
