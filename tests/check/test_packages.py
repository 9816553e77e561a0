"""tools/check/packages.py: which package a file is of, and what can be seen from a package."""

import pathlib

import pytest

from tests.conftest import ROOT
from tools.check.packages import MACROS, OF_TESTS, Packages
from tools.check.tree import Tree

FILES = {
    "BUILD": "",
    "core/BUILD": 'headrace_cc_library(name = "core")',
    "core/tensor.h": "",
    "core/tensor_test.cc": "",
    "core/deep/er/file.h": "",
    "io/BUILD": 'headrace_cc_library(\n    name = "io",\n    deps = ["//core"],\n)',
    "io/files.h": "",
    "ops/BUILD": """headrace_cc_library(
    name = "ops",
    test_deps = [
        "//tests/made",
    ],
    deps = ["//io:files", "@zlib"],
)""",
    "ops/map.cc": "",
    "tests/made/BUILD": 'headrace_cc_library(name = "made", deps = ["//ops"])',
    "tests/made/made.h": "",
}
MACRO = {MACROS: 'deps = ["//rounds"]', "rounds/BUILD": "", "rounds/rounds.h": ""}


def packages_of(root: pathlib.Path, files: dict[str, str]) -> Packages:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Packages(root, Tree(dict.fromkeys(files, "1")), ["!**/*_test.cc"])


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("core/tensor.h", "core"),
        ("core/deep/er/file.h", "core"),
        ("tests/made/made.h", "tests/made"),
        ("tests/conftest.py", ""),
        ("README.md", ""),
    ],
)
def test_a_file_is_of_the_nearest_package_above_it(tmp_path, path, package):
    assert packages_of(tmp_path, FILES).of(path) == package


CORE = ["core/BUILD", "core/deep/er/file.h", "core/tensor.h"]
IO = ["io/BUILD", "io/files.h"]
OPS = ["ops/BUILD", "ops/map.cc"]


@pytest.mark.parametrize(
    ("package", "seen"),
    [("core", CORE), ("io", [*CORE, *IO]), ("ops", [*CORE, *IO, *OPS])],
)
def test_packages_see_what_they_name_and_transitively_the_rest(tmp_path, package, seen):
    assert packages_of(tmp_path, FILES).seen_from(package) == seen


def test_packages_that_name_each_other_see_the_same(tmp_path):
    packages = packages_of(tmp_path, FILES | {"core/BUILD": 'deps = ["//io"]'})
    assert packages.seen_from("core") == packages.seen_from("io") == [*CORE, *IO]


def test_what_the_macros_name_is_seen_from_each_package(tmp_path):
    packages = packages_of(tmp_path, FILES | MACRO)
    assert packages.seen_from("core") == [*CORE, "rounds/BUILD", "rounds/rounds.h"]


def test_what_tests_alone_depend_on_is_a_literal_list():
    """OF_TESTS would leave a part of any other expression to the libraries."""
    texts = {path: (ROOT / path).read_text() for path in Tree.of(ROOT).matching(["**/BUILD"])}
    ends = {path: [text[found.end()] for found in OF_TESTS.finditer(text)] for path, text in texts.items()}
    assert sum(map(len, ends.values())) > 10 and {end for each in ends.values() for end in each} == {","}
    assert [path for path, text in texts.items() if "test_deps" in OF_TESTS.sub("", text)] == []
