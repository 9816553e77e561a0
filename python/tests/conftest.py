"""What the tests of the package share."""

import gc
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def photos() -> pathlib.Path:
    return ROOT / "examples/photos"


def thread_names() -> list[str]:
    """Of this process, those that the engine started."""
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            name = pathlib.Path("/proc/self/task", task, "comm").read_text().strip()
        except OSError:  # it has just ended
            continue
        if name.startswith("headrace"):
            names.append(name)
    return sorted(names)


def pipeline_threads() -> list[str]:
    """Those that belong to one pipeline: the shared pools stay until the process ends."""
    return [name for name in thread_names() if name not in ("headrace-cpu", "headrace-io", "headrace-watch")]


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def run_python(code: str, *arguments: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    """A process of its own; fails when it hangs."""
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=timeout)


def values(dataset, column="value") -> list:
    """The rows of a column, batches laid end to end."""
    rows: list = []
    for row in dataset:
        rows.extend(np.atleast_1d(row[column]).tolist())
    return rows


@pytest.fixture(autouse=True)
def no_threads_left():
    """Every test leaves no thread of a pipeline behind, but for what a failed test's traceback holds on to."""
    before = len(pipeline_threads())
    yield
    gc.collect()
    assert eventually(lambda: len(pipeline_threads()) <= before), pipeline_threads()
