"""Rows a second that are read of Parquet files: ours and pyarrow's `iter_batches` alone, in alternation.

Parquet in batches of 1024, in order as Arrow and as arrays of NumPy, and shuffled by row groups, from the page cache; and
`pyarrow.parquet.ParquetFile(path).iter_batches()`, which makes nothing of its batches, with as many rows a batch and
with the 65,536 that it has by default. Each measurement has its own process and gives the rate of the second pass. The
files: `picture`, 20 KB of bytes in a struct with a path, and a label; `numbers`, ten columns of float32 and one of int64;
`lists`, texts and lists of 0 to 40 numbers.
"""

import argparse
import json
import pathlib
import tempfile
import time
from typing import Any

import measuring
import numpy as np

BATCH = 1024


def picture(draws: np.random.Generator, rows: int) -> Any:
    import pyarrow as pa

    images = [draws.bytes(20_000) for _ in range(200)]
    structs = pa.StructArray.from_arrays(
        [pa.array([images[i % 200] for i in range(rows)]), pa.nulls(rows, pa.string())], ["bytes", "path"]
    )
    return pa.table({"image": structs, "label": draws.integers(0, 1000, rows)})


def numbers(draws: np.random.Generator, rows: int) -> Any:
    import pyarrow as pa

    columns = {f"c{i}": draws.random(rows, dtype=np.float32) for i in range(10)}
    return pa.table({**columns, "label": draws.integers(0, 1000, rows)})


def lists(draws: np.random.Generator, rows: int) -> Any:
    import pyarrow as pa

    ends = np.concatenate([[0], np.cumsum(draws.integers(0, 40, rows))]).astype(np.int32)
    tokens = pa.ListArray.from_arrays(ends, draws.integers(0, 50_000, ends[-1]))
    return pa.table({"tokens": tokens, "text": [f"text {i}" for i in range(rows)]})


# For each file: what makes its table, its rows, and those of a row group.
FILES: dict[str, tuple[Any, int, int]] = {
    "picture": (picture, 20_000, 1_000),
    "numbers": (numbers, 2_000_000, 100_000),
    "lists": (lists, 500_000, 50_000),
}


def run_headrace(path: str, shuffled: bool, batches: bool) -> int:
    import headrace as hr

    rows = hr.Parquet(path, shuffle=shuffled)
    if batches:
        first = next(iter(rows.schema))
        made = rows.batch(BATCH, ragged="splits").options(bytes_as="memoryview")
        return sum(measuring.rows_of(batch, first) for batch in made)
    return sum(len(batch) for batch in rows.batch(BATCH, ragged="splits").options(as_="arrow"))


def run_pyarrow(path: str, batch: int) -> int:
    import pyarrow.parquet as pq

    return sum(batch.num_rows for batch in pq.ParquetFile(path).iter_batches(batch))


# For each side: whether it is shuffled, and whether its batches are NumPy's, not Arrow's.
SIDES = {"arrow": (False, False), "numpy": (False, True), "shuffled": (True, True)}
# Rows a batch.
PEERS = {"pyarrow": BATCH, "pyarrow's default": 65_536}


def child(side: str, path: str) -> None:
    """Prints rows a second of the second pass, as JSON."""
    for _ in range(2):
        begin = time.perf_counter()
        rows = run_pyarrow(path, PEERS[side]) if side in PEERS else run_headrace(path, *SIDES[side])
        seconds = time.perf_counter() - begin
    print(json.dumps({"rows": rows, "rate": rows / seconds}))


def write_file(path: pathlib.Path, file: str, share: float) -> None:
    import pyarrow.parquet as pq

    make, rows, group = FILES[file]
    pq.write_table(make(np.random.default_rng(1), max(1, int(rows * share))), path, row_group_size=group)


def compare(file: str, path: pathlib.Path, rounds: int) -> None:
    rates: dict[str, list[float]] = {side: [] for side in (*SIDES, *PEERS)}
    for _ in range(rounds):
        for side, found in rates.items():
            found.append(measuring.in_own_process(__file__, "--child", side, "--path", path)["rate"])
    for side, found in rates.items():
        print(f"{file}: {side} {measuring.summary(found)} rows/s")
    for side in SIDES:
        for peer in PEERS:
            print(f"{file}: {side} / {peer}: {measuring.ratio(rates[side], rates[peer])}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows of each file")
    parser.add_argument("--files", nargs="*", default=list(FILES), choices=list(FILES))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.path)
        return
    with tempfile.TemporaryDirectory() as folder:
        for file in options.files:
            path = pathlib.Path(folder) / f"{file}.parquet"
            write_file(path, file, options.share)
            compare(file, path, options.rounds)


if __name__ == "__main__":
    main()
