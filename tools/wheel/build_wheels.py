"""Builds a wheel for each CPython of this machine that has its headers, and tests each in an environment of its own.

Usage, from the root of the clone: .venv/bin/python -m tools.wheel.build_wheels [--out FOLDER] [--python PATH …]

All of the engine but the binding is the same for every Python, and compiled once. Prints a line for each check, and exits
with 1 if one failed.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tools.check import bazel
from tools.check.deadline import ROOT, Deadline
from tools.wheel.built_wheel import find_wheel
from tools.wheel.interpreters import SUPPORTED, Interpreter, Unfit, examine, find_interpreters


def options_for(interpreter: Interpreter) -> list[str]:
    """None for the Python of the clone, so that its module stays the one that setup built."""
    if interpreter.minor == sys.version_info[1]:
        return []
    return [f"--repo_env=HEADRACE_PYTHON={interpreter.path}"]


def built_wheel(interpreter: Interpreter) -> pathlib.Path | None:
    """None if the build fails."""
    deadline = Deadline()
    if bazel.build(deadline, f"the wheel for {interpreter.tag}", options_for(interpreter), ["//python:wheel"]):
        return None
    return find_wheel(bazel.info(deadline, "bazel-bin", "-c", "opt") / "python", interpreter.tag)


def is_good(wheel: pathlib.Path, interpreter: Interpreter) -> bool:
    command = [sys.executable, "-m", "tools.wheel.wheel_test", f"--python={interpreter.path}", wheel, "examples/photos"]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def build(interpreter: Interpreter, out: pathlib.Path) -> bool:
    print(f"== CPython {interpreter.version}, {interpreter.path}", flush=True)
    wheel = built_wheel(interpreter)
    if wheel is None:
        print(f"FAILED: the wheel for {interpreter.tag} does not build", flush=True)
        return False
    out.mkdir(parents=True, exist_ok=True)
    kept = out / wheel.name
    shutil.copyfile(wheel, kept)
    return is_good(kept.resolve(), interpreter)


def of_paths(paths: Sequence[pathlib.Path]) -> list[Interpreter]:
    found = [examine(path.absolute()) for path in paths]
    for each in found:
        if isinstance(each, Unfit):
            sys.exit(f"no wheel for {each.path}: {each.reason}")
    return [each for each in found if isinstance(each, Interpreter)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist", help="where the wheels go (dist)")
    parser.add_argument(
        "--python", type=pathlib.Path, action="append", default=[], help="an interpreter; all found otherwise"
    )
    parser.add_argument("--others", action="store_true", help="all found but the version of this Python")
    arguments = parser.parse_args()
    if arguments.python:
        chosen = of_paths(arguments.python)
    else:
        chosen, unfit = find_interpreters()
        for each in unfit:
            print(f"left out: {each.path}: {each.reason}")
        missing = sorted(set(SUPPORTED) - {each.minor for each in chosen})
        if missing:
            print(f"not found: {', '.join(f'CPython 3.{minor}' for minor in missing)}", flush=True)
    if arguments.others:
        chosen = [each for each in chosen if each.minor != sys.version_info[1]]
    failed = [each for each in chosen if not build(each, arguments.out)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
