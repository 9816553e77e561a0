"""Megabytes a second of CSV: ours, a parser written by hand for the very table, and pyarrow's, in alternation.

Csv and batch(1024) against the loop of csv_loop.cc on one thread, and against pyarrow.csv where the interpreter given
by --peer has it: a stream of record batches (open_csv), and the whole file on one thread (read_csv). Each measurement
has its own process. The tables: `numbers`, ten columns of float64; `pixels`, 784 whole numbers as one vector of float32
and a label; `mixed`, whole numbers, floats and two texts. No field has quotes.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import measuring

# For each table: the fields as csv_loop has them, and a line.
TABLES: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "numbers": ("f8*10", lambda draws: ",".join(f"{draws.gauss(0, 100):.6f}" for _ in range(10))),
    "pixels": (
        "f4*784 i8",
        lambda draws: ",".join("0" if draws.random() < 0.8 else str(draws.randrange(256)) for _ in range(784)) + ",7",
    ),
    "mixed": (
        "i8 f8 text text",
        lambda draws: f"{draws.randrange(10**9)},{draws.random()!r},a town of some name,{draws.randrange(10**6):x}",
    ),
}
NAMES = {"f4": "float32", "f8": "float64", "i8": "int64", "text": "string"}
BATCH = 1024


def columns_of(table: str) -> list[tuple[str, int]]:
    fields = (field.partition("*") for field in TABLES[table][0].split())
    return [(NAMES[kind], int(count or 1)) for kind, _, count in fields]


def run_headrace(path: str, table: str) -> int:
    import headrace as hr

    types = {
        f"c{number}": (dtype, (count,)) if count > 1 else dtype
        for number, (dtype, count) in enumerate(columns_of(table))
    }
    return sum(len(batch["c0"]) for batch in hr.Csv(path, types, header=False).batch(BATCH))


def run_pyarrow(path: str, table: str, whole: bool) -> int:
    from pyarrow import csv

    dtypes = [dtype for dtype, count in columns_of(table) for _ in range(count)]
    names = [f"c{number}" for number in range(len(dtypes))]
    read = csv.ReadOptions(column_names=names, use_threads=False)
    convert = csv.ConvertOptions(column_types=dict(zip(names, dtypes, strict=True)))
    if whole:
        return csv.read_csv(path, read, convert_options=convert).num_rows
    return sum(batch.num_rows for batch in csv.open_csv(path, read, convert_options=convert))


def child(program: str, path: str, table: str) -> None:
    """Prints megabytes a second of the second pass, as JSON."""
    for _ in range(2):
        begin = time.perf_counter()
        rows = run_headrace(path, table) if program == "headrace" else run_pyarrow(path, table, program == "whole")
        seconds = time.perf_counter() - begin
    size = pathlib.Path(path).stat().st_size
    print(json.dumps({"rows": rows, "rate": size / 1e6 / seconds}))


def write_table(path: pathlib.Path, table: str, megabytes: int) -> None:
    draws = random.Random(1)
    lines = [TABLES[table][1](draws) + "\n" for _ in range(2000)]
    text = "".join(lines)
    path.write_text(text * max(1, megabytes * 1_000_000 // len(text)))


def run_loop(program: str, path: pathlib.Path, table: str) -> float:
    done = subprocess.run([program, str(path), *TABLES[table][0].split()], capture_output=True, text=True)
    found = re.search(r"([\d.]+) MB/s", done.stdout)
    if done.returncode != 0 or found is None:
        sys.exit(f"{program} failed:\n{done.stdout}{done.stderr}")
    return float(found[1])


def compare(table: str, path: pathlib.Path, options: argparse.Namespace) -> None:
    rates: dict[str, list[float]] = {"loop": [], "headrace": []}
    if options.peer:
        rates |= {"pyarrow, streamed": [], "pyarrow, whole": []}
    for _ in range(options.rounds):
        rates["loop"].append(run_loop(options.loop, path, table))
        ours = measuring.in_own_process(__file__, "--child", "headrace", "--path", path, "--table", table)
        rates["headrace"].append(ours["rate"])
        if options.peer:
            for name, program in (("pyarrow, streamed", "stream"), ("pyarrow, whole", "whole")):
                arguments = ("--child", program, "--path", path, "--table", table)
                rates[name].append(measuring.in_own_process(__file__, *arguments, python=options.peer)["rate"])
    for name, found in rates.items():
        print(f"{table}: {name} {measuring.summary(found)} MB/s")
    for name, found in rates.items():
        if name != "headrace":
            print(f"{table}: headrace / {name}: {measuring.ratio(rates['headrace'], found)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=int, default=100, help="of each table")
    parser.add_argument("--peer", help="an interpreter that has pyarrow")
    parser.add_argument("--loop", default=str(measuring.ROOT / "bazel-bin" / "benchmarks" / "csv_loop"))
    parser.add_argument("--table", choices=TABLES)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.path, options.table)
        return
    if not pathlib.Path(options.loop).is_file():
        sys.exit(f"{options.loop} is not there: build it with 'bazel build //benchmarks:csv_loop', or say --loop PATH")
    with tempfile.TemporaryDirectory(prefix="headrace_") as folder:
        for table in [options.table] if options.table else TABLES:
            path = pathlib.Path(folder) / f"{table}.csv"
            write_table(path, table, options.megabytes)
            compare(table, path, options)
            path.unlink()


if __name__ == "__main__":
    main()
