"""The resources of a process: resident memory, threads, descriptors, and CPU time while idle."""

import gc
import os
import pathlib
import statistics
import time

Figures = dict[str, float]

# Permitted growth from the middle third of a run to the last: medians, as a pool that fills at the start is no leak.
MOST_GROWTH = {"resident_mib": 32.0, "threads": 0.0, "descriptors": 0.0}
# Fraction of a core, while no pipeline is open.
MOST_IDLE_CPU = 0.05
IDLE_SECONDS = 0.2
# Fewer samples show nothing: pools are still filling.
FEWEST_TO_JUDGE = 60


def measure() -> Figures:
    """The figures of this process, with no pipeline open."""
    gc.collect()
    before = time.process_time()
    time.sleep(IDLE_SECONDS)
    idle = (time.process_time() - before) / IDLE_SECONDS
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return {
        "resident_mib": pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
        "threads": len(os.listdir("/proc/self/task")),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "idle_cpu": idle,
    }


def median(name: str, series: list[Figures]) -> float:
    return statistics.median(each[name] for each in series)


def judge(series: list[Figures]) -> list[str]:
    """The violations of the limits, one sentence each."""
    if len(series) < FEWEST_TO_JUDGE:
        return []
    third = len(series) // 3
    middle, last = series[third : 2 * third], series[2 * third :]
    found = []
    for name, most in MOST_GROWTH.items():
        before, after = median(name, middle), median(name, last)
        if after - before > most:
            found.append(f"{name} grew from {before:.1f} to {after:.1f}")
    if median("idle_cpu", series) > MOST_IDLE_CPU:
        found.append(f"an idle process uses {median('idle_cpu', series):.2f} of a core")
    return found


def text(series: list[Figures]) -> str:
    """The first, the middle and the last figures as text."""
    if not series:
        return "no figures"
    shown = [series[0], series[len(series) // 2], series[-1]]
    return "; ".join(f"{name}: " + ", ".join(f"{each[name]:.3g}" for each in shown) for name in series[0])
