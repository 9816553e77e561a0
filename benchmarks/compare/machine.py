"""The machine on which the figures were measured."""

import datetime
import os
import pathlib
import platform
from typing import Any


def _first(path: str, key: str) -> str:
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.partition(":")[2].strip()
    return "unknown"


def describe() -> dict[str, Any]:
    return {
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(_first("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20), 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
    }


def busy_cores() -> float:
    """The number of cores that other processes kept busy over the last minute."""
    return os.getloadavg()[0]
