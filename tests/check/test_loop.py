"""The tests that tools/loop finds for a path."""

import pathlib
import subprocess

import pytest

from tools.check import loop
from tools.check.cpp_selection import Selection, selection_of


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    for file in [
        "BUILD",
        "kernels/BUILD",
        "kernels/kernel.h",
        "kernels/vision/resize.cc",
        "kernels/vision/resize_test.cc",
        "kernels/vision/pad.cc",
        "io/files/BUILD",
        "io/files/glob.h",
        "io/files/glob_test.cc",
        "io/files/glob_fuzz.cc",
        "io/files/pattern.h",
        "python/BUILD",
        "python/tests/test_files.py",
        "docs/page.md",
    ]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    (tmp_path / "kernels/vision/resize_test.cc").write_text("TEST(Resize, Halves) {}\n")
    (tmp_path / "io/files/glob_test.cc").write_text("TEST_P(Glob, Finds) {}\n")
    return tmp_path


def files(package: str, *names: str) -> str:
    labels = " ".join(f"//{package}:{name}" for name in names)
    return f"kind(cc_test, rdeps(//{package}:all, set({labels})))"


@pytest.mark.parametrize(
    ("path", "selection"),
    [
        ("kernels/vision", Selection(files("kernels", "vision/resize_test.cc"), "Resize.Halves")),
        ("kernels/vision/resize", Selection(files("kernels", "vision/resize_test.cc"), "Resize.Halves")),
        ("kernels/vision/pad.cc", Selection(files("kernels", "vision/resize_test.cc"), "Resize.Halves")),
        ("io/files", Selection("kind(cc_test, //io/files/...)")),
        ("io", Selection("kind(cc_test, //io/...)")),
        ("io/files/glob.h", Selection(files("io/files", "glob_test.cc", "glob_fuzz.cc"), "*Glob.Finds/*")),
        ("io/files/glob_fuzz.cc", Selection(files("io/files", "glob_test.cc", "glob_fuzz.cc"), "*Glob.Finds/*")),
        ("io/files/pattern.h", Selection("kind(cc_test, //io/files/...)")),
        ("docs/page.md", None),
        ("docs", None),
    ],
)
def test_a_path_names_the_tests_beside_it(root: pathlib.Path, path: str, selection: Selection | None) -> None:
    assert selection_of(root, loop.relative(root, path)) == selection


def test_programs_of_folders_run_all_tests_and_those_of_files_theirs() -> None:
    chosen = [Selection("a", "A.*"), Selection("b"), Selection("c", "C.*"), Selection("d"), Selection("a", "A.*")]
    assert loop.merged(chosen) == [Selection("a + c", "A.*:C.*"), Selection("b + d")]
    assert loop.merged([]) == []


def test_fuzz_tests_are_left_to_the_sanitizer() -> None:
    assert loop.query_under("asan", "//io:all") == "//io:all"
    assert loop.query_under(None, "//io:all") == "let tests = //io:all in $tests except attr(tags, fuzz, $tests)"


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
