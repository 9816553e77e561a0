"""`find_interpreters` finds the CPythons of this machine that a wheel can be built for and tested with."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterable, Sequence

# Minor versions of Python 3 that there are wheels for. pyproject.toml holds the package to the first.
SUPPORTED = range(10, 15)
_ASK = """
import importlib.util, json, sys, sysconfig
include = sysconfig.get_paths()["include"]
print(json.dumps({
    "minor": sys.version_info[1] if sys.version_info[0] == 3 else 0,
    "version": sys.version.split()[0],
    "implementation": sys.implementation.name,
    "is_free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "include": include,
    "has_venv": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
}))
"""


@dataclasses.dataclass(frozen=True)
class Interpreter:
    path: pathlib.Path
    minor: int
    version: str

    @property
    def tag(self) -> str:
        return f"cp3{self.minor}"


@dataclasses.dataclass(frozen=True)
class Unfit:
    """One that no wheel can be built for, and why."""

    path: pathlib.Path
    reason: str


def _named_in(folders: Iterable[pathlib.Path]) -> list[pathlib.Path]:
    return [folder / f"python3.{minor}" for folder in folders for minor in SUPPORTED]


def candidates() -> list[pathlib.Path]:
    """Debian's, those on PATH, and pyenv's; the first of a version is taken."""
    on_path = [pathlib.Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    folders = [pathlib.Path("/usr/bin"), *on_path, *sorted(pyenv.glob("versions/*/bin"))]
    return [path for path in _named_in(folders) if path.is_file() and os.access(path, os.X_OK)]


def examine(path: pathlib.Path) -> Interpreter | Unfit:
    asked = subprocess.run([path, "-c", _ASK], capture_output=True, text=True, cwd="/")
    if asked.returncode:
        return Unfit(path, "it does not start")
    said = json.loads(asked.stdout)
    if said["minor"] not in SUPPORTED:
        return Unfit(path, f"there are no wheels for {said['version']}")
    if said["implementation"] != "cpython" or said["is_free_threaded"]:
        return Unfit(path, "it is not CPython with its lock")
    if not pathlib.Path(said["include"], "Python.h").is_file():
        return Unfit(path, f"{said['include']} has no Python.h")
    if not said["has_venv"]:
        return Unfit(path, "it lacks venv or ensurepip, which the tests need")
    return Interpreter(path, said["minor"], said["version"])


def choose(found: Sequence[Interpreter | Unfit]) -> list[Interpreter]:
    """The first of each version, the version of this Python last: what is built then stays as setup left it."""
    first: dict[int, Interpreter] = {}
    for each in found:
        if isinstance(each, Interpreter):
            first.setdefault(each.minor, each)
    return sorted(first.values(), key=lambda each: (each.minor == sys.version_info[1], each.minor))


def find_interpreters() -> tuple[list[Interpreter], list[Unfit]]:
    found = [examine(path) for path in dict.fromkeys(candidates())]
    chosen = choose(found)
    versions = {each.tag for each in chosen}
    unfit = [
        each for each in found if isinstance(each, Unfit) and f"cp{each.path.name[6:].replace('.', '')}" not in versions
    ]
    return chosen, unfit
