"""Rows a second of NDArrayIter and CSVIter: those of headrace.mx and of MXNet 1.9.1, over the same data in alternation.

60,000 rows of 784 numbers in batches of 100, as MNIST has: arrays in memory in order and shuffled, and 10,000 such rows as
CSV. Automatic caches are off, as they would keep the lines of CSV, and MXNet parses them in each epoch. Each measurement
has its own process. The first run installs MXNet into a virtual environment.
"""

import argparse
import importlib
import json
import pathlib
import statistics
import sys
import tempfile
import time
from typing import Any

import measuring

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "compare"))

KINDS = ("arrays", "shuffled arrays", "csv")
SIDES = ("headrace.mx", "mxnet")
ROWS, LINES, WIDTH, BATCH = 60_000, 10_000, 784, 100


def iterator_of(side: str, kind: str, table: str) -> Any:
    import numpy as np

    mx = importlib.import_module(side)
    if kind == "csv":
        iterator = mx.io.CSVIter(data_csv=table, data_shape=(WIDTH,), batch_size=BATCH)
        if side != "mxnet":
            iterator._batches = iterator._batches.options(disabled_passes=["insert_caches"])
        return iterator
    data = np.random.default_rng(0).random((ROWS, WIDTH), dtype=np.float32)
    return mx.io.NDArrayIter(data, np.arange(ROWS, dtype=np.float32), BATCH, shuffle=kind == "shuffled arrays")


def measure(side: str, kind: str, table: str, epochs: int) -> float:
    """Rows a second; an epoch comes first and is not counted."""
    iterator = iterator_of(side, kind, table)
    take_epoch(iterator)
    begin = time.perf_counter()
    rows = sum(take_epoch(iterator) for _ in range(epochs))
    return rows / (time.perf_counter() - begin)


def take_epoch(iterator: Any) -> int:
    rows = 0
    for batch in iterator:
        batch.data[0].wait_to_read()
        rows += len(batch.data[0])
    iterator.reset()
    return rows


def write_table(path: pathlib.Path) -> None:
    import numpy as np

    np.savetxt(path, np.random.default_rng(0).integers(0, 256, (LINES, WIDTH)), fmt="%d", delimiter=",")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3, help="that a measurement takes (3)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "peers")
    options = parser.parse_args()

    from compare import make_environment
    from peers import mxnet

    venv = options.venvs / "peers-mxnet"
    make_environment(venv, mxnet.REQUIREMENTS)
    pythons = {side: str(venv / "bin/python") if side == "mxnet" else sys.executable for side in SIDES}
    with tempfile.TemporaryDirectory(prefix="headrace_") as folder:
        table = pathlib.Path(folder, "table.csv")
        write_table(table)
        for kind in KINDS:
            compare(kind, str(table), pythons, options)


def compare(kind: str, table: str, pythons: dict[str, str], options: argparse.Namespace) -> None:
    found = measuring.in_alternation(__file__, pythons, options.rounds, kind, table, options.epochs)
    for side, rates in found.items():
        print(f"{kind}: {side} {statistics.median(rates):,.0f} rows a second, spread {measuring.spread(rates):.1%}")
    print(f"{kind}: headrace.mx / mxnet: {measuring.ratio(*found.values())}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:5], int(sys.argv[5]))), flush=True)
    else:
        main()
