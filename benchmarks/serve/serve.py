"""Requests through the C library, beside a program by hand, in alternation: time, memory, threads, start and sizes.

Needs `bazel build //benchmarks/serve/... //capi:libheadrace.so`. Aims: a request takes at most 0.85 of the CPU time of the
program, which decodes the whole picture and does not antialias; a process with one request 10 ms of CPU; 22 MB resident
after 10,000 requests; p99 at most 1.3 of p50 on an idle core; 4.5 MB of library.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import headrace as hr
from headrace import vision as V

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "bazel-bin"
PHOTOS = sorted(str(path) for path in (ROOT / "examples/photos").rglob("*.jpg"))
ONE_PHOTO = sorted(PHOTOS, key=os.path.getsize)[len(PHOTOS) // 2]
# Of so many the first, which touches all memory for the first time, is not the 99th percentile.
PERCENTILE_REQUESTS = 2000


def graph_at(path: pathlib.Path, *, antialias: bool) -> pathlib.Path:
    kernels = [
        V.Decode(),
        V.Resize(256, antialias=antialias),
        V.CenterCrop(224),
        V.Normalize([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
        V.HWC2CHW(),
    ]
    hr.InferenceGraph(kernels, {"image": "bytes"}).save(path)
    return path


def measured(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def start_of(command: list[str], rounds: int) -> tuple[float, float]:
    """Milliseconds of CPU and wall time of a process from its start to its end."""
    cpu, wall = [], []
    for _ in range(rounds):
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        wall.append((time.perf_counter() - begin) * 1e3)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3)
    return statistics.median(cpu), statistics.median(wall)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=480)
    arguments = parser.parse_args()
    graph_program, loop_program = (str(BUILT / "benchmarks/serve" / name) for name in ("serve_graph", "serve_loop"))
    library = BUILT / "capi/libheadrace.so"

    with tempfile.TemporaryDirectory() as folder:
        graphs = {
            "antialias": graph_at(pathlib.Path(folder, "antialias.hrg"), antialias=True),
            "without antialias": graph_at(pathlib.Path(folder, "plain.hrg"), antialias=False),
        }
        sides = {name: [graph_program, str(path)] for name, path in graphs.items()}
        sides["by hand"] = [loop_program]
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
        of_one: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
        for _ in range(arguments.rounds):
            for name, command in sides.items():
                found[name].append(measured([*command, str(arguments.requests), "1", *PHOTOS]))
                of_one[name].append(measured([*command, str(PERCENTILE_REQUESTS), "1", ONE_PHOTO]))
        for name, runs in found.items():
            mean = statistics.median(run["cpu_mean"] for run in runs) * 1e6
            p50, p99 = (statistics.median(run[key] for run in of_one[name]) * 1e6 for key in ("p50", "p99"))
            ratio = statistics.median(
                run["cpu_mean"] / other["cpu_mean"] for run, other in zip(runs, found["by hand"], strict=True)
            )
            print(f"{name}: {mean:.0f} us of CPU a request, {ratio:.2f} of that by hand; one picture: p50 {p50:.0f} us, "
                  f"p99 {p99:.0f} us, p99/p50 {p99 / p50:.2f}")  # fmt: skip
        for name, command in sides.items():
            one, two = (
                statistics.median(
                    measured([*command, str(arguments.requests), threads, *PHOTOS])["rate"]
                    for _ in range(arguments.rounds)
                )
                for threads in ("1", "2")
            )
            print(f"{name}: two threads do {two / one:.2f} of the requests of one")
        command = [graph_program, str(graphs["antialias"])]
        for requests in (240, 10_000):
            run = measured([*command, str(requests), "1", *PHOTOS])
            print(
                f"resident after {requests:,} requests: {run['resident'] / 1024:.1f} MiB, peak {run['peak'] / 1024:.1f}"
            )
        cpu, wall = start_of([*command, "1", "1", PHOTOS[0]], 3 * arguments.rounds)
        print(f"a process with one request: {cpu:.1f} ms of CPU, {wall:.1f} ms of wall time")
    print(f"libheadrace.so: {os.path.getsize(library) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
