"""Fuzz tests, soak, wheel: what of their output counts."""

import pathlib
import sys

import pytest

from tools.check import bazel, fuzz, installs, product_checks
from tools.check.deadline import Deadline, Passed
from tools.check.marks import Marks
from tools.check.parts import Level, Part
from tools.check.product_checks import FUZZ_SECONDS, ProductChecks
from tools.check.result import Result
from tools.check.stages import Run, Stage


def script(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path, monkeypatch) -> pathlib.Path:
    """Three fuzz tests: two that find nothing, and one that does."""
    labels = ["//io/files:glob_fuzz", "//ops:plan_fuzz", "//ops:state_fuzz"]
    monkeypatch.setattr(bazel, "query", lambda *_: labels)
    monkeypatch.setattr(bazel, "build", lambda *_: 0)
    monkeypatch.setattr(bazel, "info", lambda *_: tmp_path)
    monkeypatch.setattr(fuzz, "ROOT", tmp_path)
    monkeypatch.setattr(fuzz, "KEPT", tmp_path / ".fuzz")
    for path in ("io/files/glob_fuzz", "ops/plan_fuzz"):
        script(tmp_path / path, 'echo "$@"\necho "stat::number_of_executed_units: 7"')
    script(tmp_path / "ops/state_fuzz", "echo it crashed; exit 1")
    return tmp_path


def parts(*names: str, level: Level = Level.FULL) -> list[Part]:
    return [Part(name, "1", level=level) for name in names]


def test_each_fuzz_test_passes_or_fails_by_itself(programs, capsys):
    marked: dict[str, int] = {}
    checks = ProductChecks(Deadline(), {}, marked.__setitem__)
    found = checks.fuzz(parts("fuzz.glob_fuzz", "fuzz.plan_fuzz", "fuzz.state_fuzz"))
    assert (found.passed, found.failed, found.red) == (2, 1, {"fuzz.state_fuzz"})
    assert marked == {"fuzz.glob_fuzz": 1, "fuzz.plan_fuzz": 1} and found.counts["fuzz"] == 14
    assert "it crashed" in capsys.readouterr().out


def test_only_fuzz_tests_that_are_due_run(programs, capsys):
    found = ProductChecks(Deadline(), {}).fuzz(parts("fuzz.plan_fuzz", level=Level.LONG))
    assert (found.passed, found.note) == (1, f"{FUZZ_SECONDS[Level.LONG]} seconds each")
    assert "ok: plan_fuzz, 7 inputs" in capsys.readouterr().out


def test_a_deadline_ends_fuzz_tests(programs):
    script(programs / "ops/plan_fuzz", "exec sleep 1000")
    found = ProductChecks(Deadline(0.2), {}).fuzz(parts("fuzz.plan_fuzz"))
    assert (found.passed, found.failed, found.late) == (0, 0, True)


@pytest.mark.parametrize("late", ["glob_fuzz", "plan_fuzz"])
def test_a_crash_counts_although_the_deadline_ends_another(programs, tmp_path, monkeypatch, capsys, late):
    """What crashed may pass in the next run: fuzzing goes on from other inputs."""
    run_one = fuzz.run

    def run_until_late(folder, target, *rest) -> fuzz.Outcome:
        if target.name == late:
            raise Passed
        return run_one(folder, target, *rest)

    monkeypatch.setattr(fuzz, "run", run_until_late)
    run = Run(Marks(tmp_path / "green"), Deadline(), "abc123", 0)
    checks = ProductChecks(run.deadline, {}, run.mark)
    names = ("fuzz.glob_fuzz", "fuzz.plan_fuzz", "fuzz.state_fuzz")
    run.perform([Stage("fuzz tests", checks.fuzz, tuple(parts(*names)), must=False, resumes=True)])
    passed = [name for name in names[:2] if name != f"fuzz.{late}"]
    assert run.failures() == 1 and run.owed == [f"fuzz.{late}"]
    assert [part.name for part in parts(*names) if run.marks.of(part)] == passed
    assert "it crashed" in capsys.readouterr().out


