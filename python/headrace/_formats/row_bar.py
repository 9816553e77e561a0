"""`RowBar`: tqdm's bar on a terminal, by the rows that a run has given. Silent elsewhere, and where tqdm is not installed."""

from __future__ import annotations

import sys
from typing import Any

from headrace import _engine
from headrace._loops.progress_bar import tqdm_class
from headrace._runs.callback import Callback, Moment
from headrace.errors import UnsupportedError

__all__ = ["RowBar"]


class RowBar(Callback):
    """Used in a `with` block, as a callback of the run or by calls of `add`."""

    def __init__(self, name: str, rows: int | None = None) -> None:
        self._bar: Any = None
        if not sys.stderr.isatty():
            return
        try:
            made = tqdm_class()
        except UnsupportedError:
            return
        self._bar = made(total=rows, desc=_engine.printable(name), unit="row", unit_scale=True, file=sys.stderr)

    def __enter__(self) -> RowBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def add(self) -> None:
        if self._bar is not None:
            self._bar.update()

    def batch_end(self, at: Moment) -> None:
        # A run that goes on counts the rows before it, too.
        if self._bar is not None:
            self._bar.update(at.batch + 1 - self._bar.n)
