"""Rows a second through Python functions of 20 µs, 1 ms and 10 ms, over pictures of 0.5 MB in an array: alone in a loop,
on a thread, in worker processes, of a dataset in worker processes beside a loop that computes in Python, and with
PyTorch's DataLoader and Grain where they are installed.

Every figure is taken in a process of its own, in alternation. Memory is that of the process and its children, shared
pages counted once (PSS), in the middle of the run.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

SHAPE = (400, 420, 3)
PICTURES = 64
COSTS_US = {"20 µs": 20, "1 ms": 1000, "10 ms": 10000}
SECONDS = 3.0


def busy(cost_us: int) -> Callable[[Any], Any]:
    """A function that computes in pure Python for about so long, and gives a new picture."""

    def spin(steps: int) -> int:
        total = 0
        for step in range(steps):
            total += step & 7
        return total

    begin = time.perf_counter()
    spin(2_000_000)
    steps = int(cost_us * 1e-6 / (time.perf_counter() - begin) * 2_000_000)

    def work(image: Any) -> Any:
        spin(steps)
        return 255 - image

    return work


def pictures() -> Any:
    import numpy as np

    return np.random.default_rng(0).integers(0, 256, (PICTURES, *SHAPE), np.uint8)


def alone(cost: int, _: int) -> Iterator[int]:
    images, work = pictures(), busy(cost)
    while True:
        for image in images:
            work(image)
            yield 1


def headrace(cost: int, processes: int) -> Iterator[int]:
    import headrace as hr

    types = {"data": ("uint8", SHAPE)}
    rows = hr.Numpy(pictures()).map(busy(cost), "data", types=types, processes=processes).repeat().batch(8)
    for batch in rows:
        yield len(batch["data"])


class Worked:
    def __init__(self, cost: int) -> None:
        self.images, self.work = pictures(), busy(cost)

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, number: int) -> Any:
        return self.work(self.images[number % PICTURES])


def dataset(cost: int, processes: int) -> Iterator[int]:
    import headrace as hr

    compute, image = busy(2000), pictures()[0]
    rows = hr.from_dataset(Worked(cost), "data", types={"data": ("uint8", SHAPE)}, processes=processes).batch(8)
    for batch in rows:
        compute(image)
        yield len(batch["data"])


def torch(cost: int, processes: int) -> Iterator[int]:
    from torch.utils.data import DataLoader

    for batch in DataLoader(Worked(cost), batch_size=8, num_workers=processes):
        yield len(batch)


def grain(cost: int, processes: int) -> Iterator[int]:
    import grain

    rows = grain.MapDataset.source(Worked(cost)).batch(8).to_iter_dataset()
    for batch in rows.mp_prefetch(grain.MultiprocessingOptions(num_workers=processes)):
        yield len(batch)


def pss(process: int) -> int:
    """Bytes of a process and its descendants, shared pages by their share."""
    total = 0
    try:
        text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) * 1024
        children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            children += (task / "children").read_text().split()
    except OSError:
        return total
    return total + sum(pss(int(child)) for child in set(children))


def measure(kind: str, cost: int, processes: int) -> dict[str, float]:
    kinds = {"alone": alone, "headrace": headrace, "dataset": dataset, "torch": torch, "grain": grain}
    rows = kinds[kind](cost, processes)
    until = time.perf_counter() + SECONDS / 3
    while time.perf_counter() < until:  # started and warm
        next(rows)
    begin = time.perf_counter()
    done = 0
    memory = 0
    while (elapsed := time.perf_counter() - begin) < SECONDS:
        done += next(rows)
        if memory == 0 and elapsed > SECONDS / 2:
            memory = pss(os.getpid())
    return {"rows": done / elapsed, "pss": memory}


def cases() -> list[tuple[str, int]]:
    found = [("alone", 0), ("headrace", 0), ("headrace", 1), ("headrace", 2), ("dataset", 2)]
    for peer in ("torch", "grain"):
        if importlib.util.find_spec(peer) is not None:
            found += [(peer, 1), (peer, 2)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, cost, processes = options.child
        print(json.dumps(measure(kind, int(cost), int(processes))), flush=True)
        os._exit(0)
    for name, cost in COSTS_US.items():
        figures: dict[tuple[str, int], list[dict[str, float]]] = {case: [] for case in cases()}
        for _ in range(options.rounds):
            for case in figures:
                command = [sys.executable, __file__, "--child", case[0], str(cost), str(case[1])]
                ran = subprocess.run(command, capture_output=True, text=True, check=True)
                figures[case].append(json.loads(ran.stdout))
        base = statistics.median(each["rows"] for each in figures["alone", 0])
        for (kind, processes), each in figures.items():
            rates = sorted(one["rows"] for one in each)
            memory = statistics.median(one["pss"] for one in each)
            print(
                f"{name}, {kind} with {processes} processes: {statistics.median(rates):,.0f} rows/s "
                f"({rates[0]:,.0f} … {rates[-1]:,.0f}), {statistics.median(rates) / base:.2f} of the loop alone, "
                f"{memory / 2**20:,.0f} MiB"
            )


if __name__ == "__main__":
    main()
