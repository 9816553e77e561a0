"""Prints on stderr how far a long listing of a far store is. The engine calls it, from the thread that waits."""

import contextlib
import sys

from headrace._arguments.printed import say

__all__ = ["show"]


def show(folder: str, entries: int, seconds: float, ended: bool) -> None:
    if sys.stderr is None:
        return
    state = "listed" if ended else "listing"
    # sys.stderr may be closed, or replaced by the program.
    with contextlib.suppress(Exception):
        say(f"headrace: {state} {folder}: {entries:,} names after {seconds:.0f} s", file=sys.stderr)
