"""Rows a second through Python functions of 5 µs over 16 numbers, and of 20 µs, 1 ms and 10 ms over images of 0.5 MB,
in an array: alone in a loop, on a thread, in worker processes, of a dataset in worker processes beside a loop that
computes in Python, and with PyTorch's DataLoader and Grain where they are installed. As these seed generators once in
each process, the function of 5 µs is also called without seeding them for each row ("unseeded").

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
from typing import Any, NamedTuple


class Work(NamedTuple):
    cost_us: int
    shape: tuple[int, ...]
    rows: int  # in the array
    batch: int


IMAGE = (400, 420, 3)
WORK = {
    "5 µs": Work(5, (16,), 1 << 16, 64),
    "20 µs": Work(20, IMAGE, 64, 8),
    "1 ms": Work(1000, IMAGE, 64, 8),
    "10 ms": Work(10000, IMAGE, 64, 8),
}
SECONDS = 3.0


def busy(cost_us: int) -> Callable[[Any], Any]:
    """A function that computes in pure Python for about so long, and gives a new row."""

    def spin(steps: int) -> int:
        total = 0
        for step in range(steps):
            total += step & 7
        return total

    # Of its own time, which other processes do not lengthen.
    begin = time.process_time()
    spin(2_000_000)
    steps = int(cost_us * 1e-6 / (time.process_time() - begin) * 2_000_000)

    def work(row: Any) -> Any:
        spin(steps)
        return 255 - row

    return work


def given(work: Work) -> Any:
    import numpy as np

    return np.random.default_rng(0).integers(0, 256, (work.rows, *work.shape), np.uint8)


def alone(work: Work, _: int) -> Iterator[int]:
    rows, function = given(work), busy(work.cost_us)
    while True:
        for row in rows:
            function(row)
            yield 1


def headrace(work: Work, processes: int, seed_globals: bool | None = None) -> Iterator[int]:
    import headrace as hr

    types = {"data": ("uint8", work.shape)}
    rows = hr.Numpy(given(work)).map(
        busy(work.cost_us), "data", types=types, processes=processes, seed_globals=seed_globals
    )
    for batch in rows.repeat().batch(work.batch):
        yield len(batch["data"])


def unseeded(work: Work, processes: int) -> Iterator[int]:
    return headrace(work, processes, seed_globals=False)


class Worked:
    def __init__(self, work: Work) -> None:
        self.rows, self.work = given(work), busy(work.cost_us)

    def __len__(self) -> int:
        return 1 << 22

    def __getitem__(self, number: int) -> Any:
        return self.work(self.rows[number % len(self.rows)])


def dataset(work: Work, processes: int) -> Iterator[int]:
    import headrace as hr

    compute, row = busy(2000), given(work)[0]
    types = {"data": ("uint8", work.shape)}
    rows = hr.from_dataset(Worked(work), "data", types=types, processes=processes).batch(work.batch)
    for batch in rows:
        compute(row)
        yield len(batch["data"])


def torch(work: Work, processes: int) -> Iterator[int]:
    from torch.utils.data import DataLoader

    for batch in DataLoader(Worked(work), batch_size=work.batch, num_workers=processes):
        yield len(batch)


def grain(work: Work, processes: int) -> Iterator[int]:
    import grain

    rows = grain.MapDataset.source(Worked(work)).batch(work.batch).to_iter_dataset()
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


def measure(kind: str, work: Work, processes: int) -> dict[str, float]:
    kinds = {
        "alone": alone,
        "headrace": headrace,
        "unseeded": unseeded,
        "dataset": dataset,
        "torch": torch,
        "grain": grain,
    }
    rows = kinds[kind](work, processes)
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


def cases(work: Work) -> list[tuple[str, int]]:
    found = [("alone", 0), ("headrace", 0), ("headrace", 1), ("headrace", 2), ("dataset", 2)]
    if work.cost_us < 20:
        found += [("unseeded", 1), ("unseeded", 2)]
    for peer in ("torch", "grain"):
        if importlib.util.find_spec(peer) is not None:
            found += [(peer, 1), (peer, 2)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", nargs="*", choices=WORK, default=WORK)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, name, processes = options.child
        print(json.dumps(measure(kind, WORK[name], int(processes))), flush=True)
        os._exit(0)
    for name in options.work:
        figures: dict[tuple[str, int], list[dict[str, float]]] = {case: [] for case in cases(WORK[name])}
        for _ in range(options.rounds):
            for case in figures:
                command = [sys.executable, __file__, "--child", case[0], name, str(case[1])]
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
