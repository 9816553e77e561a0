"""`PutSet` keeps a set in a far store from being read as a whole one while other processes put its parts there.

A journal stands beside the files from before the first of them is replaced until all of them are there, and files of an older
set are removed first: whoever reads the files meanwhile finds some missing, which is an error that names the journal."""

from __future__ import annotations

import os
from collections.abc import Sequence

from headrace import _engine
from headrace._files.whole_file import write_whole
from headrace._writing.journal_lines import JOURNAL, checked_line
from headrace._writing.set_journal import FinishedPart

__all__ = ["PutSet"]


class PutSet:
    """As SetJournal, for `write_set`. Used by one thread."""

    keeps_parts = False

    def __init__(self, path: str, files: Sequence[Sequence[str]]) -> None:
        self._journal = path + JOURNAL
        self._files = [file for part in files for file in part]
        self.finished: list[FinishedPart] = []
        self.rows: int | None = None

    def begin(self, rows: int | None) -> None:
        self.rows = rows
        write_whole(self._journal, checked_line({"rows": rows}))
        self._remove_files()

    def add(self, part: FinishedPart) -> None:
        self.finished.append(part)

    def commit(self, made: Sequence[tuple[str, int]] | None = None) -> None:
        assert made is None
        _engine.remove_file(os.fsencode(self._journal))

    def _remove_files(self) -> None:
        # From the last: the first ones alone are refused for lack of the others.
        for file in reversed(self._files):
            _engine.remove_file(os.fsencode(file))

    def __enter__(self) -> PutSet:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._remove_files()
            _engine.remove_file(os.fsencode(self._journal))
