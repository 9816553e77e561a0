"""What a machine adds to the outcome of a test: its CPU, the versions of Debian's packages, compilers and devices."""

import pathlib
import subprocess

CPU_LINES = ("model name", "flags")


def cpu(cpuinfo: str) -> dict[str, str]:
    """The model and the flags of the first processor."""
    found: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in CPU_LINES:
            found.setdefault(name.strip(), value.strip())
    return found


def package_names(root: pathlib.Path) -> list[str]:
    """The Debian packages that the set-up installs."""
    lines = [line for path in root.glob("tools/setup/packages*.txt") for line in path.read_text().splitlines()]
    return sorted({line.strip() for line in lines if line.strip() and not line.startswith("#")})


def package_versions(names: list[str]) -> dict[str, str]:
    command = ["dpkg-query", "-W", "-f=${Package} ${Version}\n", *names]
    # It fails when one package is not installed, and still lists the others.
    listed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return {name: version for name, _, version in (line.partition(" ") for line in listed.splitlines())}


def facts(root: pathlib.Path) -> dict[str, str]:
    libcurl = root / ".venv/headrace-far"
    return {
        **cpu(pathlib.Path("/proc/cpuinfo").read_text()),
        **{f"package {name}": version for name, version in package_versions(package_names(root)).items()},
        "nvcc": str((root / ".venv/headrace-cuda").exists()),
        "libcurl": libcurl.read_text().strip() if libcurl.exists() else "",
        "gpu": str(pathlib.Path("/dev/nvidiactl").exists()),
    }
