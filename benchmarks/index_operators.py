"""The cost of take, skip, concat and zip over Range: nanoseconds of wall time a row, and the ratio to their inputs alone.

Ranges are read in batches, in turns with the pipelines; prints the median of the ratios of all rounds, and their range.
"""

import argparse
import statistics
import time

import measuring

import headrace as hr

BATCH = 1024


def pipelines(rows: int) -> dict[str, hr.Dataset]:
    renamed = hr.Range(rows).rename({"value": "other"})
    return {
        "take": hr.Range(2 * rows).take(rows),
        "skip": hr.Range(2 * rows).skip(rows),
        "concat": hr.Range(rows // 2).concat(hr.Range(rows - rows // 2)),
        "zip": hr.Range(rows).zip(renamed),
    }


def nanoseconds(dataset: hr.Dataset, rows: int) -> float:
    begin = time.perf_counter()
    done = 0
    with dataset.batch(BATCH).iterate() as batches:
        for batch in batches:
            done += len(batch["value"])
    if done != rows:
        raise SystemExit(f"{done} of {rows} rows came out")
    return (time.perf_counter() - begin) / rows * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    measured: dict[str, list[float]] = {}
    ratios: dict[str, list[float]] = {}
    inputs = {"zip": 2}
    for _ in range(options.rounds):
        alone = nanoseconds(hr.Range(options.rows), options.rows)
        measured.setdefault("Range", []).append(alone)
        for name, dataset in pipelines(options.rows).items():
            measured.setdefault(name, []).append(nanoseconds(dataset, options.rows))
            ratios.setdefault(name, []).append(measured[name][-1] / alone / inputs.get(name, 1))
    for name, costs in measured.items():
        print(f"{name}: {measuring.summary(costs)} ns a row", end="")
        if name in ratios:
            each = ratios[name]
            print(f"; {statistics.median(each):.2f} of its inputs ({min(each):.2f} to {max(each):.2f})", end="")
        print()


if __name__ == "__main__":
    main()
