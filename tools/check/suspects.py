"""Tests that wait for clocks, run again: one that fails, and then passes twice alone, is suspect and not failed."""

import json
import pathlib
from collections.abc import Callable, Iterable

from tools.check.deadline import Passed

# How often a test must pass alone.
RUNS = 2


def sort_out(failed: Iterable[str], passes_alone: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Divides tests that failed into suspects and those that fail again, or cannot run again before the deadline."""
    suspects: list[str] = []
    again: list[str] = []
    for test in failed:
        (suspects if is_suspect(test, passes_alone) else again).append(test)
    return suspects, again


def is_suspect(test: str, passes_alone: Callable[[str], bool]) -> bool:
    try:
        return all(passes_alone(test) for _ in range(RUNS))
    except Passed:
        return False


def write(path: pathlib.Path, suspects: list[str]) -> None:
    """Writes the suspects of a run; without any the file is removed."""
    if not suspects:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(suspects, indent=1) + "\n")
