"""Fixtures of the package's tests."""

import gc
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests import hidden_packages

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_configure(config: pytest.Config) -> None:
    hidden_packages.register(config)


@pytest.fixture(scope="module", autouse=True)
def only_what_is_new_is_collected() -> None:
    """Spares the collections after each test what was there before its file: modules and all collected tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """A shell that starts the tests in the background lets them, and the processes that they start, ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def photos() -> pathlib.Path:
    return ROOT / "examples/photos"


def read_bytes() -> int:
    """What this process has read so far."""
    found = re.search(r"rchar: (\d+)", pathlib.Path("/proc/self/io").read_text())
    assert found is not None
    return int(found.group(1))


def thread_names() -> list[str]:
    """The threads of this process that the engine started."""
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
    """The threads that belong to one pipeline; the shared pools and the one of far files stay until the process ends."""
    shared = ("headrace-cpu", "headrace-far", "headrace-io", "headrace-watch")
    return [name for name in thread_names() if name not in shared]


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def run_python(code: str, *arguments: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    """Runs it in a separate process; fails if it hangs."""
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=timeout)


def state_after(dataset, rows: int, **options) -> bytes:
    """The state after so many rows of a run with these options."""
    with dataset.iterate(**options) as iterator:
        for _ in range(rows):
            next(iterator)
        return iterator.state()


def values(dataset, column="value") -> list:
    """The rows of a column over all batches."""
    rows: list = []
    for row in dataset:
        rows.extend(np.atleast_1d(row[column]).tolist())
    return rows


@pytest.fixture(autouse=True)
def no_threads_left():
    """Checks that a test leaves no pipeline's thread behind, except those that a failed test's traceback holds."""
    before = len(pipeline_threads())
    yield
    gc.collect()
    assert eventually(lambda: len(pipeline_threads()) <= before), pipeline_threads()
