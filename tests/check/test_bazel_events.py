"""What is read of Bazel's build events, and what a stage of C++ tests makes of them."""

import json
import pathlib

import pytest

from tools.check import bazel
from tools.check.bazel_events import Events, cases_in
from tools.check.cpp_tests import CppTests, room_of
from tools.check.deadline import Deadline, Passed
from tools.check.parts import Part

XML = """<testsuites><testsuite>
<testcase name="a" status="run"/><testcase name="b" status="run"><failure/></testcase>
<testcase name="c" status="notrun"/><testcase name="d" status="run"><skipped/></testcase>
</testsuite></testsuites>"""
GOOD_XML = '<testsuites><testcase name="a" status="run"/><testcase name="b" status="run"/></testsuites>'


def configured(label: str, *tags: str) -> dict:
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"tag": list(tags)}}


def completed(label: str, success: bool = True) -> dict:
    return {"id": {"targetCompleted": {"label": label}}, "completed": {"success": success}}


def result(label: str, status: str = "PASSED", cached: bool = False, millis: int = 1500, **outputs) -> dict:
    files = [{"name": name.replace("_", "."), "uri": f"file://{path}"} for name, path in outputs.items()]
    return {
        "id": {"testResult": {"label": label}},
        "testResult": {
            "status": status,
            "cachedLocally": cached,
            "testAttemptDurationMillis": str(millis),
            "testActionOutput": files,
        },
    }


def aborted(label: str, reason: str = "USER_INTERRUPTED") -> dict:
    return {"id": {"targetCompleted": {"label": label}}, "aborted": {"reason": reason}}


def events_of(*each: dict, late: bool = False) -> Events:
    events = Events(late)
    for event in each:
        events.add(event)
    return events


@pytest.fixture
def xml(tmp_path) -> dict[str, pathlib.Path]:
    (tmp_path / "bad.xml").write_text(XML)
    (tmp_path / "good.xml").write_text(GOOD_XML)
    return {"bad": tmp_path / "bad.xml", "good": tmp_path / "good.xml"}


def test_cases_are_counted(xml, tmp_path):
    assert cases_in(str(xml["bad"])) == (1, 1)
    (tmp_path / "cut.xml").write_text("<testsuites>")
    assert cases_in(str(tmp_path / "cut.xml")) == cases_in(None) == cases_in("/no/such/file") == (0, 0)


def test_shards_are_one_target(xml):
    events = events_of(
        configured("//a:t", "threads"),
        completed("//a:t"),
        result("//a:t", test_xml=xml["good"], cached=True),
        result("//a:t", "FAILED", test_xml=xml["bad"]),
    )
    outcome = events.outcomes["//a:t"]
    assert (outcome.passed, outcome.failed, outcome.cached, outcome.seconds) == (3, 1, False, 3.0)
    assert outcome.tags == ("threads",) and events.failing() == ["//a:t"] and events.unbuilt() == []


def test_a_crash_is_a_failure_and_a_program_without_cases_one_test():
    events = events_of(result("//a:crash", "FAILED"), result("//a:plain"), completed("//a:lib", success=False))
    assert events.outcomes["//a:crash"].failed == events.outcomes["//a:plain"].passed == 1
    assert events.unbuilt() == ["//a:lib"] and set(events.tests()) == {"//a:crash", "//a:plain"}


def test_events_that_end_in_a_line_are_read_to_there(tmp_path):
    file = tmp_path / "events.json"
    file.write_text(json.dumps(result("//a:t")) + '\n{"id": {"testRes')
    assert Events.read(file).outcomes["//a:t"].passed == 1
    assert Events.read(tmp_path / "none").outcomes == {}


def stage(monkeypatch, code: int, events: Events, alone: list[int] | None = None) -> CppTests:
    """A stage that finds these events, and then these exit codes of tests that run alone."""
    answers = [(code, events), *((each, Events()) for each in alone or [])]
    monkeypatch.setattr(bazel, "test", lambda *_: answers.pop(0))
    return CppTests(Deadline(), "asan", [], "asan")


PARTS = [Part("asan.core", "1"), Part("asan.io", "1")]


def test_rooms_pass_and_fail_by_themselves(monkeypatch):
    events = events_of(result("//core:core_test"), result("//core/a:t"), result("//io/files:t", "FAILED"))
    found = stage(monkeypatch, 3, events).rooms(PARTS)
    assert (found.passed, found.failed, found.red) == (2, 1, {"asan.io"}) and found.green == {}


