"""A process that writes is killed before each of its operations on files: old files, new ones, or a set that is refused,
and never a mixed one."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.faults import preload
from tests.thinning import QUICK

RUN = ROOT / "tests/faults/killed.py"
LAST = 10_000
STEP = 5 if QUICK else 1


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return preload.build("failing_calls", tmp_path_factory.mktemp("killed"))


@pytest.mark.parametrize("writer", ["record_set", "record_file", "mind_set", "mxnet", "packed", "graph", "model"])
def test_a_kill_leaves_no_mixed_set(library, writer):
    done = subprocess.run(
        [sys.executable, str(RUN), writer, "1", str(STEP), str(LAST)],
        env=os.environ | {"LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    points = len(re.findall(r"^point ", done.stdout, re.MULTILINE))
    print(f"HEADRACE-COUNT kills={points}")
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[-3000:]}"
    assert re.search(r"^done ", done.stdout, re.MULTILINE) is not None and points > 1
