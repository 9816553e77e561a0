"""Chooses how many cases the tests with many of them run: usually all, in a thinned run a few.

`./test` and `./test --quick` set HEADRACE_QUICK=1. Every test runs in a thinned run, too, and the choice is the same each
time. `./test --all` also runs some tests with HEADRACE_LONG=1, for which tests/test_faults.py tries every file operation.
core/testing/rounds.h does the same for tests of C++.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

Case = TypeVar("Case")

QUICK = os.environ.get("HEADRACE_QUICK") == "1"
LONG = os.environ.get("HEADRACE_LONG") == "1"
# In a thinned run, of so many drawn examples one remains.
FEWER = 10


def in_turn(cases: Iterable[Case], number: int) -> list[Case]:
    """All of them, in a thinned run one: another one for each `number`, so that a table of many numbers has them all."""
    every = list(cases)
    return [every[number % len(every)]] if QUICK else every


def one_in(step: int, cases: Sequence[Case], first: int = 0) -> list[Case]:
    """All of them, in a thinned run each `step`-th from `first`, but at least one."""
    return list(cases[first % min(step, len(cases)) :: step]) if QUICK and cases else list(cases)


def examples(most: int) -> int:
    """The number of examples to draw: `most`, in a thinned run fewer."""
    return -(-most // FEWER) if QUICK else most
