"""The start of worker processes whose dataset needs torch: CPU time until each has given a row beside that of `import torch`
in a script, and the time to the first batches of two datasets. Aim: torch's import and one second; the second dataset 1 s."""

import argparse
import json
import pathlib
import resource
import statistics
import time
from typing import Any

import measuring

PROCESSES = 2


def import_alone() -> dict[str, float]:
    begin = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF)
    import torch  # noqa: F401

    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"import": time.perf_counter() - begin, "import_cpu": cpu}


def first_batches() -> dict[str, Any]:
    import torch
    from torch.utils.data import Dataset

    import headrace as hr

    class Rows(Dataset):  # type: ignore[type-arg]
        def __init__(self, value: float) -> None:
            self.value = value

        def __len__(self) -> int:
            return 200

        def __getitem__(self, number: int) -> Any:
            return torch.full((3, 8, 8), self.value + number)

    found: dict[str, Any] = {}
    for name in ("first", "second"):
        begin = time.perf_counter()
        rows = hr.from_dataset(Rows(len(found)), columns=["values"], processes=PROCESSES)
        iterator = iter(rows.batch(8))
        next(iterator)
        found[name] = time.perf_counter() - begin
        found.setdefault("cpu", cpu_of_children())
        iterator.close()
    return found


def cpu_of_children() -> float:
    """Seconds of one process, the mean of all; nothing is counted of them before they end."""
    tasks = pathlib.Path("/proc/self/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    return statistics.mean(
        int(pathlib.Path(f"/proc/{child}/schedstat").read_text().split()[0]) / 1e9 for child in children
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", choices=["import", "batches"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure is not None:
        print(json.dumps(import_alone() if given.measure == "import" else first_batches()))
        return
    measuring.in_own_process(__file__, "--measure", "batches")  # the first reads from the disk, and compiles
    rounds: list[dict[str, Any]] = []
    for _ in range(given.rounds):
        alone = measuring.in_own_process(__file__, "--measure", "import")
        rounds.append(alone | measuring.in_own_process(__file__, "--measure", "batches"))
    for name, what in {
        "import_cpu": "import torch, CPU",
        "cpu": "a worker process until its first row, CPU",
        "import": "import torch",
        "first": "first batch of the first dataset",
        "second": "first batch of the second",
    }.items():
        values = sorted(each[name] for each in rounds)
        print(f"{what}: {statistics.median(values):.2f} s ({values[0]:.2f} to {values[-1]:.2f})")


if __name__ == "__main__":
    main()
