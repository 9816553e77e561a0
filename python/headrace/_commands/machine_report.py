"""`machine_report` says what a maintainer has to know of a machine to understand a report of a fault. It names no user, no
host and no user file."""

import importlib.metadata
import os
import platform
import resource
import sys
from typing import Any

import numpy

from headrace import _engine
from headrace._commands import version_command
from headrace._commands.nvidia_driver import nvidia_report
from headrace._files.opened_file import open_to_read
from headrace.errors import UnsupportedError

__all__ = ["machine_report"]

# What Headrace works with, beside NumPy: the versions of those that are installed are shown.
OTHERS = ("accelerate", "cloudpickle", "datasets", "jax", "lightning", "lmdb", "mxnet", "onnx", "opencv-python", "pandas",
          "pillow", "polars", "pyarrow", "pycocotools", "ray", "tensorflow", "torch", "torchvision", "transformers")  # fmt: skip
_UNLIMITED = "unlimited"
_SHARED_MEMORY = "/dev/shm"
_LIMITS = {
    "open files": resource.RLIMIT_NOFILE,
    "processes and threads": resource.RLIMIT_NPROC,
    "locked memory, bytes": resource.RLIMIT_MEMLOCK,
    "address space, bytes": resource.RLIMIT_AS,
}
# Where Linux says what memory a container may have, by the version of its control groups.
_MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def machine_report(version: str) -> dict[str, Any]:
    """Sections of names and values that JSON can hold; None is what this machine does not say."""
    return {
        "headrace": _package(version),
        "python": _python(),
        "system": _system(),
        "cpu": _cpu(),
        "memory": _memory(),
        "limits": {name: _limit(which) for name, which in _LIMITS.items()},
        "gpu": nvidia_report(),
        "libraries": _libraries(version),
        "packages": _packages(),
    }


def _package(version: str) -> dict[str, Any]:
    bill = version_command.bill_of_materials(version)
    return {
        "version": version,
        "built": "a wheel" if bill.is_file() else "from sources",
        "files behind a network": _far(),
    }


def _far() -> str:
    try:
        return _engine.far_versions()
    except UnsupportedError as error:
        return f"no: {error}"


def _python() -> dict[str, Any]:
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "compiler": platform.python_compiler(),
        "in a virtual environment": sys.prefix != sys.base_prefix,
    }


def _system() -> dict[str, Any]:
    try:
        distribution = platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        distribution = None
    return {
        "distribution": distribution,
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "libc": _libc(),
        "libstdc++": _loaded("libstdc++.so"),
    }


def _libc() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        return None


def _loaded(name: str) -> str | None:
    """The file of a library that this process has loaded: libstdc++'s name ends with its version."""
    for line in _text("/proc/self/maps").splitlines():
        path = line.split(maxsplit=5)[-1]
        if os.path.basename(path).startswith(name):
            return os.path.basename(os.path.realpath(path))
    return None


def _cpu() -> dict[str, Any]:
    return {
        "model": _field("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "cores of this process": len(os.sched_getaffinity(0)),
        "targets": _engine.cpu_targets(),
    }


def _memory() -> dict[str, Any]:
    return {
        "bytes": _kibibytes("MemTotal"),
        "available bytes": _kibibytes("MemAvailable"),
        "limit of the container, bytes": _container_limit(),
        "/dev/shm, bytes": _space(_SHARED_MEMORY, "f_blocks"),
        "/dev/shm, free bytes": _space(_SHARED_MEMORY, "f_bavail"),
    }


def _kibibytes(name: str) -> int | None:
    value = (_field("/proc/meminfo", name) or "").split()
    return int(value[0]) * 1024 if value and value[0].isdecimal() else None


def _container_limit() -> int | str:
    text = next((text for text in map(_text, _MEMORY_LIMITS) if text), "").strip()
    limit = int(text) if text.isdecimal() else None
    # Version 1 says "no limit" by the largest number of pages.
    return limit if limit is not None and limit < 1 << 62 else _UNLIMITED


def _space(folder: str, blocks: str) -> int | None:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return int(getattr(found, blocks)) * found.f_frsize


def _limit(which: int) -> dict[str, int | str]:
    soft, hard = (_UNLIMITED if each == resource.RLIM_INFINITY else each for each in resource.getrlimit(which))
    return {"soft": soft, "hard": hard}


def _libraries(version: str) -> dict[str, str]:
    """Those that decide what pixels become; in a wheel also each that it holds."""
    found = dict(_engine.library_versions())
    bill = version_command.bill_of_materials(version)
    return found | version_command.versions_of_parts(bill) if bill.is_file() else found


def _packages() -> dict[str, str]:
    found = {"numpy": numpy.__version__}
    for name in OTHERS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _field(path: str, name: str) -> str | None:
    """The first value of a name in a file of lines `name : value`."""
    for line in _text(path).splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    return None


def _text(path: str) -> str:
    try:
        with open_to_read(path) as file:
            return file.read().decode(errors="replace")
    except (OSError, UnsupportedError):
        return ""
