"""The tests that tools/loop finds for a path."""

import pathlib
import subprocess
import sys

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools/check"))
import loop


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    for file in [
        "BUILD",
        "kernels/BUILD",
        "kernels/kernel.h",
        "kernels/vision/geometry/resize.cc",
        "kernels/vision/geometry/resize_test.cc",
        "kernels/vision/geometry/pad.cc",
        "io/files/BUILD",
        "io/files/glob.h",
        "io/files/glob_test.cc",
        "io/files/glob_fuzz.cc",
        "python/BUILD",
        "python/tests/test_files.py",
        "docs/page.md",
    ]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("kernels/vision", 'attr(srcs, "//kernels:vision/", kind(cc_test, //kernels:all))'),
        ("io/files", "kind(cc_test, //io/files/...)"),
        ("io", "kind(cc_test, //io/...)"),
        (
            "kernels/vision/resize",
            'attr(srcs, "//kernels:vision/resize_(test|fuzz)[.]cc", kind(cc_test, //kernels:all))',
        ),
        ("io/files/glob.h", 'attr(srcs, "//io/files:glob_(test|fuzz)[.]cc", kind(cc_test, //io/files:all))'),
        ("io/files/glob_fuzz.cc", 'attr(srcs, "//io/files:glob_(test|fuzz)[.]cc", kind(cc_test, //io/files:all))'),
        ("kernels/vision/geometry/pad.cc", 'attr(srcs, "//kernels:vision/", kind(cc_test, //kernels:all))'),
        ("docs/page.md", None),
        ("docs", None),
    ],
)
def test_a_path_names_the_tests_beside_it(root: pathlib.Path, path: str, query: str | None) -> None:
    assert loop.query_of(root, loop.relative(root, path)) == query


def test_tests_in_python_are_known(root: pathlib.Path) -> None:
    assert loop.is_python(root, pathlib.Path("python/tests/test_files.py"))
    assert loop.is_python(root, pathlib.Path("python/tests"))
    assert not loop.is_python(root, pathlib.Path("kernels/vision"))
    assert not loop.is_python(root, pathlib.Path("docs"))


def test_what_is_not_there_is_refused(root: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="no kernels/vision/rotate"):
        loop.relative(root, "kernels/vision/rotate")


def test_what_changed_is_formatted(root: pathlib.Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=root, check=True)

    git("init", "-q")
    (root / "docs/old.py").write_text("a  =  1\n")
    git("add", ".")
    git("commit", "-q", "-m", "First")
    (root / "kernels/kernel.h").write_text("int  a ;\n")
    (root / "docs/new.py").write_text("b  =  1\n")
    (root / "docs/page.md").unlink()
    changed = loop.changed_files(root)
    assert sorted(map(str, changed)) == ["docs/new.py", "kernels/kernel.h"]
    loop.format_files(root, changed)
    assert (root / "kernels/kernel.h").read_text() == "int a;\n"
    assert (root / "docs/new.py").read_text() == "b = 1\n"
    assert (root / "docs/old.py").read_text() == "a  =  1\n"
