"""Bazel commands of the checks: they say how far they are, and end at the deadline."""

import os
import pathlib
import shlex
import sys
import tempfile
from collections.abc import Sequence

from tools.check.bazel_events import Events
from tools.check.deadline import ROOT, Deadline, Passed

BAZEL = shlex.split(os.environ.get("HEADRACE_BAZEL", "bazel"))
QUIET = ["--noshow_progress", "--ui_event_filters=-info"]
# Bazel's exit code where no target of the patterns is a test.
NO_TESTS = 4


def with_progress(title: str, command: Sequence[str]) -> list[str]:
    return [sys.executable, str(ROOT / "tools/check/progress.py"), "--title", title, "--", *command]


def build(deadline: Deadline, title: str, options: Sequence[str], patterns: Sequence[str]) -> int:
    command = [*BAZEL, "build", *options, "--ui_event_filters=-info", "--", *patterns]
    return deadline.run(with_progress(title, command))


def test(deadline: Deadline, title: str, options: Sequence[str], patterns: Sequence[str]) -> tuple[int, Events]:
    """The exit code, and what each target came to; those of a run that the deadline ended are `late`."""
    with tempfile.TemporaryDirectory() as folder:
        events = pathlib.Path(folder, "events.json")
        command = [*BAZEL, "test", *options, "--keep_going", "--ui_event_filters=-info"]
        command += [f"--build_event_json_file={events}", "--", *patterns]
        try:
            code = deadline.run(with_progress(title, command))
        except Passed:
            return 0, Events.read(events, late=True)
        return 0 if code == NO_TESTS else code, Events.read(events)


def query(deadline: Deadline, expression: str) -> list[str]:
    """The labels that a query finds, sorted; RuntimeError if it fails."""
    with tempfile.TemporaryFile() as output:
        command = [*BAZEL, "query", "--noshow_progress", "--ui_event_filters=-info,-stderr", expression]
        code = deadline.run(command, output=output)
        output.seek(0)
        lines = output.read().decode().split("\n")
    if code:
        raise RuntimeError(f"bazel query {expression}: exit code {code}\n" + "\n".join(lines))
    return sorted(line for line in lines if line.startswith("//"))


def info(deadline: Deadline, key: str, *options: str) -> pathlib.Path:
    """A folder that `bazel info` names, such as bazel-bin of the given options."""
    code, text = deadline.output_of([*BAZEL, "info", *options, *QUIET, key])
    lines = [line for line in text.splitlines() if line.startswith("/")]
    if code or not lines:
        raise RuntimeError(f"bazel info {key}: exit code {code}\n{text}")
    return pathlib.Path(lines[-1])
