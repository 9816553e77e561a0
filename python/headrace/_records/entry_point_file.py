"""`EntryPointFile` writes the entry points of the JPEGs in a record file into a file beside it."""

import array
import contextlib
import os
from types import TracebackType

import numpy as np

from headrace import _engine
from headrace._files.opened_file import open_to_read
from headrace._files.places import is_far
from headrace._files.system_error import saying
from headrace._records.image_payload import image_payload
from headrace.errors import UnsupportedError

__all__ = ["EntryPointFile", "check_entry_points", "entry_points_path", "remove_entry_points"]

_MAGIC = b"HRNOTES1"
_JPEG = b"\xff\xd8"
# Bytes that are written at once.
_MANY = 1 << 20


def entry_points_path(record_path: str) -> str:
    """Where the engine looks for them."""
    return f"{record_path}.points"


def check_entry_points(record_path: str, of: str) -> None:
    """UnsupportedError where the engine would not find them."""
    if is_far(record_path):
        raise UnsupportedError(
            f"{of}: entry points are read from this machine's disks: leave --entry-points out, or write the records here"
            f": {record_path}"
        )


def remove_entry_points(record_path: str) -> None:
    """Those of records that others replaced. A file of that name that is none of entry points stays."""
    path = entry_points_path(record_path)
    with saying(f"cannot remove the old entry points {path}"), contextlib.suppress(FileNotFoundError):
        if _ends_with_magic(path):
            os.unlink(path)


def _ends_with_magic(path: str) -> bool:
    if not os.path.isfile(path) or os.path.getsize(path) < len(_MAGIC):
        return False
    with open_to_read(path) as file:
        file.seek(-len(_MAGIC), os.SEEK_END)
        return file.read() == _MAGIC


class EntryPointFile:
    """Takes records in any order; `finish` puts the file in its place, and leaving the context before drops it.

    The notes first, then for each its key, first byte and length by ascending keys, then the first byte and the number
    of these entries and a magic text (docs/entry-points.md).
    """

    def __init__(self, record_path: str) -> None:
        self.path = entry_points_path(record_path)
        self._bytes = 0
        self._pieces: list[bytes] = []
        self._waiting = 0
        # Three numbers for each note, as in the table.
        self._entries = array.array("Q")
        with self._saying():
            self._stream = _engine.OutputStream(os.fsencode(self.path))

    def __enter__(self) -> "EntryPointFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Does nothing after commit.
        self._stream.discard()

    def add(self, record: memoryview) -> None:
        """A record's content: an image record, or the image alone. Others have no entry points."""
        note = _engine.entry_points(_image_in(record))
        if note is None:
            return
        key, points = note
        self._entries.extend((key, self._bytes, len(points)))
        self._write(points)

    def finish(self) -> int:
        """The number of images that have entry points."""
        entries = np.frombuffer(self._entries, np.uint64).reshape(-1, 3)
        # The same image again has the same note.
        _, first = np.unique(entries[:, 0], return_index=True)
        begin = self._bytes
        self._write(entries[first].astype("<u8").tobytes())
        self._write(np.array([begin, len(first)], "<u8").tobytes() + _MAGIC)
        self._flush()
        with self._saying():
            self._stream.commit()
        return len(first)

    def _write(self, data: bytes) -> None:
        self._pieces.append(data)
        self._bytes += len(data)
        self._waiting += len(data)
        if self._waiting >= _MANY:
            self._flush()

    def _flush(self) -> None:
        with self._saying():
            self._stream.append(self._pieces)
        self._pieces, self._waiting = [], 0

    def _saying(self) -> contextlib.AbstractContextManager[None]:
        return saying(f"cannot write the entry points {self.path}")


def _image_in(record: memoryview) -> bytes:
    if record[:2] == _JPEG:
        return bytes(record)
    image = image_payload(record)
    return bytes(image.encoded) if image is not None and image.encoded[:2] == _JPEG else b""
