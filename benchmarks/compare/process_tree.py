"""The CPU seconds and memory of a process and its descendants, read from /proc."""

import os
import pathlib

_TICKS = os.sysconf("SC_CLK_TCK")


def processes(root: int) -> list[int]:
    """The process and its living descendants."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                waiting += map(int, task.read_text().split())
            except OSError:  # it has ended
                continue
    return found


def cpu_seconds(root: int) -> float:
    """CPU seconds of the living processes, and of those that have ended and were waited for."""
    ticks = 0
    for pid in processes(root):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def memory_bytes(root: int) -> int:
    """The memory of all processes; shared pages count once."""
    total = 0
    for pid in processes(root):
        try:
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total
