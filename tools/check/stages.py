"""Stages of a run: which are due, in which order, and what is owed when the deadline passes."""

import dataclasses
import time
from collections.abc import Callable, Sequence

from tools.check.deadline import Deadline, Passed
from tools.check.marks import Mark, Marks
from tools.check.parts import Part
from tools.check.result import Result


@dataclasses.dataclass(frozen=True)
class Stage:
    """One line of the summary. `check` is given the parts that are due; a stage without parts is always due.

    A stage that must run fails if the deadline ends it; any other is owed. What a stage that `resumes` has done is not
    lost when it is ended, as Bazel keeps it.
    """

    name: str
    check: Callable[[Sequence[Part]], Result]
    parts: tuple[Part, ...] = ()
    must: bool = True
    resumes: bool = False


@dataclasses.dataclass(frozen=True)
class Line:
    """What the summary says of a stage."""

    stage: str
    result: Result
    seconds: float


def rotated(stages: Sequence[Stage], commits: int) -> list[Stage]:
    """The order of stages that need not run where nothing is known of earlier runs: each is first in its turn."""
    start = commits % len(stages) if stages else 0
    return [*stages[start:], *stages[:start]]


class Run:
    """Runs stages one after the other, and keeps marks of what has passed.

    `fresh`: runs what has a mark, too. `several`: other calls go on, so what must run may also be owed. `exitfirst`: ends
    after the first stage with a failure.
    """

    def __init__(
        self,
        marks: Marks,
        deadline: Deadline,
        commit: str,
        commits: int,
        fresh: bool = False,
        several: bool = False,
        exitfirst: bool = False,
    ) -> None:
        self.marks = marks
        self.deadline = deadline
        self.commit = commit
        self.commits = commits
        self.fresh = fresh
        self.several = several
        self.exitfirst = exitfirst
        self.durations = marks.durations()
        self.knows_nothing = marks.empty()
        self.lines: list[Line] = []
        self.unchanged: list[tuple[str, Mark]] = []
        self.owed: list[str] = []
        # Parts by name, so that a part that passes is marked while its stage still runs.
        self.parts: dict[str, Part] = {}

    def perform(self, stages: Sequence[Stage]) -> None:
        self.parts |= {part.name: part for stage in stages for part in stage.parts}
        ordered = [stage for stage in stages if stage.must]
        ordered += self.in_turn([stage for stage in stages if not stage.must])
        for stage in ordered:
            if not (self.exitfirst and self.failures()):
                self.perform_one(stage)

    def failures(self) -> int:
        return sum(line.result.failed for line in self.lines)

    def in_turn(self, stages: Sequence[Stage]) -> list[Stage]:
        """The one whose parts passed longest ago, or never, comes first."""
        if self.knows_nothing:
            return rotated(stages, self.commits)
        return sorted(
            stages, key=lambda stage: min((self.marks.last_passed(part.name) for part in stage.parts), default=0)
        )

    def due(self, stage: Stage) -> list[Part]:
        """The parts to run; those that passed as they are now are noted."""
        due = []
        for part in stage.parts:
            mark = None if self.fresh else self.marks.of(part)
            if mark is None:
                due.append(part)
            else:
                self.unchanged.append((part.name, mark))
        return due

    def perform_one(self, stage: Stage) -> None:
        due = self.due(stage)
        if stage.parts and not due:
            return
        if self.may_be_owed(stage) and not self.has_time(stage):
            self.owe(due)
            return
        print(f"\033[1m== {stage.name}\033[0m", flush=True)
        started = time.monotonic()
        result = self.result_of(stage, due)
        if result is None:
            self.owe(due)
            return
        seconds = time.monotonic() - started
        self.lines.append(Line(stage.name, result, seconds))
        self.marks.keep_duration(stage.name, seconds)
        self.check_selection(result)
        for name, tests in result.green.items():
            self.mark(name, tests)

    def may_be_owed(self, stage: Stage) -> bool:
        return self.several or not stage.must

    def has_time(self, stage: Stage) -> bool:
        expected = 0.0 if stage.resumes else self.durations.get(stage.name, 0.0)
        return self.deadline.left() > expected

    def owe(self, parts: Sequence[Part]) -> None:
        """Owes the parts but for those that passed before the deadline."""
        self.owed += [part.name for part in parts if self.marks.of(part) is None]

    def result_of(self, stage: Stage, due: Sequence[Part]) -> Result | None:
        """None if the deadline ended a stage that may be owed."""
        try:
            return stage.check(due)
        except Passed:
            print(f"{stage.name}: ended by the deadline", flush=True)
            return None if self.may_be_owed(stage) else Result(failed=1, note="did not end before the deadline")
        except Exception as error:  # fails this stage, and the others still run
            print(f"{stage.name}: {type(error).__name__}: {error}", flush=True)
            return Result(failed=1, note="the check itself broke")

    def check_selection(self, result: Result) -> None:
        """A part that fails although it has a mark would have been left out by mistake."""
        wrong = sorted(name for name in result.red if self.marks.of(self.parts[name]) is not None)
        for name in wrong:
            self.marks.delete(self.parts[name])
        if wrong:
            note = f"groups.toml lacks something that these can see: {', '.join(wrong)}"
            self.lines.append(Line("selection", Result(failed=len(wrong), note=note), 0.0))

    def mark(self, name: str, tests: int) -> None:
        self.marks.write(self.parts[name], Mark(self.commit, tests))
