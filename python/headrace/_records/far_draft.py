"""`FarDraft`: a `.rec` and its `.idx` while they are written to a far store, which shows both at the end alone and keeps
nothing that another process could go on with."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace import _engine
from headrace._records.record_draft import Checkpoint, index_path

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FarDraft"]


class FarDraft:
    """As RecordDraft. Used by one thread."""

    before: Sequence[Checkpoint] = ()

    def __init__(self, path: str) -> None:
        self.path = path
        self.index_path = index_path(path)
        self.position = 0
        self.records = 0
        self._writer = _engine.RecordWriter(os.fsencode(path))
        try:
            self._index = _engine.OutputStream(os.fsencode(self.index_path))
        except BaseException:
            self._writer.discard()
            raise

    @property
    def record_bytes(self) -> int:
        """Of the file so far."""
        return self._writer.offset

    def append(self, key: int, payload: Sequence[object]) -> None:
        """A record of these pieces of bytes, end to end. DataError: it is too long."""
        offset = self._writer.append(payload)
        self._index.append([f"{key}\t{offset}\n".encode()])
        self.records += 1

    def checkpoint(self, position: int, skipped: Sequence[tuple[str, str]]) -> None:
        """The first `position` entries of the input are done."""
        self.position = position

    def finish(self) -> None:
        """Gives both files their names."""
        self._index.seal()
        self._writer.seal()
        # An old index beside new records would lead into the middle of them.
        _engine.remove_file(os.fsencode(self.index_path))
        self._writer.commit()
        self._index.commit()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        # Nothing after `finish`.
        self._writer.discard()
        self._index.discard()