def test_fuzz_tests_begin_in_the_order_of_their_parts(programs, monkeypatch):
    monkeypatch.setattr(fuzz.os, "cpu_count", lambda: 1)
    marked: dict[str, int] = {}
    ProductChecks(Deadline(), {}, marked.__setitem__).fuzz(parts("fuzz.plan_fuzz", "fuzz.glob_fuzz"))
    assert list(marked) == ["fuzz.plan_fuzz", "fuzz.glob_fuzz"]


def test_an_unknown_fuzz_test_is_an_error(programs):
    with pytest.raises(ValueError, match="no fuzz test other"):
        fuzz.find_targets(["other"], Deadline())


def test_a_fuzz_test_that_does_not_build_is_an_error(programs, monkeypatch):
    monkeypatch.setattr(bazel, "build", lambda *_: 1)
    with pytest.raises(RuntimeError, match="does not build"):
        ProductChecks(Deadline(), {}).fuzz(parts("fuzz.plan_fuzz"))


def said(monkeypatch, code: int, text: str) -> ProductChecks:
    deadline = Deadline()
    monkeypatch.setattr(deadline, "output_of", lambda *_, **__: (code, text))
    return ProductChecks(deadline, {})


def ended(monkeypatch, text: str) -> ProductChecks:
    """What is said before the deadline ends it."""
    deadline = Deadline()

    def output_of(*_, **__):
        passed = Passed()
        passed.said = text
        raise passed

    monkeypatch.setattr(deadline, "output_of", output_of)
    return ProductChecks(deadline, {})


@pytest.mark.parametrize(("text", "failed"), [("ok: a\n", 0), ("ok: a\nFAILED: b\n", 1)])
def test_a_failure_counts_although_the_deadline_ends_the_rest(monkeypatch, tmp_path, capsys, text, failed):
    wheel = tmp_path / "headrace.whl"
    wheel.write_bytes(b"")
    monkeypatch.setattr(product_checks, "WHEELS", tmp_path / "dist")
    checks = ended(monkeypatch, text)
    monkeypatch.setattr(checks, "built_wheel", lambda: wheel)
    for name in ("soak", "wheel", "other_wheels", "bare_debian"):
        found = getattr(checks, name)(parts(name))
        assert (found.failed, found.late, found.red, found.green) == (failed, True, {name} if failed else set(), {})
        assert text in capsys.readouterr().out


def test_what_a_program_says_is_seen_at_once():
    """Python keeps what it prints to a file until it ends, and an end by a signal loses it."""
    limit = Deadline()
    code = "import os, signal; print('FAILED: a'); os.kill(os.getpid(), signal.SIGKILL)"
    _, said = ProductChecks(limit, {}).output_of("soak", ["-c", code])
    assert said == "FAILED: a\n"


def test_the_soak_counts_what_it_covered(monkeypatch):
    found = said(monkeypatch, 0, "HEADRACE-COUNT soak-kills=5\nsoak: every row was right\n").soak(parts("soak"))
    assert (found.passed, found.counts["soak-kills"], found.green) == (1, 5, {"soak": 1})
    assert said(monkeypatch, 1, "").soak(parts("soak")).red == {"soak"}


@pytest.mark.parametrize(
    ("code", "text", "passed", "failed"),
    [(0, "ok: a\nok: b\n", 2, 0), (1, "ok: a\nFAILED: b\n", 1, 1), (1, "ok: a\nTraceback\n", 1, 1)],
)
def test_the_wheel_has_as_many_tests_as_it_says(monkeypatch, tmp_path, code, text, passed, failed):
    (tmp_path / "python").mkdir()
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    for each in (tag, "cp399"):
        (tmp_path / f"python/headrace-0.1.0-{each}-{each}-manylinux_2_34_x86_64.whl").write_bytes(b"")
    monkeypatch.setattr(bazel, "build", lambda *_: 0)
    monkeypatch.setattr(bazel, "info", lambda *_: tmp_path)
    found = said(monkeypatch, code, text).wheel(parts("wheel"))
    assert (found.passed, found.failed, bool(found.green)) == (passed, failed, not failed)
    assert found.note.startswith(f"headrace-0.1.0-{tag}-")
    monkeypatch.setattr(bazel, "build", lambda *_: 1)
    assert said(monkeypatch, 0, "").wheel(parts("wheel")).failed == 1


