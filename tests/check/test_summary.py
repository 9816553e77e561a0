"""The last lines of a run, its suspects, and the limits on its time."""

import json

import pytest

from tests.conftest import ROOT
from tools.check import limits, summary, suspects
from tools.check.marks import Mark
from tools.check.result import Result
from tools.check.stages import Line


def test_the_last_line_has_the_numbers_alone_and_suspects_stand_before():
    assert summary.closing([Line("a", Result(3, 1), 1), Line("b", Result(2), 1)]) == ["5 passed, 1 failed"]
    assert summary.closing([Line("a", Result(3, suspects=["t::x", "t::y"]), 1)]) == [
        "2 suspect, which failed once and passed twice alone: t::x, t::y",
        "3 passed, 0 failed",
    ]


def test_each_stage_has_its_time_and_the_slowest_are_shown():
    times = [(float(number), f"test {number}") for number in range(20)]
    text = summary.text_of([Line("C++ tests", Result(20, 0, "9 programs", times=times), 61.4)], [], ["owed: soak"])
    assert "    ok  C++ tests: 20 passed (9 programs), 61 s" in text
    assert "    19.0 s  test 19" in text and "test 9\n" not in text
    assert text.index("owed: soak") < text.index("ran 20 tests")


def test_what_was_not_run_is_named_with_its_commit_and_tests():
    parts = [
        ("mx", 1480, "4e55366d"),
        ("asan.core", 300, "4e55366d"),
        ("asan.io", 20, "4e55366d"),
        ("asan.ops", 7, "b"),
    ]
    assert summary.unchanged([(name, Mark(commit, tests)) for name, tests, commit in parts]) == [
        "     -  mx: unchanged since 4e55366d, 1,480 tests",
        "     -  asan (core, io): unchanged since 4e55366d, 320 tests",
        "     -  asan (ops): unchanged since b, 7 tests",
    ]


def test_what_tests_covered_is_added_up():
    result = Result()
    result.count("HEADRACE-COUNT schedules=100 variants=8\nother\nHEADRACE-COUNT schedules=1")
    assert summary.counts([Line("a", result, 1)]) == "variants: 8; schedules: 101; fuzz: 0"


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [([True, True], (["t"], [])), ([True, False], ([], ["t"])), ([False], ([], ["t"]))],
)
def test_a_suspect_passes_twice_alone(outcomes, expected):
    left = list(outcomes)
    assert suspects.sort_out(["t"], lambda _: left.pop(0)) == expected
    assert left == []


def test_suspects_are_in_a_file_until_a_run_without(tmp_path):
    file = tmp_path / "new/suspects.json"
    suspects.write(file, ["t::x"])
    assert json.loads(file.read_text()) == ["t::x"]
    suspects.write(file, [])
    suspects.write(file, [])
    assert not file.exists()


def test_limits_are_those_of_the_page_for_contributors():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    for limit in limits.LIMITS:
        assert f"| {limit.name} | {limit.minutes:g} min |" in page
    assert f"| Bazel's outputs and its cache | {limits.LARGEST_GB} GB |" in page


def test_a_limit_that_is_passed_is_said():
    assert limits.warning_of(limits.QUICKSTART, 360) == limits.warning_of(None, 1e6) == ""
    assert limits.warning_of(limits.QUICKSTART, 390) == (
        "limit: ./quickstart took 6.5 minutes, and CONTRIBUTING.md says at most 6"
    )
    assert limits.warning_of_bytes(12_000_000_000) == ""
    assert "have 12.3 GB" in limits.warning_of_bytes(12_300_000_000)


@pytest.mark.parametrize(
    ("changed", "limit"),
    [
        ([], limits.CI_NOTHING),
        (["kernels"], limits.CI_KERNEL),
        (["core"], limits.CI),
        (["core", "kernels"], limits.CI),
    ],
)
def test_the_limit_follows_from_what_changed(changed, limit):
    assert limits.of_ci(changed) is limit


def test_limits_can_be_asked_for_by_name(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["limits.py", "./quickstart", "1000"])
    assert limits.main() == 0
    assert "./quickstart took 16.7 minutes" in capsys.readouterr().err
