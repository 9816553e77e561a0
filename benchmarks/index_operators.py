"""The cost of take, skip, concat and zip over Range: nanoseconds of wall time a row, and the ratio to their inputs alone.

Ranges are read in batches, in turns with the pipelines.
"""

import argparse
import time

import measuring

import headrace as hr

BATCH = 1024
# Where not 1.
INPUTS_OF_A_ROW = {"zip": 2}


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
    alone: list[float] = []
    measured: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        alone.append(nanoseconds(hr.Range(options.rows), options.rows))
        for name, dataset in pipelines(options.rows).items():
            measured.setdefault(name, []).append(nanoseconds(dataset, options.rows))
    print(f"Range: {measuring.summary(alone)} ns a row")
    for name, costs in measured.items():
        inputs = [cost * INPUTS_OF_A_ROW.get(name, 1) for cost in alone]
        print(f"{name}: {measuring.summary(costs)} ns a row; to its inputs {measuring.ratio(costs, inputs)}")


if __name__ == "__main__":
    main()
