"""Stages: which run, in which order, what is named as unchanged, and what is owed."""

import os
import pathlib
import time

import pytest

from tools.check import stages, summary
from tools.check.deadline import Deadline, Passed
from tools.check.marks import Mark, Marks
from tools.check.parts import Part
from tools.check.result import Result
from tools.check.stages import Run, Stage


@pytest.fixture
def marks(tmp_path) -> Marks:
    return Marks(tmp_path / "green")


def part(name: str, digest: str = "1") -> Part:
    return Part(name, digest)


def run_of(marks: Marks, left: float | None = None, commits: int = 0, fresh: bool = False) -> Run:
    return Run(marks, Deadline(left), "abc123", commits, fresh)


class Checks:
    """Stages that remember which of their parts ran, and fail where they are told to."""

    def __init__(self, red: str = "", late: str = "") -> None:
        self.red = red
        self.late = late
        self.ran: list[str] = []

    def stage(self, name: str, *parts: Part, must: bool = True, resumes: bool = False) -> Stage:
        def check(due) -> Result:
            names = [each.name for each in due] or [name]
            self.ran += names
            if self.late in names:
                raise Passed
            bad = {each for each in names if each == self.red}
            return Result(
                len(names) - len(bad), len(bad), green={each: 7 for each in names if each not in bad}, red=bad
            )

        return Stage(name, check, parts, must, resumes)


def test_exitfirst_ends_after_the_first_stage_that_fails(marks):
    checks = Checks(red="pack")
    run = Run(marks, Deadline(), "abc123", 0, exitfirst=True)
    run.perform([checks.stage("Python", part("mx"), part("pack")), checks.stage("C++", part("cpp"))])
    assert checks.ran == ["mx", "pack"]
    assert run.failures() == 1


def test_what_passed_is_not_run_again_and_is_named(marks):
    checks = Checks(red="pack")
    for _ in range(2):
        run = run_of(marks)
        run.perform([checks.stage("Python", part("mx"), part("pack")), checks.stage("C++", part("cpp"))])
    assert checks.ran == ["mx", "pack", "cpp", "pack"]
    assert run.unchanged == [("mx", Mark("abc123", 7)), ("cpp", Mark("abc123", 7))]
    assert "mx: unchanged since abc123, 7 tests" in summary.text_of(run.lines, run.unchanged, [])
    run_of(marks).perform([checks.stage("Python", part("mx", digest="2"))])
    assert checks.ran[-1] == "mx"


def test_a_stage_without_parts_always_runs(marks):
    checks = Checks()
    for _ in range(2):
        run_of(marks).perform([Stage("form", lambda _: checks.ran.append("form") or Result(1))])
    assert checks.ran == ["form", "form"]


def test_a_check_that_breaks_fails_and_the_others_run(marks):
    def broken(_) -> Result:
        raise OSError("no such file")

    checks = Checks()
    run = run_of(marks)
    run.perform([Stage("broken", broken), checks.stage("C++", part("cpp"))])
    assert [line.result.failed for line in run.lines] == [1, 0] and checks.ran == ["cpp"]


def test_what_must_run_comes_first_and_then_what_passed_longest_ago(marks, monkeypatch):
    monkeypatch.setattr(stages.Marks, "last_passed", lambda _, name: {"soak": 30.0, "wheel": 10.0}.get(name, 0.0))
    marks.write(part("other"), Mark("a", 1))
    checks = Checks()
    may = [checks.stage(name, part(name), must=False) for name in ("soak", "wheel", "fuzz")]
    run_of(marks).perform([*may, checks.stage("C++", part("cpp"))])
    assert checks.ran == ["cpp", "fuzz", "wheel", "soak"]


