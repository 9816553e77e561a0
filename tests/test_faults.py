"""One call of the engine fails, each in turn: an error of the right kind or the right rows, and no leak.

Covers threads and file operations; engine/exec/exhaustion_test.cc does the same for allocations.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.faults import preload
from tests.thinning import LONG, QUICK

RUN = ROOT / "tests/faults/run.py"
PIPELINES = [
    "numbers",
    "numbers_pulled",
    "images",
    "images_pulled",
    "images_skipping",
    "kept",
    "lines",
    "functions",
    "saved_and_restored",
    "written",
]
LAST = 1_000_000
# Every fifth operation on files lacks something, in turn one of three; with ./test --all each operation lacks each.
STEP, SCARCE = (1, ["ENOMEM", "EMFILE", "ENOSPC"]) if LONG else (5, ["scarce"])
MOST_THREADS = 200
# In a thinned run every fifth operation, and every fifth start of a thread, fails.
FAILING_STEP = 5 if QUICK else 1


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return preload.build("failing_calls", tmp_path_factory.mktemp("faults"))


def points(library: pathlib.Path, pipeline: str, kind: str, first: int, last: int, step: int = 1) -> tuple[int, bool]:
    """How many calls failed, and whether they were all."""
    done = subprocess.run(
        [sys.executable, str(RUN), pipeline, kind, str(first), str(step), str(last)],
        env=os.environ | {"LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    failed = len(re.findall(r"^point ", done.stdout, re.MULTILINE))
    ended = re.search(r"^done ", done.stdout, re.MULTILINE) is not None
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    return failed - ended, ended


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_an_operation_on_files_fails(library, pipeline):
    failed, ended = points(library, pipeline, "file", 1, LAST, FAILING_STEP)
    print(f"HEADRACE-COUNT faults={failed}")
    assert ended


@pytest.mark.parametrize("kind", SCARCE)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_an_operation_on_files_lacks_memory_or_room(library, pipeline, kind):
    failed, ended = points(library, pipeline, kind, 1, LAST, STEP)
    print(f"HEADRACE-COUNT faults={failed}")
    assert ended


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_thread_cannot_be_made(library, pipeline):
    failed, ended = points(library, pipeline, "thread", 1, MOST_THREADS, FAILING_STEP)
    print(f"HEADRACE-COUNT faults={failed}")
    assert ended
