"""groups.toml: every test is in one group, and everything is seen by what depends on it."""

import pytest

from tests.conftest import ROOT
from tools.check.groups import Groups
from tools.check.machine import package_names
from tools.check.parts import Fingerprints, Level
from tools.check.tree import Tree, matches, pattern_of

TREE = Tree.of(ROOT)
GROUPS = Groups.read(ROOT, TREE)


def changed_by(path: str) -> set[str]:
    """The groups of tests that see a file."""
    return {group.name for group in GROUPS.groups if matches(path, GROUPS.sees(group))}


def every_glob() -> list[str]:
    lists = [GROUPS.shared, GROUPS.build, GROUPS.unseen, *GROUPS.stages.values(), *GROUPS.markers.values()]
    lists += [[*group.tests, *group.python, *group.cpp, *group.besides] for group in GROUPS.groups]
    return [glob.removeprefix("!") for of in lists for glob in of]


def test_every_test_file_is_in_exactly_one_group():
    assert {path: GROUPS.groups_of(path) for path in GROUPS.test_files if len(GROUPS.groups_of(path)) != 1} == {}


def test_every_file_is_seen_by_a_group_or_named_as_unseen():
    seen = [GROUPS.sees(group) for group in GROUPS.groups if not group.besides]
    seen += [GROUPS.stages["cpp"], GROUPS.stages["soak"], GROUPS.stages["wheel"], GROUPS.unseen]
    seen += [group.tests for group in GROUPS.groups]
    seen += [["docs/**", "examples/**", "tools/**", "tests/**", "*.md"]]
    assert [path for path in TREE.hashes if not any(matches(path, globs) for globs in seen)] == []


def test_rooms_are_all_with_tests_that_sanitizers_run():
    with_tests = {path.partition("/")[0] for path in TREE.matching(["**/*_test.cc"])}
    assert with_tests - set(GROUPS.rooms) <= {"python", "tests", "benchmarks", "examples", "plugin", "tools"}
    names = list(GROUPS.rooms)
    assert all(below in TREE.folders() for room in names for below in GROUPS.rooms[room])
    assert all(TREE.matching([f"{room}/**"]) for room in names)


EVERYWHERE = {group.name for group in GROUPS.groups}
KERNELS = {
    "kernels",
    "c-library",
    "coco",
    "targets",
    "eager",
    "inference",
    "processors",
    "surface",
    "variants",
    "mx-augmentation",
    "docs",
    "repository",
}


@pytest.mark.parametrize(
    ("path", "groups"),
    [
        ("core/new.h", EVERYWHERE),
        ("ir/new.cc", EVERYWHERE),
        ("engine/exec/new.cc", EVERYWHERE),
        ("ops/new.cc", EVERYWHERE),
        ("python/binding/module/new.cc", EVERYWHERE),
        ("python/headrace/new.py", EVERYWHERE),
        (".bazelrc", EVERYWHERE),
        ("tools/setup/requirements-dev.txt", EVERYWHERE),
        ("kernels/vision/geometry/new.cc", KERNELS),
        ("python/headrace/mx/io/new.py", {"mx", "mx-augmentation", "names", "surface", "docs", "repository"}),
        ("docs/new.md", {"docs"}),
        ("tests/named_sets.py", {"sets", "docs", "repository"}),
        ("benchmarks/new.py", {"benchmarks", "docs", "inference", "repository"}),
        ("core/new_test.cc", {"docs", "repository"}),
    ],
)
def test_a_change_reaches_these_groups(path, groups):
    assert changed_by(path) == groups


def test_each_group_has_tests_and_only_its_own_files_make_it_new():
    make = Fingerprints(TREE, {})
    assert all(GROUPS.files_of(group) for group in GROUPS.groups)
    timing = GROUPS.timing_parts(make, Level.FULL)
    assert {"runs.timing", "functions.timing"} <= set(timing) and "mx.timing" not in timing
    assert all(GROUPS.long_files_of(group) for group in GROUPS.groups if group.long)


def test_the_pins_and_packages_count():
    assert matches("tools/setup/requirements.txt", GROUPS.build)
    assert "g++" in package_names(ROOT)


def test_every_glob_names_a_file_that_there_is():
    assert [glob for glob in every_glob() if not TREE.matching([glob])] == []


def test_globs_have_no_slips():
    assert [glob for glob in every_glob() if glob.startswith("/") or glob.endswith("/") or "//" in glob] == []
    assert pattern_of("a/**/b.py").fullmatch("a/b.py") and pattern_of("a/**/b.py").fullmatch("a/c/d/b.py")