class Calls:
    """Calls of 75 seconds each, all ended by the deadline, on files that change in between: all is due each time."""

    def __init__(self, marks: Marks, monkeypatch: pytest.MonkeyPatch) -> None:
        self.marks = marks
        self.seconds = 1000.0
        self.ran: list[str] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.seconds)
        replace = Marks.replace

        def replace_now(marks: Marks, path: pathlib.Path, text: str) -> None:
            replace(marks, path, text)
            os.utime(path, (self.seconds, self.seconds))

        monkeypatch.setattr(Marks, "replace", replace_now)

    def work(self, seconds: float, deadline: Deadline) -> None:
        worked = min(seconds, deadline.left())
        self.seconds += worked
        if worked < seconds:
            raise Passed

    def call(self, digest: str, soak: float) -> str:
        """What passed: fuzz tests of 30 seconds each, and a soak that takes longer than such a call has time for after them."""
        run = run_of(self.marks, left=75)
        ran: list[str] = []

        def check(seconds: float):
            def of(due) -> Result:
                for each in due:
                    self.work(seconds, run.deadline)
                    ran.append(each.name)
                    run.mark(each.name, 1)
                return Result(len(due))

            return of

        fuzzed = tuple(part(name, digest) for name in "abcdef")
        run.perform(
            [
                Stage("soak", check(soak), (part("S", digest),), must=False),
                Stage("fuzz tests", check(30), fuzzed, must=False, resumes=True),
            ]
        )
        return "".join(ran)


def test_stages_that_the_deadline_ends_have_turns_and_so_have_their_parts(marks, monkeypatch):
    calls = Calls(marks, monkeypatch)
    assert [calls.call(digest, soak=60) for digest in "12345678"] == ["S", "ab", "S", "cd", "S", "ef", "S", "ab"]


def test_what_never_passes_takes_no_turn_of_others(marks, monkeypatch):
    calls = Calls(marks, monkeypatch)
    assert [calls.call(digest, soak=80) for digest in "123456"] == ["", "ab", "", "cd", "", "ef"]


@pytest.mark.parametrize(("commits", "order"), [(0, "abc"), (1, "bca"), (5, "cab")])
def test_where_nothing_is_known_the_order_turns_with_the_commits(marks, commits, order):
    checks = Checks()
    run_of(marks, commits=commits).perform([checks.stage(name, part(name), must=False) for name in "abc"])
    assert checks.ran == list(order)


def test_what_takes_longer_than_is_left_is_owed_unless_it_resumes(marks):
    marks.keep_duration("soak", 600)
    marks.keep_duration("tsan", 600)
    checks = Checks()
    run = run_of(marks, left=300)
    run.perform(
        [
            checks.stage("soak", part("soak"), must=False),
            checks.stage("tsan", part("tsan"), must=False, resumes=True),
            checks.stage("C++", part("cpp")),
        ]
    )
    assert checks.ran == ["cpp", "tsan"] and run.owed == ["soak"]


def test_what_the_deadline_ends_is_owed_and_no_failure_unless_it_must_run(marks):
    checks = Checks(late="tsan")
    run = run_of(marks)
    run.perform([checks.stage("tsan", part("tsan"), part("other"), must=False)])
    assert run.owed == ["tsan", "other"] and run.lines == []
    run.perform([checks.stage("C++", part("tsan"))])
    assert [line.result.failed for line in run.lines] == [1]


def late(failed: int, red: set[str], passed: int = 2) -> Stage:
    return Stage("tsan", lambda _: Result(passed, failed, red=red, late=True), (part("a"), part("b")), must=False)


def test_a_failure_before_the_deadline_counts_and_the_rest_is_owed(marks):
    """Another run may not find it: a race, a crash on an input that fuzzing drew, a clock."""
    run = run_of(marks)
    run.perform([late(1, {"a"})])
    assert run.failures() == 1 and run.owed == ["b"]
    assert "FAILED  tsan: 2 passed, 1 failed (did not end before the deadline)" in summary.text_of(run.lines, [], [])
    assert marks.durations() == {}
    run = run_of(marks)
    run.perform([late(0, set())])
    assert run.failures() == 0 and run.owed == ["a", "b"]


def test_a_failure_before_the_deadline_ends_a_run_that_ends_at_the_first(marks):
    run = Run(marks, Deadline(), "abc123", 0, exitfirst=True)
    checks = Checks()
    run.perform([late(1, {"a"}), checks.stage("soak", part("soak"), must=False)])
    assert checks.ran == [] and run.failures() == 1


def test_a_failure_of_what_had_passed_fails_the_selection_before_the_deadline_too(marks):
    marks.write(part("a"), Mark("a", 1))
    run = run_of(marks, fresh=True)
    run.perform([late(1, {"a"})])
    assert [line.stage for line in run.lines] == ["tsan", "selection"]


