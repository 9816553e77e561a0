"""The cost of starting: CPU and wall time of a process that imports headrace, of one with a call of a kernel, and of one that
runs a pipeline over a few pictures, medians of processes in turn; then the CPU time of loading each library that the engine
module needs: what its pages, its relocations and its initialisers take when the libraries that it needs are loaded already.

    startup.py                      # of this environment
    startup.py --other PYTHON       # and of another interpreter's headrace, in turn

A library that takes more than half a millisecond deserves a look at its initialisers."""

import argparse
import collections
import importlib.machinery
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

import measuring

PICTURE = next(measuring.PHOTOS.rglob("*.jpg"))
CASES = {
    "Python": "pass",
    "import numpy": "import numpy",
    "import headrace": "import headrace",
    "one call": "import headrace, sys; from headrace import vision as V; V.Resize(64)(V.Decode()(open(sys.argv[1], 'rb').read()))",
    "one epoch": "import headrace as hr, sys; from headrace import vision as V; "
    "list(hr.Files([sys.argv[1]]).map([V.Decode(), V.Resize(64)], 'data'))",
}

# Run in a process of its own for each round: a library that is loaded stays.
LOADING = """
import ctypes, json, sys, time
found = {}
for path in json.loads(sys.argv[1]):
    begin = time.thread_time_ns()
    ctypes.CDLL(path)
    found[path] = (time.thread_time_ns() - begin) / 1e6
print(json.dumps(found))
"""


def environment() -> dict[str, str]:
    """OpenBLAS's threads would spin while NumPy is loaded."""
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def milliseconds(python: str, code: str) -> tuple[float, float]:
    """CPU and wall time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run([python, "-c", code, str(PICTURE)], check=True, env=environment())
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3, wall * 1e3


def engine_module(python: str) -> pathlib.Path:
    # Found without importing it, which would say nothing of its libraries if one is missing.
    code = "import importlib.util; print(importlib.util.find_spec('headrace').submodule_search_locations[0])"
    done = subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    folder = pathlib.Path(done.stdout.strip())
    names = [f"_engine{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES]
    return next(folder / name for name in names if (folder / name).exists())


def needed(path: pathlib.Path) -> list[str]:
    dynamic = subprocess.run(["readelf", "-d", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)


def in_order_of_need(module: pathlib.Path) -> list[str]:
    """The libraries of the module, each after those that it needs."""
    listed = subprocess.run(["ldd", module], check=True, stdout=subprocess.PIPE, text=True).stdout
    paths = {name: pathlib.Path(path) for name, path in re.findall(r"^\s*(\S+) => (/\S+)", listed, re.MULTILINE)}
    left = {name: {each for each in needed(path) if each in paths} for name, path in paths.items()}
    ordered: list[str] = []
    while left:
        ready = sorted(name for name, needs in left.items() if needs.isdisjoint(left))
        ordered += [str(paths[name]) for name in ready]
        for name in ready:
            del left[name]
    return ordered


def rounds_of(pythons: Mapping[str, str], rounds: int) -> Iterator[tuple[str, str, float, float]]:
    for _ in range(rounds):
        for side, python in pythons.items():
            for case, code in CASES.items():
                yield side, case, *milliseconds(python, code)


def print_processes(pythons: Mapping[str, str], rounds: int) -> None:
    for python in pythons.values():
        milliseconds(python, CASES["one epoch"])  # the first one reads from the disk, and compiles
    cpu: dict[tuple[str, str], list[float]] = collections.defaultdict(list)
    wall: dict[tuple[str, str], list[float]] = collections.defaultdict(list)
    for side, case, one_cpu, one_wall in rounds_of(pythons, rounds):
        cpu[side, case].append(one_cpu)
        wall[side, case].append(one_wall)
    for side in pythons:
        print(f"{side}: milliseconds of a process, and beyond Python alone")
        for case in CASES:
            print(f"  {case:16}{figures('CPU', cpu, side, case)}{figures('wall', wall, side, case)}")


def figures(what: str, times: Mapping[tuple[str, str], Sequence[float]], side: str, case: str) -> str:
    median = statistics.median(times[side, case])
    beyond = median - statistics.median(times[side, "Python"])
    return f"{what} {median:7.1f} {beyond:+8.1f} (spread {measuring.spread(times[side, case]):4.0%})   "


def print_libraries(side: str, python: str, rounds: int) -> None:
    module = engine_module(python)
    paths = [*in_order_of_need(module), str(module)]
    found = []
    for _ in range(rounds):
        command = [python, "-c", LOADING, json.dumps(paths)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment())
        found.append(json.loads(done.stdout))
    medians = {path: statistics.median(each[path] for each in found) for path in paths}
    print(f"{side}: milliseconds of CPU to load the engine module, {sum(medians.values()):.2f}, of which")
    for path, median in sorted(medians.items(), key=lambda each: -each[1]):
        print(f"  {median:6.2f}  {pathlib.Path(path).name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--other", metavar="PYTHON", help="an interpreter with another headrace")
    arguments = parser.parse_args()
    pythons = {"this": sys.executable}
    if arguments.other:
        pythons["other"] = arguments.other
    print_processes(pythons, arguments.rounds)
    for side, python in pythons.items():
        print_libraries(side, python, arguments.rounds)


if __name__ == "__main__":
    main()