@pytest.mark.parametrize(
    ("text", "note", "marked"),
    [
        ("ok: Debian 12: a\nok: Debian 13: a\n", "", True),
        ("ok: Debian 12: a\nskipped: Debian 13: no wheel\n", "skipped: Debian 13: no wheel", False),
    ],
)
def test_a_system_that_was_not_tried_is_named_and_has_not_passed(monkeypatch, tmp_path, text, note, marked):
    wheel = tmp_path / "headrace.whl"
    wheel.write_bytes(b"")
    monkeypatch.setattr(product_checks, "WHEELS", tmp_path / "dist")
    checks = said(monkeypatch, 0, text)
    monkeypatch.setattr(checks, "built_wheel", lambda: wheel)
    found = checks.bare_debian(parts("bare_debian"))
    assert (found.note, bool(found.green)) == (note, marked) and (tmp_path / "dist/headrace.whl").is_file()
    assert said(monkeypatch, 1, "FAILED: b\n").other_wheels(parts("wheels")).red == {"wheels"}


def test_what_is_installed_is_not_installed_again(monkeypatch):
    monkeypatch.setattr(installs, "installed", lambda _: True)
    monkeypatch.setattr(installs, "pip", lambda *_: pytest.fail("it was installed"))
    assert installs.install_torch(Deadline()) == []
    monkeypatch.setattr(installs, "installed", lambda name: name == installs.TORCH)
    monkeypatch.setattr(installs, "pip", lambda *_: False)
    assert installs.install_torch(Deadline()) == installs.TORCH_LOOPS
    monkeypatch.setattr(installs, "installed", lambda _: False)
    monkeypatch.setattr(installs, "pip", lambda *_: False)
    with pytest.raises(RuntimeError, match="torch==.* cannot be installed"):
        installs.install_torch(Deadline())


def test_nothing_is_built_from_sources(monkeypatch):
    called = []

    def run(_, command, **options):
        called.append(command)
        return 0

    monkeypatch.setattr(Deadline, "run", run)
    assert installs.pip(Deadline(), ["x==1", "y==2"])
    assert called[0][-3:] == ["--only-binary=:all:", "x==1", "y==2"]


def test_a_browser_is_not_installed_from_old_lists(monkeypatch):
    called = []

    def run(_, command, *rest, **options):
        called.append(command)
        return 100

    monkeypatch.setattr(installs.shutil, "which", lambda _: None)
    monkeypatch.setattr(Deadline, "run", run)
    with pytest.raises(RuntimeError, match="lists could not be updated"):
        installs.install_browser(Deadline())
    assert len(called) == 1 and "--error-on=any" in called[0]


def test_versions_count():
    assert not installs.installed("pytest==0.0.1") and not installs.installed("no-such-thing==1.0")


def distribution(folder: pathlib.Path, name: str, version: str, *lines: str) -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines, ""])
    )


def test_what_extras_need_counts(tmp_path, monkeypatch):
    """Tests of what an extra is for would be skipped where the package was installed without it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    needs = [
        "heddle>=2; extra == 'data'",
        "weft; extra == 'train'",
        "nothing; python_version < '3' and extra == 'data'",
    ]
    distribution(tmp_path, "loom", "1.2+cpu", *(f"Requires-Dist: {need}" for need in needs))
    assert installs.installed("loom==1.2") and not installs.installed("loom[data]==1.2")
    distribution(tmp_path, "heddle", "2.1")
    assert installs.installed("loom[data]==1.2") and not installs.installed("loom[data,train]==1.2")
    distribution(tmp_path, "weft", "0.1")
    assert installs.installed("loom[data,train]==1.2") and not installs.installed("loom[data,train]==1.3")


def test_parts_that_pass_together_are_open_after_a_suspect():
    assert Result(3).about(parts("a", "b")).green == {"a": 3, "b": 3}
    assert Result(3, suspects=["t"]).about(parts("a")).green == {}
    assert Result(3, 1).about(parts("a")).red == {"a"}