def test_what_has_an_old_mark_is_owed_by_a_run_that_asks_for_none(marks):
    marks.write(part("a"), Mark("a", 1))
    run = run_of(marks, fresh=True)
    run.perform([late(0, set(), passed=0)])
    assert run.owed == ["a", "b"] and run.lines == []


def test_a_stage_without_parts_is_owed_by_its_name(marks):
    run = Run(marks, Deadline(-1), "abc123", 0, several=True)
    run.perform([Stage("ruff check", lambda _: Result(1))])
    assert run.owed == ["ruff check"]


def fresh_call(marks, monkeypatch, seconds: float, now: float, digest: str = "1", red: str = "") -> list[str]:
    """What a call of so many seconds runs of three stages of 30 seconds each, all of which have passed before."""
    clock = Calls(marks, monkeypatch)
    clock.seconds = now
    run = Run(marks, Deadline(seconds), "abc123", 0, fresh=True, several=True, files=f"files{digest}")
    ran = []

    def check(due) -> Result:
        clock.work(30, run.deadline)
        (name,) = (each.name for each in due)
        ran.append(name)
        return Result(0, 1, red={name}) if name == red else Result(1, green={name: 1})

    run.perform([Stage(name, check, (part(name, digest),)) for name in "abc"])
    return ran + run.owed + [line.stage for line in run.lines if line.stage == "selection"]


def test_what_is_run_anew_goes_on_over_calls(marks, monkeypatch):
    for name in "abc":
        marks.write(part(name), Mark("a", 1))
        os.utime(marks.path(name, part(name).fingerprint(part(name).level)), (1.0, 1.0))
    assert fresh_call(marks, monkeypatch, 45, now=1000.0) == ["a", "b", "c"]
    assert marks.of(part("c")) == Mark("a", 1)
    # A plain call in between finds the earlier marks, and ends nothing.
    Run(marks, Deadline(), "abc123", 0, several=True, files="files1").perform([])
    assert fresh_call(marks, monkeypatch, 45, now=2000.0) == ["b", "c"]
    assert fresh_call(marks, monkeypatch, 45, now=3000.0, red="c") == ["c", "selection"]
    # It has run everything: the next begins anew.
    assert fresh_call(marks, monkeypatch, 100, now=4000.0) == ["a", "b", "c"]


def test_what_is_run_anew_begins_again_with_other_files(marks, monkeypatch):
    assert fresh_call(marks, monkeypatch, 45, now=1000.0) == ["a", "b", "c"]
    assert fresh_call(marks, monkeypatch, 45, now=2000.0, digest="2") == ["a", "b", "c"]


def test_over_several_calls_nothing_is_late(marks):
    checks = Checks(late="cpp")
    run = Run(marks, Deadline(60), "abc123", 0, several=True)
    run.perform([checks.stage("C++", part("cpp"))])
    run.deadline = Deadline(-1)
    run.perform([checks.stage("Python", part("mx"))])
    assert run.owed == ["cpp", "mx"] and checks.ran == ["cpp"] and run.lines == []


def test_parts_that_passed_before_the_deadline_are_not_owed(marks):
    run = run_of(marks)

    def check(_) -> Result:
        run.mark("mx", 5)
        raise Passed

    run.perform([Stage("Python", check, (part("mx"), part("pack")), must=False)])
    assert run.owed == ["pack"] and marks.of(part("mx")) == Mark("abc123", 5)


def test_a_failure_of_what_would_have_been_left_out_fails_the_selection(marks):
    marks.write(part("mx"), Mark("a", 1))
    checks = Checks(red="mx")
    run = run_of(marks, fresh=True)
    run.perform([checks.stage("Python", part("mx"), part("pack"))])
    assert [(line.stage, line.result.failed) for line in run.lines] == [("Python", 1), ("selection", 1)]
    assert run.lines[1].result.note == "groups.toml lacks something that these can see: mx"
    assert marks.of(part("mx")) is None and marks.of(part("pack")) is not None


def test_the_time_of_each_stage_is_kept(marks, monkeypatch):
    now = iter([100.0, 142.5])
    run = run_of(marks)
    monkeypatch.setattr(time, "monotonic", lambda: next(now, 142.5))
    run.perform([Stage("soak", lambda _: Result(1))])
    assert run.lines[0].seconds == 42.5
