"""Runs wheels in systems that have nothing but Python: Debian 12 and 13, unpacked by debootstrap into folders.

Usage, from the root of the clone, as root: .venv/bin/python -m tools.wheel.bare_debian FOLDER PHOTOS

FOLDER has the wheels. Prints a line for each check, and "skipped: " with the reason for a system that cannot be tried;
exits with 1 if a check failed. Debian's packages come from the mirror that apt uses, NumPy from where pip takes it.
"""

import argparse
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from tools.wheel.built_wheel import find_wheel
from tools.wheel.wheel_test import EVERY_MODULE, PIPELINE, PROCESSES

# Of NumPy's wheels.
PLATFORMS = ["manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64"]
SITE = "opt/site-packages"
MIRROR = "http://deb.debian.org/debian/"
# In a namespace of mounts of its own, which ends with the command.
ENTER = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'


@dataclasses.dataclass(frozen=True)
class System:
    name: str
    suite: str
    minor: int
    """Of its Python."""

    @property
    def tag(self) -> str:
        return f"cp3{self.minor}"


SYSTEMS = [System("Debian 12", "bookworm", 11), System("Debian 13", "trixie", 13)]


def obstacle() -> str | None:
    """Why no system can be tried here."""
    if os.geteuid() != 0:
        return "debootstrap, mount and chroot need root"
    for program, package in (("debootstrap", "debootstrap"), ("unshare", "util-linux")):
        if shutil.which(program) is None:
            return f"{program} is not installed (apt-get install {package})"
    return None


def mirror() -> str:
    """The one that apt takes Debian 12's packages from."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages"]
    asked = subprocess.run(command, capture_output=True, text=True)
    words = [line.split() for line in asked.stdout.splitlines()]
    return next((line[0] for line in words if line[1:] == ["bookworm"]), MIRROR)


def said_by(command: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Nothing, or what a command that failed printed."""
    done = subprocess.run(command, capture_output=True, text=True)
    return [done.stdout[-4000:] + done.stderr[-4000:]] if done.returncode else []


def make(system: System, root: pathlib.Path, source: str) -> list[str]:
    return said_by(["debootstrap", "--variant=minbase", "--include=python3", system.suite, root, source])


def install(system: System, wheel: pathlib.Path, root: pathlib.Path) -> list[str]:
    command: list[str | os.PathLike[str]] = [sys.executable, "-m", "pip", "install", "-q", "--no-compile"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--target", root / SITE]
    command += ["--implementation=cp", f"--python-version=3.{system.minor}", f"--abi={system.tag}"]
    return said_by([*command, *(f"--platform={each}" for each in PLATFORMS), wheel])


def run(root: pathlib.Path, *command: str) -> list[str]:
    environment = ["/usr/bin/env", "-i", "PATH=/usr/bin:/bin", f"PYTHONPATH=/{SITE}", "LD_BIND_NOW=1"]
    return said_by(["unshare", "--mount", "sh", "-c", ENTER, root, *environment, *command])


def is_good(system: System, wheel: pathlib.Path, photos: pathlib.Path, source: str) -> bool:
    failed = False

    def check(name: str, complaints: list[str]) -> bool:
        nonlocal failed
        failed |= bool(complaints)
        print(f"{'FAILED' if complaints else 'ok'}: {system.name}: {name}", *complaints, sep="\n    ", flush=True)
        return not complaints

    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary, "root")
        if not check("debootstrap unpacks it", make(system, root, source)):
            return False
        if not check("the wheel is installed", install(system, wheel, root)):
            return False
        shutil.copytree(photos, root / "photos")
        check("a pipeline runs", run(root, "python3", "-c", PIPELINE, "/photos"))
        check("functions run in other processes", run(root, "python3", "-c", PROCESSES))
        check("every module of the package is imported", run(root, "python3", "-c", EVERY_MODULE))
        check("the doctor reports", run(root, "python3", "-m", "headrace", "doctor"))
    return not failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("photos", type=pathlib.Path)
    arguments = parser.parse_args()
    reason = obstacle()
    failed = False
    source = mirror()
    for system in SYSTEMS:
        wheel = find_wheel(arguments.folder, system.tag)
        missing = reason or (None if wheel else f"no wheel for {system.tag} in {arguments.folder}")
        if missing or wheel is None:
            print(f"skipped: {system.name}: {missing}", flush=True)
        else:
            failed |= not is_good(system, wheel, arguments.photos, source)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
