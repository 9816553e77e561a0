"""`FarSet` gives the files of a set that is written to a far store their names together, at the end.

Stores keep no drafts that a later run could go on with, so there is no journal: until the end the store shows nothing of the
set, and after an error nothing is left."""

from __future__ import annotations

import os
from collections.abc import Sequence

from headrace import _engine
from headrace._writing.encoding import Stream
from headrace._writing.set_journal import FinishedPart

__all__ = ["FarSet"]


class FarSet:
    """As SetJournal, for `write_set`. Used by one thread."""

    keeps_parts = False

    def __init__(self, files: Sequence[Sequence[str]]) -> None:
        self._files = [file for part in files for file in part]
        self._streams: list[Stream] = []
        self.finished: list[FinishedPart] = []
        self.rows: int | None = None

    def begin(self, rows: int | None) -> None:
        self.rows = rows

    def sealed(self, streams: Sequence[Stream], rows: int) -> FinishedPart:
        """Of the next part, whose streams were sealed."""
        self._streams += streams
        return FinishedPart(rows, None, [stream.size for stream in streams], [0 for _ in streams])

    def add(self, part: FinishedPart) -> None:
        self.finished.append(part)

    def commit(self, made: Sequence[tuple[str, int]] | None = None) -> None:
        assert made is None
        # Old files beside new ones would be read as one set; the first replaces its own.
        for file in reversed(self._files[1:]):
            _engine.remove_file(os.fsencode(file))
        while self._streams:
            self._streams[0].commit()
            del self._streams[0]

    def __enter__(self) -> FarSet:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._streams:
            stream.discard()
