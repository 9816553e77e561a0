"""The loop of editing, building and testing one part: formats files changed since the last commit and runs their tests.

A PATH is a folder (kernels/vision: all tests in it), or a file with or without its suffix (kernels/vision/resize: its
test, or all tests of its folder if it has none). Without a PATH, the changed files. pytest runs Python tests after the
engine module is built.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAZEL = shlex.split(os.environ.get("HEADRACE_BAZEL", "bazel"))
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


def package_of(root: pathlib.Path, path: pathlib.Path) -> pathlib.Path | None:
    """The nearest folder with a BUILD file, at or above the path; None if that is the top-level one."""
    for folder in (path, *path.parents):
        if folder != pathlib.Path() and (root / folder / "BUILD").is_file():
            return folder
    return None


def stem_of(path: pathlib.Path) -> pathlib.Path:
    """kernels/vision/resize for kernels/vision/geometry/resize.cc and for kernels/vision/geometry/resize_test.cc."""
    return path.with_name(re.sub(r"(_test|_fuzz)?(\.\w+)?$", "", path.name))


def query_of(root: pathlib.Path, path: pathlib.Path) -> str | None:
    """The Bazel query for the C++ tests of the path; None if there are none."""
    package = package_of(root, path)
    if (root / path).is_dir():
        if not any((root / path).rglob("*_test.cc")) and not any((root / path).rglob("*_fuzz.cc")):
            return None
        if package is None or package == path:
            return f"kind(cc_test, //{path}/...)"
        return f'attr(srcs, "//{package}:{re.escape(str(path.relative_to(package)))}/", kind(cc_test, //{package}:all))'
    stem = stem_of(path)
    if package is None:
        return None
    if not any((root / stem).with_name(stem.name + end).is_file() for end in ("_test.cc", "_fuzz.cc")):
        return query_of(root, path.parent)
    name = re.escape(str(stem.relative_to(package)))
    return f'attr(srcs, "//{package}:{name}_(test|fuzz)[.]cc", kind(cc_test, //{package}:all))'


def is_python(root: pathlib.Path, path: pathlib.Path) -> bool:
    """Whether pytest runs the path: a file of tests, or a folder with such files and no C++ tests."""
    if (root / path).is_dir():
        return query_of(root, path) is None and any((root / path).rglob("test_*.py"))
    return path.suffix == ".py" and path.name.startswith("test_")


def relative(root: pathlib.Path, given: str) -> pathlib.Path:
    """ValueError if neither the path nor the path with a suffix exists."""
    path = pathlib.Path(os.path.relpath(os.path.join(root, given), root))
    if not (root / path).exists() and not list((root / path.parent).glob(path.name + "[._]*")):
        raise ValueError(f"there is no {given}, nor a file that begins so")
    return path


def run_bazel(queries: list[str], options: list[str]) -> int:
    query = [*BAZEL, "query", "--noshow_progress", "--ui_event_filters=-info", " + ".join(queries)]
    targets = subprocess.run(query, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    if not targets:
        print("no test beside")
        return 1
    command = [*BAZEL, "test", *options, "--ui_event_filters=-info", "--test_verbose_timeout_warnings=no", *targets]
    return subprocess.run(command, cwd=ROOT).returncode


def run_pytest(paths: list[str]) -> int:
    subprocess.run(["tools/setup/setup"], cwd=ROOT, check=True)
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
    queries = [query for path in paths if not is_python(ROOT, path) if (query := query_of(ROOT, path)) is not None]
    if not python and not queries:
        print("no test beside " + (", ".join(map(str, paths)) or "what changed"))
        return 1
    failed = False
    if queries:
        failed |= run_bazel(sorted(set(queries)), [f"--config={options.config}"] if options.config else []) != 0
    if python:
        failed |= run_pytest(python) != 0
    print(f"{'FAILED' if failed else 'ok'}, {time.monotonic() - started:.0f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
