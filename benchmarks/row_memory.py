"""Memory a row: what each source of files holds for a row that it may read by number, or in splits, once a run has begun.

A small set of files is linked under many names until it has the rows that are asked for, so that ten million rows need
little disk. Bytes a row are what a process has grown by, beyond one over a hundredth of the rows, at the peak and once
the run has begun; names of files are part of both. Aim: at most 24 bytes a row; the exit status is 1 above it.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable

import measuring

AIM = 24  # bytes a row
ROWS_OF_FILE = 100_000
SMALLER = 100  # the set whose process is subtracted has so many times fewer rows


def write_lines(path: pathlib.Path, line: Callable[[int], str], rows: int) -> None:
    with open(path, "w") as file:
        file.writelines(map(line, range(rows)))


def write_payloads(path: pathlib.Path, method: str, column: str, rows: int) -> None:
    """By the method of Dataset that writes the format."""
    import numpy as np

    import headrace as hr

    values = np.empty(rows, object)
    values[:] = [b"%d" % number for number in range(rows)]
    getattr(hr.Numpy({column: values}), method)(path)


WRITERS: dict[str, Callable[[pathlib.Path, int], None]] = {
    "txt": lambda path, rows: write_lines(path, lambda number: f"{number}\n", rows),
    "jsonl": lambda path, rows: write_lines(path, lambda number: f'{{"n": {number}}}\n', rows),
    "csv": lambda path, rows: write_lines(path, lambda number: f"{number},{number}\n", rows),
    "libsvm": lambda path, rows: write_lines(path, lambda number: f"1 5:{number}\n", rows),
    "rec": lambda path, rows: write_payloads(path, "write_records", "record", rows),
    "tfrecord": lambda path, rows: write_payloads(path, "write_tfrecord", "v", rows),
    "tar": lambda path, rows: write_payloads(path, "write_tar", "v", rows),
    "mindrecord": lambda path, rows: write_payloads(path, "write_mindrecord", "v", rows),
}
# The source, the ending of its files, and its arguments.
SOURCES: dict[str, tuple[str, str, dict[str, object]]] = {
    "Text": ("Text", "txt", {}),
    "Text, index": ("Text", "txt", {"index": "build"}),
    "JsonLines": ("JsonLines", "jsonl", {"columns": {"n": "int64"}}),
    "JsonLines, index": ("JsonLines", "jsonl", {"columns": {"n": "int64"}, "index": "build"}),
    "Csv": ("Csv", "csv", {"columns": {"a": "int64", "b": "int64"}, "header": False}),
    "Csv, index": ("Csv", "csv", {"columns": {"a": "int64", "b": "int64"}, "header": False, "index": "build"}),
    "LibSvm": ("LibSvm", "libsvm", {}),
    "LibSvm, index": ("LibSvm", "libsvm", {"index": "build"}),
    "RecordFile": ("RecordFile", "rec", {}),
    "RecordFile, index": ("RecordFile", "rec", {"index": "build"}),
    "TFRecord": ("TFRecord", "tfrecord", {"features": {"v": "bytes"}}),
    "TFRecord, index": ("TFRecord", "tfrecord", {"features": {"v": "bytes"}, "index": "build"}),
    "WebDataset": ("WebDataset", "tar", {"columns": ["v"]}),
    "WebDataset, index": ("WebDataset", "tar", {"columns": ["v"], "index": "build"}),
    "MindRecord": ("MindRecord", "mindrecord", {}),
}


def run_source(name: str, folder: str, files: int) -> None:
    """Begins a run over so many of the files, and prints as JSON what the process then holds, in bytes."""
    import headrace as hr

    source, ending, arguments = SOURCES[name]
    paths = [f"{folder}/{number:06}.{ending}" for number in range(files)]
    before = measuring.resident_bytes()
    rows = getattr(hr, source)(paths, shuffle=True, **arguments)
    with rows.iterate(memory="64MiB") as iterator:
        next(iterator)
        held = measuring.resident_bytes() - before
    print(json.dumps({"held": held, "peak": measuring.peak_resident_bytes() - before}))


def write_files(folder: pathlib.Path, ending: str, rows: int, files: int) -> None:
    """A file with the rows, and links to it."""
    first = folder / f"000000.{ending}"
    WRITERS[ending](first, rows)
    for number in range(1, files):
        os.link(first, folder / f"{number:06}.{ending}")


def measured(name: str, folder: str, files: int) -> dict[str, int]:
    """What `run_source` prints, in a process that makes the indices."""
    for index in (*pathlib.Path(folder).glob("*.hridx"), *pathlib.Path(folder).glob("*.idx")):
        index.unlink()
    found: dict[str, int] = measuring.in_own_process(__file__, "--child", name, folder, files)
    return found


def report(rows: int, only: str) -> None:
    in_file = min(rows // SMALLER, ROWS_OF_FILE)
    files = rows // in_file
    fewer = max(files // SMALLER, 1)
    apart = (files - fewer) * in_file
    print(f"{files * in_file:,} rows in {files:,} files; bytes a row", flush=True)
    failed = False
    with tempfile.TemporaryDirectory(prefix="headrace_") as folder:
        written: set[str] = set()
        for name, (_, ending, _) in SOURCES.items():
            if only not in name:
                continue
            if ending not in written:
                write_files(pathlib.Path(folder), ending, in_file, files)
            written.add(ending)
            small, large = (measured(name, folder, count) for count in (fewer, files))
            held, peak = ((large[each] - small[each]) / apart for each in ("held", "peak"))
            failed = failed or peak > AIM
            print(
                f"{name:<20} {held:6.2f} held {peak:6.2f} at the peak{'  TOO MUCH' if peak > AIM else ''}", flush=True
            )
    sys.exit(1 if failed else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--only", default="", help="sources with this in their names")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, folder, files = options.child
        run_source(name, folder, int(files))
        return
    if options.rows < SMALLER * SMALLER:
        parser.error(f"--rows is at least {SMALLER * SMALLER:,}, so that a hundredth of them is a set, too")
    report(options.rows, options.only)


if __name__ == "__main__":
    main()
