"""Fixtures of the end-to-end tests."""

import concurrent.futures
import gc
import multiprocessing
import os
import pathlib
import time
from collections.abc import Callable, Iterator

import pytest

from tests import hidden_packages
from tests.pipelines import write_data

ROOT = pathlib.Path(__file__).resolve().parents[1]


def pytest_configure(config: pytest.Config) -> None:
    hidden_packages.register(config)


def pipeline_threads() -> list[str]:
    """Threads of this process that belong to one pipeline; the shared pools and the one of far files stay until the process
    ends."""
    shared = ("headrace-cpu", "headrace-far", "headrace-io", "headrace-watch")
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            name = pathlib.Path("/proc/self/task", task, "comm").read_text().strip()
        except OSError:  # it has just ended
            continue
        if name.startswith("headrace") and name not in shared:
            names.append(name)
    return names


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    """Checks that a test leaves no thread of a pipeline behind."""
    yield
    if pipeline_threads():
        gc.collect()
        assert eventually(lambda: pipeline_threads() == []), pipeline_threads()


@pytest.fixture(scope="session")
def photos() -> pathlib.Path:
    return ROOT / "examples/photos"


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, photos: pathlib.Path) -> pathlib.Path:
    """The files for the pipelines."""
    folder = tmp_path_factory.mktemp("data")
    write_data(folder, photos)
    return folder


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[concurrent.futures.Executor]:
    """Another process, which shares nothing with this one."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        yield executor