def test_rooms_that_pass_have_the_number_of_their_tests(monkeypatch):
    events = events_of(result("//core:core_test"), result("//core/a:t"), result("//io/files:t", cached=True))
    found = stage(monkeypatch, 0, events).rooms(PARTS)
    assert found.green == {"asan.core": 2, "asan.io": 1}
    assert found.note == "3 programs, 1 of them unchanged since their last run"


def test_what_does_not_build_fails(monkeypatch):
    found = stage(monkeypatch, 1, events_of(completed("//io:lib", success=False))).rooms(PARTS)
    assert (found.failed, found.red) == (1, {"asan.io"})
    assert stage(monkeypatch, 1, Events()).everything([Part("cpp", "1")]).failed == 1


@pytest.mark.parametrize(("alone", "suspect"), [([0, 0], True), ([0, 3], False), ([3], False)])
def test_a_test_that_runs_alone_is_suspect_if_it_passes_twice(monkeypatch, alone, suspect):
    events = events_of(configured("//a:t", "exclusive"), result("//a:t", "FAILED"), result("//a:u"))
    found = stage(monkeypatch, 3, events, alone).everything([Part("cpp", "1")])
    assert (found.suspects, found.failed) == ((["//a:t"], 0) if suspect else ([], 1))
    assert found.green == {} and found.red == (set() if suspect else {"cpp"})


def test_what_failed_before_the_deadline_counts(monkeypatch):
    """A race that ThreadSanitizer finds now and then may not be found by the next run."""
    events = events_of(result("//core:t"), result("//io/files:t", "FAILED"), aborted("//io:lib"), late=True)
    found = stage(monkeypatch, 0, events).rooms(PARTS)
    assert (found.passed, found.failed, found.red, found.green) == (1, 1, {"asan.io"}, {}) and found.late
    found = stage(monkeypatch, 0, events).everything([Part("cpp", "1")])
    assert (found.failed, found.red, found.late) == (1, {"cpp"}, True)
    good = stage(monkeypatch, 0, events_of(result("//core:t"), late=True)).everything([Part("cpp", "1")])
    assert (good.passed, good.failed, good.red, good.green, good.late) == (1, 0, set(), {}, True)


@pytest.mark.parametrize("reason", ["ANALYSIS_FAILURE", "LOADING_FAILURE"])
def test_what_cannot_be_analysed_fails_before_the_deadline_too(monkeypatch, reason):
    found = stage(monkeypatch, 0, events_of(aborted("//io:lib", reason), late=True)).rooms(PARTS)
    assert (found.failed, found.red) == (1, {"asan.io"})


def test_a_run_that_the_deadline_ended_gives_what_bazel_had_written(monkeypatch):
    def run(_, command) -> int:
        (option,) = [word for word in command if word.startswith("--build_event_json_file=")]
        pathlib.Path(option.partition("=")[2]).write_text(json.dumps(result("//a:t", "FAILED")) + "\n")
        raise Passed

    monkeypatch.setattr(Deadline, "run", run)
    _, events = bazel.test(Deadline(), "C++ tests", [], ["//..."])
    assert events.late and events.failing() == ["//a:t"]


def test_what_cannot_run_again_before_the_deadline_has_failed(monkeypatch):
    """Also where it passed alone once."""
    late = events_of(late=True)
    for answers in ([(0, late)], [(0, Events()), (0, late)]):
        waiting = [(3, events_of(configured("//a:t", "exclusive"), result("//a:t", "FAILED"))), *answers]
        monkeypatch.setattr(bazel, "test", lambda *_, waiting=waiting: waiting.pop(0))
        found = CppTests(Deadline(), "cpp", [], "cpp").everything([Part("cpp", "1")])
        assert (found.suspects, found.failed, found.red) == ([], 1, {"cpp"})


def test_a_test_beside_others_is_never_suspect(monkeypatch):
    found = stage(monkeypatch, 3, events_of(result("//a:t", "FAILED"))).everything([Part("cpp", "1")])
    assert (found.suspects, found.failed) == ([], 1)


def test_the_room_of_a_label():
    assert [room_of(label) for label in ("//kernels/vision:t", "//core:t")] == ["kernels", "core"]
