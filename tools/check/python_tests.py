"""The Python tests, in two lanes: those that wait for clocks run last and alone, all others in one process a core.

A test of the second lane that fails is run again alone: see suspects.
"""

import dataclasses
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence

from tools.check import suspects
from tools.check.deadline import ROOT, Deadline, Passed
from tools.check.finished import Finished
from tools.check.parts import Level, Part
from tools.check.result import Result

TIMING = "timing"
# Markers of tests that need what a machine may not have; each has a stage of its own. Real stores are run by
# ./test --far alone, clusters of several nodes by ./test --ray.
FAR = "far"
SMALL_RAY = "small_ray"
RAY = "ray"
NEEDS = ("torch", "browser", "site", SMALL_RAY, FAR, RAY)
# pytest's exit code where every test is left out.
NO_TESTS = 5
Mark = Callable[[str, int], None]


def environment_of(level: Level) -> dict[str, str]:
    """The caller's, but for the number of cases, which the level alone decides."""
    environment = os.environ | {
        "HEADRACE_QUICK": str(int(level is Level.THINNED)),
        "HEADRACE_LONG": str(int(level is Level.LONG)),
    }
    # Without kept bytecode each process compiles all tests, and pytest rewrites their assertions.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def lane_markers(timing: bool) -> str:
    return " and ".join(["timing" if timing else "not timing", *(f"not {need}" for need in NEEDS)])


@dataclasses.dataclass(frozen=True)
class PythonTests:
    """`files`: the files of each part, by its name. `mark` is told at once what has passed."""

    deadline: Deadline
    files: Mapping[str, Sequence[str]]
    mark: Mark = lambda *_: None
    root: pathlib.Path = ROOT

    def together(self, parts: Sequence[Part]) -> Result:
        """The tests that wait for no clock; they take over from each other at the end."""
        processes = len(os.sched_getaffinity(0))
        return self.run(parts, lane_markers(timing=False), [f"-n{processes}", "--dist=worksteal"])

    def alone(self, parts: Sequence[Part]) -> Result:
        """The tests that wait for clocks."""
        return self.run(parts, lane_markers(timing=True), ["-n0"], again=True)

    def needing(self, marker: str) -> Callable[[Sequence[Part]], Result]:
        """The tests that need what the marker names.

        It marks none as passed: the caller knows whether all of that is installed, so that none was left out.
        """
        unmarked = dataclasses.replace(self, mark=lambda *_: None)
        return lambda parts: unmarked.run(parts, marker, ["-n0"])

    def run(self, parts: Sequence[Part], markers: str, options: Sequence[str], again: bool = False) -> Result:
        environment = environment_of(parts[0].level)
        names = {file: part.name for part in parts for file in self.files[part.name]}
        with tempfile.TemporaryDirectory() as folder:
            finished = Finished(pathlib.Path(folder, "finished"), lambda file: names.get(file, ""), self.mark)
            command = self.command(markers, [*options, *names])
            environment_of_run = environment | {"HEADRACE_FINISHED": str(finished.path)}
            code = self.exit_code(command, environment_of_run, finished)
        failed = finished.failed()
        suspect: list[str] = []
        if again:
            suspect, failed = suspects.sort_out(failed, lambda test: self.passes(test, environment))
        return self.result_of(code, finished, parts, failed, suspect)

    def exit_code(self, command: Sequence[str], environment: Mapping[str, str], finished: Finished) -> int | None:
        """None if the deadline ended the tests. What they say then is not read: the end itself may fail some."""
        try:
            code = self.deadline.run(command, environment, look=finished.read, cwd=self.root)
        except Passed:
            return None
        finished.read()
        return code

    def command(self, markers: str, arguments: Sequence[str]) -> list[str]:
        pytest = [sys.executable, "-m", "pytest", "-q", "-o", "console_output_style=count"]
        return [*pytest, "-p", "tools.check.finished_tests", "-m", markers, *arguments]

    def passes(self, test: str, environment: Mapping[str, str]) -> bool:
        return self.deadline.run([sys.executable, "-m", "pytest", "-q", "-n0", test], environment, cwd=self.root) == 0

    def result_of(
        self, code: int | None, finished: Finished, parts: Sequence[Part], failed: Sequence[str], suspect: list[str]
    ) -> Result:
        result = Result(finished.number("passed"), len(failed), suspects=suspect, late=code is None)
        # Also when pytest does not get as far as the tests.
        if code not in (None, 0, NO_TESTS) and not failed and not suspect:
            result.failed = 1
        ended = code in (0, 1) and finished.collected or code == NO_TESTS
        for part in parts:
            bad = finished.failed_in(part.name)
            if set(bad) & set(failed):
                result.red.add(part.name)
            elif ended and not bad and not finished.waiting.get(part.name):
                result.green[part.name] = finished.passed_in(part.name)
        for name, test in finished.tests.items():
            result.times.append((test.seconds, name))
            result.count(test.output)
        skipped = finished.number("skipped")
        result.note = f"{skipped} skipped" if skipped else ""
        return result
