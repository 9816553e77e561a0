"""tools/check/tree.py: what counts of a working tree."""

import os
import pathlib
import subprocess

import pytest

from tools.check.tree import Tree, matches


def git(root: pathlib.Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=root, check=True)


def clone(root: pathlib.Path) -> pathlib.Path:
    (root / "core").mkdir(parents=True)
    (root / "core/a.h").write_text("int a;\n")
    (root / "core/b.h").write_text("int b;\n")
    (root / ".gitignore").write_text("*.so\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "First")
    return root


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    return clone(tmp_path / "clone")


@pytest.mark.parametrize(
    ("path", "globs", "found"),
    [
        ("core/tensor.cc", ["core/**"], True),
        ("core/testing/require.h", ["core/**"], True),
        ("core/tensor.cc", ["core/*.h"], False),
        ("core/testing/require.h", ["core/*.h"], False),
        ("tensor_test.cc", ["**/*_test.cc"], True),
        ("core/tensor_test.cc", ["core/**", "!**/*_test.cc"], False),
        ("core/tensor_test.cc", ["core/**", "!**/*_test.cc", "core/tensor_test.cc"], True),
        ("python/tests/test_a.py", ["python/tests/test_?.py"], True),
        ("corex/a.h", ["core/**"], False),
        ("a.h", [], False),
    ],
)
def test_the_last_glob_that_matches_counts(path, globs, found):
    assert matches(path, globs) is found
    assert Tree({path: "hash"}).matching(globs) == [path] * found


def test_edits_count_before_they_are_committed(root):
    before = Tree.of(root).digest(["core/**"])
    (root / "core/a.h").write_text("int c;\n")
    assert Tree.of(root).digest(["core/**"]) != before
    (root / "core/a.h").write_text("int a;\n")
    assert Tree.of(root).digest(["core/**"]) == before


@pytest.mark.parametrize("change", ["new", "deleted", "renamed", "executable"])
def test_each_change_of_a_file_counts(root, change):
    before = Tree.of(root).digest(["core/**"])
    file = root / "core/a.h"
    {
        "new": lambda: (root / "core/c.h").write_text(""),
        "deleted": file.unlink,
        "renamed": lambda: file.rename(root / "core/c.h"),
        "executable": lambda: file.chmod(0o755),
    }[change]()
    assert Tree.of(root).digest(["core/**"]) != before


def test_what_git_ignores_and_what_does_not_match_does_not_count(root):
    before = Tree.of(root).digest(["core/**"])
    (root / "core/module.so").write_text("")
    (root / "docs").mkdir()
    (root / "docs/page.md").write_text("")
    assert Tree.of(root).digest(["core/**"]) == before
    assert Tree.of(root).folders() == ["core", "docs"]


def test_links_count_by_where_they_lead(root):
    os.symlink("a.h", root / "core/link.h")
    before = Tree.of(root).digest(["core/**"])
    (root / "core/link.h").unlink()
    os.symlink("b.h", root / "core/link.h")
    assert Tree.of(root).digest(["core/**"]) != before


def test_the_folder_of_the_clone_does_not_count(root, tmp_path):
    other = clone(tmp_path / "elsewhere/other")
    assert Tree.of(root).digest(["**"]) == Tree.of(other).digest(["**"])
