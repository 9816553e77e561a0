"""Checks of what is built as a whole: fuzz tests, the soak, the wheel, and files compiled by themselves."""

import pathlib
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from tools.check import bazel, fuzz
from tools.check.deadline import ROOT, Deadline, Passed, StillRunning
from tools.check.fuzz import Outcome
from tools.check.parts import Level, Part
from tools.check.result import Result, of_exit
from tools.wheel.built_wheel import find_wheel

# Seconds for each fuzz test, and for the soak.
FUZZ_SECONDS = {Level.FULL: 5, Level.LONG: 60}
SOAK_SECONDS = {Level.FULL: 30, Level.LONG: 600}
FUZZ = "fuzz."
PHOTOS = str(ROOT / "examples/photos")
WHEELS = ROOT / "dist"


class ProductChecks:
    def __init__(
        self, deadline: Deadline, expected: Mapping[str, float], mark: Callable[[str, int], None] = lambda *_: None
    ) -> None:
        self.deadline = deadline
        self.expected = expected
        self.mark = mark

    def still_running(self, title: str) -> StillRunning:
        return StillRunning(title, self.expected.get(title, 0.0))

    def fuzz(self, parts: Sequence[Part]) -> Result:
        """Each fuzz test is a part, and marked as soon as its time is over. They begin in the order of the parts.

        A failure counts although the deadline ends the others: with new inputs the next run may not find it.
        """
        seconds = FUZZ_SECONDS[parts[0].level]
        names = [part.name.removeprefix(FUZZ) for part in parts]
        targets = sorted(fuzz.find_targets(names, self.deadline), key=lambda target: names.index(target.name))
        folder = fuzz.build(targets, self.deadline)
        result = Result(note=f"{seconds} seconds each")
        try:
            for outcome in fuzz.run_all(folder, targets, seconds, self.deadline):
                self.count(outcome, result)
        except Passed:
            result.late = True
        return result

    def count(self, outcome: Outcome, result: Result) -> None:
        fuzz.report(outcome)
        result.counts["fuzz"] += outcome.executions
        name = FUZZ + outcome.target.name
        if outcome.failure:
            result.failed += 1
            result.red.add(name)
        else:
            result.passed += 1
            self.mark(name, 1)

    def soak(self, parts: Sequence[Part]) -> Result:
        seconds = SOAK_SECONDS[parts[0].level]
        code, said = self.output_of("soak", ["tools/soak/soak.py", f"--seconds={seconds}"])
        failed = failures_in(said) if code is None else int(code != 0)
        result = Result(int(code == 0), failed, f"{seconds} seconds", late=code is None).about(parts)
        result.count(said)
        return result

    def alone(self, parts: Sequence[Part]) -> Result:
        """Compiles each file by itself: it includes what it uses, though the build puts files together."""
        code = bazel.build(self.deadline, "files by themselves", ["--config=alone"], ["//..."])
        return of_exit(code).about(parts)

    def wheel(self, parts: Sequence[Part]) -> Result:
        wheel = self.built_wheel()
        if wheel is None:
            return Result(failed=1, note="does not build")
        result = self.checked("wheel", ["tools.wheel.wheel_test", str(wheel), PHOTOS])
        result.note = f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB"
        return result.about(parts)

    def other_wheels(self, parts: Sequence[Part]) -> Result:
        """For the other Pythons that are found here; none is required."""
        command = ["tools.wheel.build_wheels", "--others", f"--out={WHEELS}"]
        return self.checked("wheels of other Pythons", command).about(parts)

    def bare_debian(self, parts: Sequence[Part]) -> Result:
        wheel = self.built_wheel()
        if wheel is None:
            return Result(failed=1, note="does not build")
        WHEELS.mkdir(exist_ok=True)
        shutil.copyfile(wheel, WHEELS / wheel.name)
        result = self.checked("wheel in bare Debian", ["tools.wheel.bare_debian", str(WHEELS), PHOTOS])
        # What was left out has not passed.
        return result if result.note and not result.failed else result.about(parts)

    def built_wheel(self) -> pathlib.Path | None:
        """That of this Python; None if it does not build."""
        if bazel.build(self.deadline, "wheel", [], ["//python:wheel"]):
            return None
        tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        return find_wheel(bazel.info(self.deadline, "bazel-bin", "-c", "opt") / "python", tag)

    def checked(self, title: str, module: Sequence[str]) -> Result:
        """What a program of tools/wheel says, line by line; the note names what was left out."""
        code, said = self.output_of(title, ["-m", *module])
        passed = len(re.findall(r"^ok: ", said, re.MULTILINE))
        failed = failures_in(said) or int(code not in (None, 0))
        note = "; ".join(re.findall(r"^(?:skipped|not found): .*", said, re.MULTILINE))
        return Result(passed, failed, note, late=code is None)

    def output_of(self, title: str, arguments: Sequence[str]) -> tuple[int | None, str]:
        """The exit code of a Python program and what it printed, which is shown; None if the deadline ended it."""
        code: int | None = None
        try:
            code, said = self.deadline.output_of([sys.executable, "-u", *arguments], look=self.still_running(title))
        except Passed as passed:
            said = passed.said
        print(said, end="", flush=True)
        return code, said


def failures_in(said: str) -> int:
    return len(re.findall(r"^FAILED: ", said, re.MULTILINE))
