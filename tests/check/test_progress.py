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


# How Bazel takes back its last line on a terminal.
ERASE = "\r\x1b[1A\x1b[K"
GREEN, PLAIN = "\x1b[32m", "\x1b[0m"


def printed(shown: progress.Progress, lines: list[tuple[str, float]]) -> list[str]:
    """What is printed for Bazel's lines at these times."""
    return [text for line, now in lines for text in shown.lines(line + "\n", now)]


def test_a_line_comes_every_15_seconds_with_what_is_left():
    shown = progress.Progress("engine", now=0)
    assert printed(
        shown,
        [
            ("Loading: ", 0),
            (ERASE + "Analyzing: 2 targets (1 packages loaded)", 1),
            (ERASE + "Analyzing: 2 targets (9 packages loaded)", 15),
            (ERASE + f"{GREEN}[20 / 420]{PLAIN} 2 actions running", 16),
            ("    Compiling a.cc; 1s local", 16),
            ("    Compiling b.cc; 1s local", 16),
            (3 * ERASE + f"{GREEN}[120 / 420]{PLAIN} Compiling c.cc; 1s local", 17),
            (ERASE + f"{GREEN}[121 / 420]{PLAIN} Compiling c.cc; 2s local", 77),
            (ERASE + f"{GREEN}[420 / 420]{PLAIN} Linking", 91),
            (ERASE + "INFO: Build completed", 92),
        ],
    ) == [
        "engine: Analyzing: 2 targets (1 packages loaded)\n",
        "engine: 120 of 420 actions, about 3 min left\n",
        "engine: 420 of 420 actions\n",
    ]
    assert shown.kept == ["INFO: Build completed\n"]


def test_actions_that_bazel_has_not_found_yet_are_counted():
    shown = progress.Progress("engine", now=0, expected=1020)
    lines = [
        ("[20 / 60] Compiling a.cc", 0),
        (ERASE + "[120 / 160] Compiling c.cc", 1),
        (ERASE + "[120 / 160] d.cc", 17),
    ]
    assert printed(shown, lines) == ["engine: 120 of 1,020 actions, about 2 min left\n"]


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        (["bazel", "build", "--ui_event_filters=-info", "--", "//a", "//b:c", "-//d"], "deps(//a + //b:c - //d)"),
        (["bazel", "--output_base=x", "test", "//a"], "deps(//a)"),
        (["bazel", "test", "--config=asan", "//a"], None),
        (["bazel", "info"], None),
    ],
)
def test_bazel_is_asked_for_the_actions(monkeypatch, command, asked):
    asks = []

    def run(question, **_):
        asks.append(question)
        actions = [
            "Compiling a.cc",
            "Linking a/liba.a",
            "Linking a/a_test",
            "Testing //a:a_test",
            "Writing file a.params",
        ]
        return subprocess.CompletedProcess(
            question, 0, "".join(f"action '{action}'\n  Mnemonic: x\n" for action in actions)
        )

    monkeypatch.setattr(subprocess, "run", run)
    assert progress.expected_actions(command) == (0 if asked is None else 3)
    assert [question[-1] for question in asks] == ([] if asked is None else [asked])


def test_what_bazel_does_not_erase_is_printed_without_colour():
    shown = progress.Progress("engine", now=0)
    assert printed(
        shown,
        [
            ("Starting local Bazel server", 0),
            (f"{GREEN}[1 / 3]{PLAIN} 2 actions running", 1),
            ("    Compiling a.cc; 1s local", 1),
            (2 * ERASE + "\x1b[31mERROR: \x1b[0ma.cc failed", 2),
            ("    an indented line of the compiler", 2),
            ("[2 / 3] Compiling b.cc", 2),
            (ERASE + "[3 / 3] checking", 3),
        ],
    ) == [
        "Starting local Bazel server\n",
        "ERROR: a.cc failed\n",
        "    an indented line of the compiler\n",
    ]


def test_options_stand_before_the_targets_after_dashes():
    assert progress.with_options(["bazel", "build", "--", "//..."], ["-x"]) == ["bazel", "build", "-x", "--", "//..."]
    assert progress.with_options(["bazel", "build", "//..."], ["-x"]) == ["bazel", "build", "//...", "-x"]


def test_runs_under_the_systems_python_and_passes_on_output_and_exit_code():
    written = f"[1 / 2] a\n{ERASE}ERROR: b"
    code = f"import sys; print('out'); print({written!r}, file=sys.stderr); sys.exit(3)"
    command = ["/usr/bin/python3", "-I", ROOT / "tools/check/progress.py", "--title", "t", "--"]
    done = subprocess.run([*command, sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "ERROR: b\n")
