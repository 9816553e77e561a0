"""MindRecord: rows a second of `hr.MindRecord` and of MindSpore's MindDataset over the same files, in alternation, with
records of 1, 10 and 110 KB: by number in a random order, and in order, beside a loop by hand over the pages.

Each row has a number, a text and bytes. Rows come in batches of 64, the bytes as views, and each side looks at every cache
line of them. Both run with two workers. The first run installs MindSpore into a virtual environment.
"""

import argparse
import itertools
import json
import mmap
import os
import pathlib
import struct
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any

import measuring
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "compare"))

SIZES = (1_000, 10_000, 110_000)
BATCH = 64
WORKERS = 2
SIDES = ("headrace, shuffled", "mindspore, shuffled", "headrace, in order", "loop, in order")


def write(folder: pathlib.Path, size: int, rows: int) -> None:
    import headrace as hr

    content = np.random.default_rng(0).bytes(size)
    table = hr.Range(rows).map(
        lambda value: (value, f"{value}.jpg", content),
        "value",
        ["label", "name", "data"],
        types={"label": ("int64", ()), "name": ("string", ()), "data": ("bytes", ())},
    )
    table.write_mindrecord(folder / str(size), files=2, page_size=32 << 20)


def headrace_rows(path: str, shuffled: bool) -> Iterator[int]:
    import headrace as hr

    rows = hr.MindRecord(path, shuffle=shuffled).repeat().batch(BATCH)
    for batch in rows.iterate(workers=WORKERS, bytes_as="memoryview"):
        yield sum(map(touched, batch["data"]))


def mindspore_rows(path: str) -> Iterator[int]:
    import mindspore.dataset as ds

    dataset = ds.MindDataset(path, num_parallel_workers=WORKERS, shuffle=True)
    iterator = dataset.create_dict_iterator(num_epochs=-1, output_numpy=True)
    while True:
        for rows in batched(iterator):
            yield sum(touched(row["data"].tobytes()) for row in rows)


def loop_rows(path: str) -> Iterator[int]:
    """The blobs of one file after the other: a map, lengths and sums."""
    files = [f"{path[:-1]}{number}" for number in range(2)]
    while True:
        blobs = itertools.chain.from_iterable(map(blobs_of, files))
        # Each blob is looked at before the next one is asked for, as its view ends then.
        for rows in batched(map(touched, blobs)):
            yield sum(rows)


def blobs_of(path: str) -> Iterator[memoryview]:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        (length,) = struct.unpack_from("<Q", whole)
        header = json.loads(whole[8 : 8 + length])
        for number, page in enumerate(header["page"]):
            if page["page_type"] != "BLOB_DATA":
                continue
            at = header["header_size"] + number * header["page_size"]
            with memoryview(whole)[at : at + page["page_size"]] as view:
                begin = 0
                while begin < len(view):
                    end = begin + 8 + struct.unpack_from("<Q", view, begin)[0]
                    with view[begin + 8 : end] as blob:
                        yield blob
                    begin = end


def batched(rows: Iterable[Any]) -> Iterator[list[Any]]:
    rows = iter(rows)
    while batch := list(itertools.islice(rows, BATCH)):
        yield batch


def touched(data: Any) -> int:
    """Looks at every cache line, and says how many rows that were."""
    np.frombuffer(data, np.uint8)[::64].max()
    return 1


def measure(side: str, path: str, rows: int) -> float:
    """Rows a second; a quarter as many come first and are not counted."""
    batches = {
        "headrace, shuffled": lambda: headrace_rows(path, True),
        "mindspore, shuffled": lambda: mindspore_rows(path),
        "headrace, in order": lambda: headrace_rows(path, False),
        "loop, in order": lambda: loop_rows(path),
    }[side]()
    done = 0
    while done < rows // 4:
        done += next(batches)
    begin, done = time.perf_counter(), 0
    while done < rows:
        done += next(batches)
    return done / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=400_000_000, help="of each kind of records (400 MB)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-mindspore", action="store_true", help="measures the other sides alone")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "peers")
    options = parser.parse_args()

    sides = [side for side in SIDES if not (options.without_mindspore and side.startswith("mindspore"))]
    pythons = dict.fromkeys(sides, sys.executable)
    if not options.without_mindspore:
        from compare import make_environment
        from peers import mindspore

        venv = options.venvs / "peers-mindspore"
        make_environment(venv, mindspore.REQUIREMENTS)
        pythons["mindspore, shuffled"] = str(venv / "bin/python")
    with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
        for size in SIZES:
            rows = min(100_000, options.bytes // size)
            write(pathlib.Path(temporary), size, rows)
            found = measuring.in_alternation(
                __file__, pythons, options.rounds, os.path.join(temporary, f"{size}0"), rows
            )
            for side, values in found.items():
                print(f"{size:,} bytes, {side}: {measuring.summary(values)} rows a second", flush=True)
            pairs = [("headrace, in order", "loop, in order"), ("headrace, shuffled", "mindspore, shuffled")]
            for ours, theirs in pairs:
                if theirs in found:
                    print(
                        f"{size:,} bytes, {ours} to {theirs}: {measuring.ratio(found[ours], found[theirs])}", flush=True
                    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main()
