"""The C++ tests under one configuration of Bazel, by room."""

from collections.abc import Sequence

from tools.check import bazel, suspects
from tools.check.bazel_events import Events, log_text
from tools.check.deadline import Deadline, Passed
from tools.check.parts import Level, Part
from tools.check.result import Result

# Bazel's tag of tests that run with nothing beside them, because they wait for clocks.
ALONE = "exclusive"
# How tests learn how many rounds to run (core/testing/rounds.h). Bazel hides the caller's environment from tests, and what
# it shows them is part of the key of their results: one of a thinned run never counts as one of a full run.
LEVEL_OPTIONS: dict[Level, list[str]] = {
    Level.THINNED: ["--test_env=HEADRACE_QUICK=1"],
    Level.FULL: [],
    Level.LONG: ["--test_env=HEADRACE_LONG=1"],
}


class CppTests:
    """`prefix` is in front of the rooms in the names of parts: asan.kernels."""

    def __init__(self, deadline: Deadline, title: str, options: Sequence[str], prefix: str) -> None:
        self.deadline = deadline
        self.title = title
        self.options = list(options)
        self.prefix = prefix

    def everything(self, parts: Sequence[Part]) -> Result:
        """All targets, which are one part."""
        return self.some(parts, ["//..."])

    def some(self, parts: Sequence[Part], patterns: Sequence[str]) -> Result:
        """The targets of these patterns, which are one part."""
        return self.result_of(*self.tested(patterns)).about(parts)

    def rooms(self, parts: Sequence[Part]) -> Result:
        """The rooms of these parts."""
        by_room = {part.name.removeprefix(f"{self.prefix}."): part.name for part in parts}
        code, events = self.tested([f"//{room}/..." for room in by_room])
        result = self.result_of(code, events)
        bad = {room_of(label) for label in (*events.unbuilt(), *events.failing())}
        for room, name in by_room.items():
            if room in bad:
                result.red.add(name)
            elif not code and not events.late:
                result.green[name] = sum(
                    outcome.passed for label, outcome in events.tests().items() if room_of(label) == room
                )
        return result

    def tested(self, patterns: Sequence[str]) -> tuple[int, Events]:
        return bazel.test(self.deadline, self.title, self.options, patterns)

    def result_of(self, code: int, events: Events) -> Result:
        result = Result(late=events.late)
        tests = events.tests()
        suspect, _ = suspects.sort_out([label for label in events.failing() if ALONE in tests[label].tags], self.alone)
        result.suspects = suspect
        for label, outcome in tests.items():
            result.passed += outcome.passed
            result.failed += 0 if label in suspect else outcome.failed
            if not outcome.cached:
                result.times.append((outcome.seconds, label))
        result.failed += len(events.unbuilt())
        # Bazel also fails if a BUILD file does not load.
        if code and not result.failed and not suspect:
            result.failed = 1
        result.count(log_text(tests.values()))
        cached = sum(outcome.cached for outcome in tests.values())
        result.note = f"{len(tests)} programs" + (
            f", {cached} of them unchanged since their last run" if cached else ""
        )
        return result

    def alone(self, label: str) -> bool:
        options = [*self.options, "--nocache_test_results"]
        code, events = bazel.test(self.deadline, f"{label} alone", options, [label])
        if events.late:
            raise Passed
        return code == 0


def room_of(label: str) -> str:
    """kernels for //kernels/vision:resize_test."""
    return label.removeprefix("//").partition(":")[0].partition("/")[0]
