"""Records a second that are parsed: ours and tf.data's, in alternation.

TFRecord with features and batch(256), from the page cache: in order, and shuffled by number with index="build". tf.data
parses whole batches, its fastest way: TFRecordDataset, batch(256) and parse_example, on as many threads as it likes. Each
measurement has its own process and gives the rate of the second pass. The files: `numbers`, ten features of one number;
`picture`, 100 KB of bytes and a label; `lists`, three lists of 0 to 40 numbers.
"""

import argparse
import json
import pathlib
import random
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import measuring

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tests.tfrecord_bytes import example

BATCH = 256


def numbers(draws: random.Random) -> dict[str, Any]:
    return {f"f{i}": ("float32", [draws.random()]) for i in range(5)} | {
        f"i{i}": ("int64", [draws.randrange(10**6)]) for i in range(5)
    }


def picture(draws: random.Random) -> dict[str, Any]:
    return {"image": ("bytes", [draws.randbytes(100_000)]), "label": ("int64", [draws.randrange(1000)])}


def lists(draws: random.Random) -> dict[str, Any]:
    return {
        "tokens": ("int64", [draws.randrange(50_000) for _ in range(draws.randrange(40))]),
        "scores": ("float32", [draws.random() for _ in range(draws.randrange(40))]),
        "words": ("bytes", [b"word"] * draws.randrange(10)),
    }


# For each file: its records, how many of them, and their features; None for the length of a list.
FILES: dict[str, tuple[Callable[[random.Random], dict[str, Any]], int]] = {
    "numbers": (numbers, 400_000),
    "picture": (picture, 4_000),
    "lists": (lists, 200_000),
}


def types_of(file: str) -> dict[str, Any]:
    features = FILES[file][0](random.Random(1))
    return {name: (kind, (None,)) if file == "lists" else kind for name, (kind, _) in features.items()}


def run_headrace(path: str, file: str, by_number: bool) -> int:
    import headrace as hr

    index = "build" if by_number else None
    records = hr.TFRecord(path, types_of(file), index=index, shuffle=by_number)
    # A view of a word costs more than its bytes.
    bytes_as = "bytes" if file == "lists" else "memoryview"
    batches = records.batch(BATCH, ragged="splits").options(bytes_as=bytes_as)
    return sum(measuring.rows_of(batch, next(iter(types_of(file)))) for batch in batches)


def run_tensorflow(path: str, file: str) -> int:
    import tensorflow as tf

    dtypes = {"int64": tf.int64, "float32": tf.float32, "bytes": tf.string}
    spec = {
        name: tf.io.RaggedFeature(dtypes[given[0]])
        if isinstance(given, tuple)
        else tf.io.FixedLenFeature((), dtypes[given])
        for name, given in types_of(file).items()
    }
    records = tf.data.TFRecordDataset(path).batch(BATCH)
    parsed = records.map(lambda batch: tf.io.parse_example(batch, spec), num_parallel_calls=tf.data.AUTOTUNE)
    first = next(iter(spec))
    return sum(int(batch[first].shape[0]) for batch in parsed.prefetch(tf.data.AUTOTUNE))


def child(program: str, path: str, file: str) -> None:
    """Prints records a second of the second pass, as JSON."""
    for _ in range(2):
        begin = time.perf_counter()
        rows = run_tensorflow(path, file) if program == "tensorflow" else run_headrace(path, file, program == "number")
        seconds = time.perf_counter() - begin
    print(json.dumps({"rows": rows, "rate": rows / seconds}))


def write_file(path: pathlib.Path, file: str, share: float) -> None:
    from headrace import _engine

    make, count = FILES[file]
    draws = random.Random(2)
    frames = [_engine.tf_record([example(make(draws))]) for _ in range(200)]
    with path.open("wb") as written:
        for number in range(max(1, int(count * share))):
            written.write(frames[number % len(frames)])


def compare(file: str, path: pathlib.Path, options: argparse.Namespace) -> None:
    rates: dict[str, list[float]] = {"in order": [], "by number": []}
    if options.peer:
        rates["tf.data"] = []
    for _ in range(options.rounds):
        for name, program in (("in order", "order"), ("by number", "number")):
            measured = measuring.in_own_process(__file__, "--child", program, "--path", path, "--file", file)
            rates[name].append(measured["rate"])
        if options.peer:
            arguments = ("--child", "tensorflow", "--path", path, "--file", file)
            rates["tf.data"].append(measuring.in_own_process(__file__, *arguments, python=options.peer)["rate"])
    for name, found in rates.items():
        print(f"{file}: {name} {measuring.summary(found)} records/s")
    if options.peer:
        for name in ("in order", "by number"):
            print(f"{file}: {name} / tf.data: {measuring.ratio(rates[name], rates['tf.data'])}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="of the records of each file")
    parser.add_argument("--peer", help="an interpreter that has TensorFlow; left out without one")
    parser.add_argument("--files", nargs="*", default=list(FILES), choices=list(FILES))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.path, options.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        for file in options.files:
            path = pathlib.Path(folder) / f"{file}.tfrecord"
            write_file(path, file, options.share)
            compare(file, path, options)


if __name__ == "__main__":
    main()
