"""The loop of editing, building and testing one part: formats files changed since the last commit and runs their tests.

A PATH is a folder (kernels/vision: all tests in it), or a file with or without its suffix (kernels/vision/resize: the
tests of its test file, or all tests of its folder if it has none). Without a PATH, the changed files. pytest runs Python
tests after the engine module is built.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterable

from tools.check import bazel
from tools.check.cpp_selection import Selection, selection_of
from tools.check.deadline import ROOT, Deadline

CPP = (".cc", ".cu", ".h")


def changed_files(root: pathlib.Path) -> list[pathlib.Path]:
    """Files that differ from the last commit and still exist, relative to the root."""
    command = ["git", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]
    found = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    paths = [pathlib.Path(entry[3:]) for entry in found.stdout.split("\0") if entry]
    return [path for path in paths if (root / path).is_file()]


def format_files(root: pathlib.Path, files: Iterable[pathlib.Path]) -> None:
    bin_folder = pathlib.Path(sys.executable).parent
    cpp = [str(path) for path in files if path.suffix in CPP]
    python = [str(path) for path in files if path.suffix in (".py", ".pyi")]
    if cpp:
        subprocess.run([bin_folder / "clang-format", "-i", *cpp], cwd=root, check=True)
    if python:
        subprocess.run([bin_folder / "ruff", "check", "-q", "--fix-only", *python], cwd=root, check=True)
        subprocess.run([bin_folder / "ruff", "format", "-q", *python], cwd=root, check=True)


def is_python(root: pathlib.Path, path: pathlib.Path) -> bool:
    """Whether pytest runs the path: a file of tests, or a folder with such files and no C++ tests."""
    if (root / path).is_dir():
        return selection_of(root, path) is None and any((root / path).rglob("test_*.py"))
    return path.suffix == ".py" and path.name.startswith("test_")


def relative(root: pathlib.Path, given: str) -> pathlib.Path:
    """ValueError if neither the path nor the path with a suffix exists."""
    path = pathlib.Path(os.path.relpath(os.path.join(root, given), root))
    if not (root / path).exists() and not list((root / path.parent).glob(path.name + "[._]*")):
        raise ValueError(f"there is no {given}, nor a file that begins so")
    return path


def merged(selections: Iterable[Selection]) -> list[Selection]:
    """Those with a filter as one, since a program without a test of that name runs none; and the others as one."""
    by_kind: dict[bool, list[Selection]] = {}
    for selection in selections:
        by_kind.setdefault(bool(selection.filter), []).append(selection)
    return [
        Selection(
            " + ".join(sorted({one.query for one in of})), ":".join(sorted({one.filter for one in of if one.filter}))
        )
        for of in by_kind.values()
    ]


def query_under(config: str | None, query: str) -> str:
    """The programs of a query that there are under a configuration: fuzz tests under AddressSanitizer alone."""
    return query if config == "asan" else f"let tests = {query} in $tests except attr(tags, fuzz, $tests)"


def run_bazel(selection: Selection, config: str | None) -> int:
    try:
        targets = bazel.query(Deadline(), query_under(config, selection.query))
    except RuntimeError as error:
        print(error)
        return 1
    if not targets:
        print("no test beside, but perhaps a fuzz test: tools/loop --asan runs those")
        return 1
    options = [f"--config={config}"] if config else []
    options += [f"--test_filter={selection.filter}"] if selection.filter else []
    command = [*bazel.BAZEL, "test", *options, "--ui_event_filters=-info", "--test_verbose_timeout_warnings=no"]
    return subprocess.run([*command, *targets], cwd=ROOT).returncode


def run_pytest(paths: list[str]) -> int:
    subprocess.run(["tools/setup/setup", "--test"], cwd=ROOT, check=True)
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "--durations=10", *paths], cwd=ROOT).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/loop", description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATH")
    sanitizers = parser.add_mutually_exclusive_group()
    for name, title in (("asan", "AddressSanitizer and UndefinedBehaviorSanitizer"), ("tsan", "ThreadSanitizer")):
        sanitizers.add_argument(
            f"--{name}", dest="config", action="store_const", const=name, help=f"build and run the C++ under {title}"
        )
    options = parser.parse_args()
    started = time.monotonic()

    changed = changed_files(ROOT)
    format_files(ROOT, changed)
    try:
        paths = [relative(ROOT, given) for given in options.paths]
    except ValueError as error:
        parser.error(str(error))
    if not paths:
        paths = [path for path in changed if path.suffix in CPP or is_python(ROOT, path)]
    python = [str(path) for path in paths if is_python(ROOT, path)]
    found = (selection_of(ROOT, path) for path in paths if not is_python(ROOT, path))
    selections = merged(selection for selection in found if selection is not None)
    if not python and not selections:
        print("no test beside " + (", ".join(map(str, paths)) or "what changed"))
        return 1
    failed = False
    for selection in selections:
        failed |= run_bazel(selection, options.config) != 0
    if python:
        failed |= run_pytest(python) != 0
    print(f"{'FAILED' if failed else 'ok'}, {time.monotonic() - started:.0f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
