"""Fingerprints and marks: what passed is known by all that it could see, and by nothing else."""

import pathlib

import pytest

from tools.check import machine
from tools.check.marks import KEPT, Mark, Marks
from tools.check.parts import Fingerprints, Level, Part
from tools.check.tree import Tree

FILES = {"core/a.h": "1", "mx/b.py": "2", "tools/setup/requirements.txt": "3"}
FACTS = {"model name": "Xeon", "package g++": "12.2"}
SEES = ["core/**", "mx/**", "tools/setup/requirements*.txt"]


def part(files=FILES, facts=FACTS, level=Level.FULL, markers=(), name="mx") -> Part:
    return Fingerprints(Tree(files), facts).part(name, SEES, ["mx/**"], level, markers)


@pytest.fixture
def marks(tmp_path: pathlib.Path) -> Marks:
    marks = Marks(tmp_path / "green")
    marks.write(part(), Mark("abc123", 12))
    return marks


def test_what_passed_is_found_with_its_commit_and_number(marks):
    assert marks.of(part()) == Mark("abc123", 12)


@pytest.mark.parametrize(
    "changed",
    [
        part(FILES | {"core/a.h": "x"}),
        part(FILES | {"mx/b.py": "x"}),
        part(FILES | {"core/new.h": "1"}),
        part(FILES | {"tools/setup/requirements.txt": "x"}),
        part(facts=FACTS | {"model name": "Epyc"}),
        part(facts=FACTS | {"package g++": "13"}),
        part(level=Level.LONG),
        part(markers=["torch"]),
        part(name="pack"),
    ],
)
def test_any_other_input_is_another_fingerprint(marks, changed):
    assert marks.of(changed) is None


def test_what_it_does_not_see_changes_nothing(marks):
    assert marks.of(part(FILES | {"docs/page.md": "x"})) == Mark("abc123", 12)


def test_all_cases_count_for_few_and_few_not_for_all(tmp_path):
    marks = Marks(tmp_path)
    marks.write(part(level=Level.THINNED), Mark("a", 1))
    assert marks.of(part(level=Level.THINNED)) and marks.of(part()) is None
    marks.write(part(level=Level.LONG, name="pack"), Mark("a", 2))
    assert marks.of(part(name="pack")) == marks.of(part(level=Level.THINNED, name="pack")) == Mark("a", 2)


def test_its_own_files_are_known_apart(marks):
    assert marks.knows_own(part(FILES | {"core/a.h": "x"}))
    assert not marks.knows_own(part(FILES | {"mx/b.py": "x"}))


def test_a_mark_that_was_wrong_is_deleted(marks):
    marks.delete(part())
    assert marks.of(part()) is None


def test_damaged_marks_are_none(marks):
    for path in marks.all_of("mx"):
        path.write_text("{")
    assert marks.of(part()) is None


def test_old_marks_are_deleted_and_others_of_the_same_beginning_kept(marks):
    for number in range(KEPT + 5):
        marks.write(part(FILES | {"core/a.h": f"{number}"}, name="docs"), Mark("a", 1))
    marks.prune()
    assert len(marks.all_of("docs")) == KEPT
    marks.put("mx-augmentation", "0" * 32, Mark("a", 1))
    assert len(marks.all_of("mx")) == 1 and marks.last_passed("mx") > 0 == marks.last_passed("sheet")


def test_durations_are_kept_by_stage(tmp_path):
    marks = Marks(tmp_path / "none")
    assert marks.durations() == {} and marks.empty()
    marks.keep_duration("soak", 31.26)
    marks.keep_duration("mypy", 2)
    assert marks.durations() == {"soak": 31.3, "mypy": 2.0} and marks.empty()


def test_the_cpu_is_its_model_and_flags():
    text = "processor: 0\nmodel name\t: Xeon\nflags\t\t: avx2 fma\n\nprocessor: 1\nmodel name : other\n"
    assert machine.cpu(text) == {"model name": "Xeon", "flags": "avx2 fma"}


def test_packages_are_those_of_the_set_up(tmp_path):
    folder = tmp_path / "tools/setup"
    folder.mkdir(parents=True)
    (folder / "packages.txt").write_text("# A comment.\nbash\n\nno-such-package\n")
    (folder / "packages-test.txt").write_text("dpkg\n")
    assert machine.package_names(tmp_path) == ["bash", "dpkg", "no-such-package"]
    assert set(machine.package_versions(machine.package_names(tmp_path))) == {"bash", "dpkg"}


def test_a_machine_is_described_by_text():
    found = machine.facts(pathlib.Path(__file__).resolve().parents[2])
    assert found["model name"] and found["package g++"] and "gpu" in found
