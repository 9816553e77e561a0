"""The two lanes of Python tests, over small projects of their own."""

import dataclasses
import json
import os
import pathlib

import pytest

from tests.conftest import ROOT
from tools.check.deadline import Deadline
from tools.check.finished import Finished
from tools.check.parts import Level, Part
from tools.check.python_tests import PythonTests

SETTINGS = """[pytest]
addopts = -p no:cacheprovider
markers =
    timing
    torch
    browser
"""
# Fails the first time, and then as often as the file says.
ONCE = """
import pathlib
import pytest

@pytest.mark.timing
def test_once():
    file = pathlib.Path(__file__).with_suffix(".left")
    left = int(file.read_text())
    file.write_text(str(left - 1))
    assert left <= 0

def test_beside():
    print("HEADRACE-COUNT variants=3")
"""
MIXED = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_good(n):
    pass

def test_bad():
    assert False

@pytest.mark.skip
def test_skipped():
    pass

@pytest.mark.torch
def test_torch():
    assert False
"""


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / "test_once.py").write_text(ONCE)
    (tmp_path / "test_once.left").write_text("0")
    (tmp_path / "test_mixed.py").write_text(MIXED)
    (tmp_path / "test_good.py").write_text("def test_one():\n    pass\n")
    return tmp_path


def lanes_of(project: pathlib.Path, green: dict[str, int] | None = None) -> PythonTests:
    files = {"once": ["test_once.py"], "mixed": ["test_mixed.py"], "good": ["test_good.py"]}
    return PythonTests(Deadline(), files, {}.__setitem__ if green is None else green.__setitem__, project)


def parts(*names: str, level: Level = Level.FULL) -> list[Part]:
    return [Part(name, "1", level=level) for name in names]


def test_together_each_group_passes_or_fails_by_itself(project):
    marked: dict[str, int] = {}
    found = lanes_of(project, marked).together(parts("once", "mixed", "good"))
    assert (found.passed, found.failed, found.note) == (4, 1, "1 skipped")
    assert found.red == {"mixed"} and found.green == marked == {"once": 1, "good": 1}
    assert found.counts["variants"] == 3
    assert {name for _, name in found.times} >= {"test_mixed.py::test_good[1]", "test_good.py::test_one"}


@pytest.mark.parametrize(("fails", "failed", "suspects"), [(0, 0, []), (1, 0, ["test_once.py::test_once"]), (2, 1, [])])
def test_one_that_waits_for_a_clock_is_run_again_alone(project, fails, failed, suspects):
    (project / "test_once.left").write_text(str(fails))
    found = lanes_of(project).alone(parts("once"))
    assert (found.failed, found.suspects) == (failed, suspects)
    assert found.green == ({} if fails else {"once": 1}) and found.red == ({"once"} if failed else set())


def test_needs_are_left_to_their_stage(project):
    found = lanes_of(project).needing("torch")(parts("mixed"))
    assert (found.passed, found.failed, found.red) == (0, 1, {"mixed"})
    marked: dict[str, int] = {}
    assert lanes_of(project, marked).needing("browser")(parts("mixed")).green == {"mixed": 0}
    # What is not installed is skipped, and the stage knows what is missing.
    assert marked == {}


class PassesWhen(Deadline):
    """A deadline that passes as soon as a file is there."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.path = path

    def left(self) -> float:
        return -1.0 if self.path.exists() else super().left()


LATE = """
import pathlib
import signal

def test_a_first():
    assert False

def test_waiting(request):
    pathlib.Path(__file__).with_suffix(".waits").touch()
    signal.pause()
"""


@pytest.mark.parametrize("lane", ["together", "alone", "torch"])
def test_a_failure_before_the_deadline_counts(project, monkeypatch, lane):
    """Of tests that fail now and then another run may not find it. The test that the deadline ends fails nothing."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    marker = {"together": "", "alone": "import pytest\n\npytestmark = pytest.mark.timing\n"}.get(
        lane, "import pytest\n\npytestmark = pytest.mark.torch\n"
    )
    (project / "test_late.py").write_text(marker + LATE)
    lanes = lanes_of(project)
    lanes = dataclasses.replace(
        lanes, files={**lanes.files, "late": ["test_late.py"]}, deadline=PassesWhen(project / "test_late.waits")
    )
    check = lanes.needing("torch") if lane == "torch" else getattr(lanes, lane)
    found = check(parts("late", "once"))
    assert (found.failed, found.red, found.late) == (1, {"late"}, True)
    assert found.suspects == []


def test_a_file_that_cannot_be_read_fails_its_group(project):
    (project / "test_good.py").write_text("import no_such_module\n")
    found = lanes_of(project).together(parts("good", "once"))
    assert (found.passed, found.failed, found.red, found.green) == (1, 1, {"good"}, {"once": 1})


def test_a_process_that_dies_fails_its_test(project):
    (project / "test_good.py").write_text("import os\n\ndef test_one():\n    os._exit(1)\n")
    found = lanes_of(project).together(parts("good"))
    assert (found.passed, found.failed, found.red) == (0, 1, {"good"})


def test_a_group_is_green_as_soon_as_its_tests_have_passed(tmp_path):
    green: dict[str, int] = {}
    finished = Finished(tmp_path / "finished", lambda file: file[0], green.__setitem__)
    finished.read()

    def write(**line) -> None:
        with finished.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        finished.read()

    write(collected=["a.py::x", "a.py::y", "b.py::z"])
    write(id="a.py::x", outcome="passed", seconds=1, output="")
    write(id="b.py::z", outcome="failed", seconds=1, output="")
    assert green == {}
    write(id="a.py::y", outcome="skipped", seconds=1, output="")
    assert green == {"a": 1} and finished.failed() == ["b.py::z"]


def test_half_a_line_is_read_when_it_is_whole(tmp_path):
    finished = Finished(tmp_path / "finished", lambda file: file)
    line = json.dumps({"id": "a", "outcome": "passed", "seconds": 1, "output": ""})
    for text, number in ((line[:9], 0), (line[9:] + "\n", 1), (line + "\n", 1)):
        with finished.path.open("a") as file:
            file.write(text)
        finished.read()
        assert len(finished.tests) == number
