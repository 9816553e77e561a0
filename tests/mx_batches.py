"""Reads what the iterators of headrace.mx give, and what they cost, for tests of several of them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any


def next_batches(iterator: Any, count: int, tell: Callable[[Any], Any]) -> list[Any]:
    """What `tell` says of each of the next batches; "end" where an epoch ends, after which the next one begins."""
    told = []
    while len(told) < count:
        try:
            told.append(tell(iterator.next()))
        except StopIteration:
            told.append("end")
            iterator.reset()
    return told


def python_calls(iterator: Any) -> int:
    """How many functions of Python, or of C from Python, begin or end while the iterator gives its second batch."""
    iterator.next()
    counted = []

    def count(frame: Any, event: str, argument: Any) -> None:
        counted.append(event)

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        iterator.next()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(counted)
