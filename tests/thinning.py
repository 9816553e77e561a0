"""How many cases the tests with many of them run: usually all, in a quick run a few.

`./test --quick` sets HEADRACE_QUICK=1. Every test runs in a quick run, too, and the choice is the same each time.
`./test --long` sets HEADRACE_LONG=1, for which tests/test_faults.py tries every file operation.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

Case = TypeVar("Case")

QUICK = os.environ.get("HEADRACE_QUICK") == "1"
LONG = os.environ.get("HEADRACE_LONG") == "1"
# In a quick run, of so many drawn examples one remains.
FEWER = 5


def in_turn(cases: Iterable[Case], number: int) -> list[Case]:
    """All of them, in a quick run one: another one for each `number`, so that a table of many numbers has them all."""
    every = list(cases)
    return [every[number % len(every)]] if QUICK else every


def one_in(step: int, cases: Sequence[Case], first: int = 0) -> list[Case]:
    """All of them, in a quick run each `step`-th from `first`, but at least one."""
    return list(cases[first % min(step, len(cases)) :: step]) if QUICK and cases else list(cases)


def examples(most: int) -> int:
    """The number of examples to draw: `most`, in a quick run fewer."""
    return -(-most // FEWER) if QUICK else most
