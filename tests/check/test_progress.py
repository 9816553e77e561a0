"""tools/check/progress.py: what is shown of a Bazel command without a terminal."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tools.check import progress


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("[123 / 456] Compiling core/tensor.cc; 3s linux-sandbox\n", (123, 456)),
        ("[1,234 / 5,678] 2 actions running\n", (1234, 5678)),
        ("INFO: Build completed successfully, 15 total actions\n", None),
        ("Analyzing: 14 targets (1 packages loaded)\n", None),
    ],
)
def test_actions_are_counted(line, found):
    assert progress.progress_in(line) == found


def test_a_line_comes_every_15_seconds_with_what_is_left():
    shown = progress.Progress("engine", now=0)
    assert shown.line("Analyzing: 2 targets (1 packages loaded)\n", 1) == ""
    assert shown.line("Analyzing: 2 targets (9 packages loaded)\n", 15) == (
        "engine: Analyzing: 2 targets (9 packages loaded)\n"
    )
    assert shown.line("[20 / 420] Compiling a.cc\n", 16) == ""
    assert shown.line("[120 / 420] Compiling b.cc\n", 76) == "engine: 120 of 420 actions, about 3 min left\n"
    assert shown.line("[121 / 420] Compiling c.cc\n", 77) == ""
    assert shown.line("[420 / 420] Linking\n", 300) == "engine: 420 of 420 actions\n"


def test_what_is_no_progress_is_printed_as_it_is():
    assert progress.Progress("engine", now=0).line("ERROR: no such target\n", 1) == "ERROR: no such target\n"


def test_options_stand_before_the_targets_after_dashes():
    assert progress.with_options(["bazel", "build", "--", "//..."], ["-x"]) == ["bazel", "build", "-x", "--", "//..."]
    assert progress.with_options(["bazel", "build", "//..."], ["-x"]) == ["bazel", "build", "//...", "-x"]


def test_runs_under_the_systems_python_and_passes_on_output_and_exit_code():
    code = "import sys; print('out'); print('[1 / 2] a\\nERROR: b', file=sys.stderr); sys.exit(3)"
    command = ["/usr/bin/python3", "-I", ROOT / "tools/check/progress.py", "--title", "t", "--"]
    done = subprocess.run([*command, sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "ERROR: b\n")
