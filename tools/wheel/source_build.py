"""What pip calls for a source distribution (PEP 517), and what makes one: the files that git tracks.

The engine is C++ that Bazel builds from Debian's packages, so pip can build it on Debian 12 alone. Anywhere else the build
ends with a list of what is missing, and what to do instead.

Usage, from the root of the clone: .venv/bin/python -m tools.wheel.source_build [FOLDER]
"""

import gzip
import io
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
from typing import Any

from tools.wheel.requirements import NAME, metadata_lines, stated_version

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = "tools/setup/packages.txt"
LICENCE = "Apache-2.0"
# 2020-01-01: the same sources give the same archive.
DATE = 1577836800


def version() -> str:
    found = stated_version((ROOT / "python/headrace/__init__.py").read_text("utf-8"))
    if found is None:
        sys.exit("headrace: python/headrace/__init__.py states no __version__")
    return found


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True)
    if listed.returncode:
        sys.exit(
            f"headrace: a source distribution is made from a clone; git says: {os.fsdecode(listed.stderr).strip()}"
        )
    return sorted(name for name in os.fsdecode(listed.stdout).split("\0") if name and (ROOT / name).is_file())


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    folder = f"{NAME}-{version()}"
    metadata = "\n".join(metadata_lines(version(), LICENCE, ["LICENSE"])) + "\n"
    contents = io.BytesIO()
    with tarfile.open(fileobj=contents, mode="w", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, f"{folder}/PKG-INFO", metadata.encode(), 0o644)
        for name in tracked_files():
            path = ROOT / name
            _add(archive, f"{folder}/{name}", path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
    made = pathlib.Path(sdist_directory, f"{folder}.tar.gz")
    made.write_bytes(gzip.compress(contents.getvalue(), mtime=0))
    return made.name


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(data), mode, DATE
    archive.addfile(entry, io.BytesIO(data))


def missing() -> list[str]:
    """What this machine lacks to build the engine, each with its reason."""
    lacks = []
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        lacks.append(f"Linux on x86-64 (this is {platform.system()} on {platform.machine()})")
    system = _system()
    if system != "debian 12":
        lacks.append(f"Debian 12, whose packages it is built from (this is {system})")
    if packages := _missing_packages():
        lacks.append(f"Debian's packages {' '.join(packages)}")
    return lacks


def _system() -> str:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "a system without a name"
    return f"{release.get('ID', 'unknown')} {release.get('VERSION_ID', '')}".strip()


def _missing_packages() -> list[str]:
    lines = (ROOT / PACKAGES).read_text("utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    if shutil.which("dpkg-query") is None:
        return wanted
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Package}\\n", *wanted]
    listed = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return [name for name in wanted if f"installed {name}" not in listed]


def advice(lacks: list[str]) -> str:
    lines = [
        "headrace: pip found no wheel for this Python and system, and cannot build one from the sources here.",
        "Missing:",
        *(f"  - {each}" for each in lacks),
        "What to do:",
        "  - Wheels need Linux on x86-64 with glibc 2.34 or newer, CPython 3.10 to 3.13 and pip 20.3 or newer:",
        f"    this is Python {platform.python_version()} with {' '.join(filter(None, platform.libc_ver())) or 'no glibc'}.",
        "  - On macOS and Windows use them in a container or in WSL 2.",
        "  - On Debian 12 on x86-64, as root: unpack the source distribution and run ./quickstart in it, which installs",
        "    the packages, Bazel among them, and builds the engine.",
    ]
    return "\n".join(lines)


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    if lacks := missing():
        sys.exit(advice(lacks))
    bazel = shlex.split(os.environ.get("HEADRACE_BAZEL", "bazel"))
    # pip's variables are those of the environment that it builds in, which the set-up has no part in.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    for command in (
        ["tools/setup/setup", "--test"],
        [*bazel, "build", f"--repo_env=HEADRACE_PYTHON={sys.executable}", "//python:wheel"],
    ):
        if subprocess.run(command, cwd=ROOT, env=environment).returncode:
            sys.exit(f"headrace: {' '.join(command)} failed; see what it printed above")
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    (wheel,) = (ROOT / "bazel-bin/python").glob(f"{NAME}-{version()}-{tag}-{tag}-*.whl")
    shutil.copyfile(wheel, pathlib.Path(wheel_directory, wheel.name))
    return wheel.name


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist")
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / build_sdist(str(folder)))


if __name__ == "__main__":
    main()
