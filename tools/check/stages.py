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

    A stage that must run fails if the deadline ends it; any other is owed. Parts that had failed by then stay failures,
    because another run may not find what they found.

    What a stage that `resumes` has done is not lost when it is ended: Bazel keeps it, or each of its parts is marked
    once it has passed. So it begins however little time is left, and is given the parts that passed longest ago first.
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

    `fresh`: runs what has a mark, too. `several`: later calls go on where this one ends. So what must run may also be
    owed, and a fresh run of these `files` leaves out what has passed since the first of its calls. `exitfirst`: ends
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
        files: str = "",
    ) -> None:
        self.marks = marks
        self.deadline = deadline
        self.commit = commit
        self.commits = commits
        self.fresh = fresh
        self.several = several
        self.exitfirst = exitfirst
        self.files = files
        self.durations = marks.durations()
        self.knows_nothing = marks.empty()
        # Marks count from here on, in seconds.
        self.since = 0.0
        if fresh:
            self.since = marks.begin_fresh(files) if several else float("inf")
        self.lines: list[Line] = []
        self.unchanged: list[tuple[str, Mark]] = []
        self.owed: list[str] = []
        # Whether a stage that need not run has begun.
        self.turn_kept = False
        # Parts by name, so that a part that passes is marked while its stage still runs.
        self.parts: dict[str, Part] = {}
        # Names of parts that have passed in this run.
        self.marked: set[str] = set()

    def perform(self, stages: Sequence[Stage]) -> None:
        self.parts |= {part.name: part for stage in stages for part in stage.parts}
        ordered = [stage for stage in stages if stage.must]
        ordered += self.in_turn([stage for stage in stages if not stage.must])
        for stage in ordered:
            if not (self.exitfirst and self.failures()):
                self.perform_one(stage)
        ended_early = self.owed or self.exitfirst and self.failures()
        if self.fresh and self.several and not ended_early:
            self.marks.end_fresh(self.files)

    def failures(self) -> int:
        return sum(line.result.failed for line in self.lines)

    def in_turn(self, stages: Sequence[Stage]) -> list[Stage]:
        """The one that had its turn longest ago, or never, comes first."""
        return rotated(stages, self.commits) if self.knows_nothing else sorted(stages, key=self.last_turn)

    def last_turn(self, stage: Stage) -> float:
        """When one of its parts passed, or it was the first and had all the time that a call leaves.

        By its oldest part, one that never gets through all of them would always be the first.
        """
        passed = (self.marks.last_passed(part.name) for part in stage.parts)
        return max(self.marks.last_turn(stage.name), *passed, 0.0)

    def due(self, stage: Stage) -> list[Part]:
        """The parts to run; those that passed as they are now are noted."""
        due = []
        for part in stage.parts:
            mark = self.marks.of(part)
            if mark is None or self.marks.written_at(part) < self.since:
                due.append(part)
            else:
                self.unchanged.append((part.name, mark))
        return sorted(due, key=lambda part: self.marks.last_passed(part.name)) if stage.resumes else due

    def perform_one(self, stage: Stage) -> None:
        due = self.due(stage)
        if stage.parts and not due:
            return
        if self.may_be_owed(stage) and not self.has_time(stage):
            self.owe(stage, due)
            return
        self.keep_turn(stage)
        print(f"\033[1m== {stage.name}\033[0m", flush=True)
        started = time.monotonic()
        result = self.result_of(stage, due)
        seconds = time.monotonic() - started
        for name, tests in result.green.items():
            self.mark(name, tests)
        if result.late:
            self.settle_late(stage, result, due)
        else:
            self.marks.keep_duration(stage.name, seconds)
        if not result.late or result.passed or result.failed:
            self.lines.append(Line(stage.name, result, seconds))
        self.check_selection(result)

    def keep_turn(self, stage: Stage) -> None:
        if not stage.must and not self.turn_kept:
            self.marks.keep_turn(stage.name)
            self.turn_kept = True

    def may_be_owed(self, stage: Stage) -> bool:
        return self.several or not stage.must

    def has_time(self, stage: Stage) -> bool:
        expected = 0.0 if stage.resumes else self.durations.get(stage.name, 0.0)
        return self.deadline.left() > expected

    def owe(self, stage: Stage, parts: Sequence[Part]) -> None:
        """Owes the parts but for those that passed before the deadline, or a stage without parts."""
        names = [part.name for part in parts] or [stage.name]
        self.owed += [name for name in names if name not in self.marked]

    def settle_late(self, stage: Stage, result: Result, due: Sequence[Part]) -> None:
        """What the deadline left is owed, or a failure of a stage that must run; what had failed stays a failure."""
        print(f"{stage.name}: ended by the deadline", flush=True)
        left = [part for part in due if part.name not in result.red]
        if not self.may_be_owed(stage):
            result.failed = result.failed or 1
        elif left or not due:
            self.owe(stage, left)
        result.note = ", ".join(filter(None, [result.note, "did not end before the deadline"]))

    def result_of(self, stage: Stage, due: Sequence[Part]) -> Result:
        try:
            return stage.check(due)
        except Passed:
            return Result(late=True)
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
        self.marked.add(name)
