"""Measures how the cost of light rows grows with their number, with the number of operators and with the workers.

Growth must be linear: a row costs the same at the end of 10 million as at the end of 100,000, the 64th operator costs
as much as the second, and more workers than cores cost nothing. Each time is the minimum of the rounds, because any
disturbance makes a run longer.
"""

import argparse
import json
import statistics
import time

import measuring

ROWS = (100_000, 1_000_000, 10_000_000)
OPERATORS = (1, 2, 4, 8, 16, 32, 64)
WORKERS = (1, 2, 4, 8, 16)
OPERATOR_ROWS = 4_000_000
WORKER_ROWS = 4_000_000


def run_pipeline(rows: int, operators: int, workers: int | None, group: int | None) -> None:
    """Prints seconds to the first batch and to the end, and the growth of resident memory in bytes, as JSON."""
    # Loads NumPy first, because the threads that it starts are not the pipeline's.
    import numpy  # noqa: F401

    import headrace as hr
    from headrace import transforms as T

    for _ in hr.Range(1000).map(T.TypeCast("float32"), "value").batch(256):
        pass
    dataset = hr.Range(rows)
    for number in range(operators):
        dataset = dataset.map(T.TypeCast("float64" if number % 2 else "float32"), "value")
    before = measuring.resident_bytes()
    begin = time.perf_counter()
    with dataset.batch(256).iterate(workers=workers, group=group) as batches:
        next(batches)
        first = time.perf_counter() - begin
        done = 256 + sum(len(batch["value"]) for batch in batches)
        seconds = time.perf_counter() - begin
    assert done == rows, f"{done} of {rows} rows came out"
    memory = measuring.peak_resident_bytes() - before
    print(json.dumps({"first": first, "seconds": seconds, "memory": memory}))


class Measured:
    def __init__(self, runs: list[dict[str, float]]) -> None:
        self.seconds = min(run["seconds"] for run in runs)
        self.spread = measuring.spread([run["seconds"] for run in runs])
        self.first = statistics.median(run["first"] for run in runs)
        self.memory = max(run["memory"] for run in runs)

    def text(self) -> str:
        return (
            f"{self.seconds:8.3f} s (spread {self.spread:.0%}), first batch {self.first * 1e3:5.1f} ms, "
            f"memory +{self.memory / measuring.MEBIBYTE:.0f} MiB"
        )


def measure(rounds: int, points: dict[int, list[object]], group: int | None) -> dict[int, Measured]:
    """Runs all points in turn, round by round, so that a slow minute of the machine does not affect a single point."""
    runs: dict[int, list[dict[str, float]]] = {point: [] for point in points}
    given = ["--group", group] if group else []
    for _ in range(rounds):
        for point, arguments in points.items():
            runs[point].append(measuring.in_own_process(__file__, "--child", *arguments, *given))
    measured = {point: Measured(of_point) for point, of_point in runs.items()}
    for point, result in measured.items():
        print(f"  {point:>10,}: {result.text()}", flush=True)
    return measured


def print_slopes(measured: dict[int, Measured]) -> None:
    """The cost of one more row between neighbouring points."""
    counts = list(measured)
    slopes = []
    for low, high in zip(counts, counts[1:], strict=False):
        slopes.append((measured[high].seconds - measured[low].seconds) / (high - low) * 1e9)
        print(f"  from {low:,} to {high:,}: {slopes[-1]:.1f} ns a row")
    print(f"  spread of the slopes {measuring.spread(slopes):.0%}")


def print_line(measured: dict[int, Measured], rows: int) -> None:
    """The straight line through the times, and their deviation from it."""
    slope, start = statistics.linear_regression(list(measured), [point.seconds for point in measured.values()])
    off = max(abs(point.seconds / (start + slope * count) - 1) for count, point in measured.items())
    print(f"  {slope / rows * 1e9:.1f} ns a row and operator; no time is further than {off:.0%} from the straight line")


def print_flat(measured: dict[int, Measured], rows: int) -> None:
    times = [point.seconds / rows * 1e9 for point in measured.values()]
    print("  " + ", ".join(f"{time:.1f}" for time in times) + f" ns a row, spread {measuring.spread(times):.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--group", type=int, help="rows in a message; else as the engine chooses")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--operators", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_pipeline(options.rows, options.operators, options.workers, options.group)
        return
    print("rows, through one operator:")
    by_rows = {rows: ["--rows", rows, "--operators", 1] for rows in ROWS}
    print_slopes(measure(options.rounds, by_rows, options.group))
    for rows, group in ((OPERATOR_ROWS, options.group), (OPERATOR_ROWS // 20, 1)):
        print(f"operators, {rows:,} rows" + (", one a message:" if group == 1 else ":"))
        by_operators = {operators: ["--rows", rows, "--operators", operators] for operators in OPERATORS}
        print_line(measure(options.rounds, by_operators, group), rows)
    print(f"workers, {WORKER_ROWS:,} rows through one operator:")
    by_workers = {workers: ["--rows", WORKER_ROWS, "--operators", 1, "--workers", workers] for workers in WORKERS}
    print_flat(measure(options.rounds, by_workers, options.group), WORKER_ROWS)


if __name__ == "__main__":
    main()
