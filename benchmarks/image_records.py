"""Training from records: `ImageRecord` and `map`, `headrace.mx` and MXNet 1.9.1's ImageRecordIter, which both get the same
parameters, over the same file in alternation; images a second, and for each second of CPU time.

Records of the original images, from which a random-resized-crop is taken, without and with the file of entry points that
`headrace pack --entry-points` writes beside them, which MXNet does not read; and records of images whose shorter edge is
256 pixels, from which a random crop is taken. Both sides flip, normalise and give float32 batches of 32. MXNet runs with
as many threads as there are cores, of which it takes at least one and at most one less than half of the cores.
Rows are not kept, as automatic caches would keep the few images measured here; cache.py measures them. The first run
installs MXNet into a virtual environment.
"""

import argparse
import importlib
import itertools
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import measuring

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "compare"))

import work  # noqa: E402

KINDS = {
    "original": ["--pass-through"],
    "original with entry points": ["--pass-through", "--entry-points"],
    "256": ["--resize=256"],
}
NOTED = ("original with entry points",)
SIDES = ("headrace", "headrace.mx", "mxnet")


def headrace_batches(kind: str, prefix: str) -> Iterator[Any]:
    import headrace as hr
    from headrace import vision as V

    crop = V.RandomResizedCrop(work.SIDE, antialias=False) if kind != "256" else V.RandomCrop(work.SIDE)
    records = hr.ImageRecord(f"{prefix}.rec", index=f"{prefix}.idx", shuffle=True)
    dataset = (
        (records.cache(memory=0) if kind in NOTED else records)
        .map([V.Decode(), crop, V.RandomHorizontalFlip(), V.Normalize(work.MEAN, work.STD), V.HWC2CHW()], "image")
        .repeat()
        .batch(work.BATCH)
    )
    return iter(dataset.iterate(disabled_passes=[] if kind in NOTED else ["insert_caches"]))


def iterator_batches(side: str, kind: str, prefix: str, threads: int) -> Iterator[Any]:
    """Of ImageRecordIter: MXNet's, or that of headrace.mx."""
    mxnet = importlib.import_module(side)
    crop: dict[str, Any] = {"rand_crop": True}
    if kind != "256":
        crop = {
            "random_resized_crop": True,
            "min_random_area": work.SCALE[0],
            "max_random_area": work.SCALE[1],
            "min_aspect_ratio": work.RATIO[0],
            "max_aspect_ratio": work.RATIO[1],
        }
    channels = {
        f"{name}_{c}": v
        for name, values in (("mean", work.MEAN), ("std", work.STD))
        for c, v in zip("rgb", values, strict=True)
    }
    iterator = mxnet.io.ImageRecordIter(
        path_imgrec=f"{prefix}.rec",
        path_imgidx=f"{prefix}.idx",
        data_shape=(3, work.SIDE, work.SIDE),
        batch_size=work.BATCH,
        shuffle=True,
        rand_mirror=True,
        preprocess_threads=threads,
        prefetch_buffer=4,
        **crop,
        **channels,
    )
    if side != "mxnet":
        # A cache without memory keeps no rows, and lets notes beside the records be read.
        noted = kind in NOTED
        iterator._batches = (
            iterator._batches.cache(memory=0) if noted else iterator._batches.options(disabled_passes=["insert_caches"])
        )
    while True:
        for batch in iterator:
            batch.data[0].wait_to_read()
            yield batch.data[0]
        iterator.reset()


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(side: str, kind: str, prefix: str, threads: int, images: int) -> dict[str, float]:
    """Images a second, and for each second of CPU time; a quarter as many come first and are not counted."""
    batches = headrace_batches(kind, prefix) if side == "headrace" else iterator_batches(side, kind, prefix, threads)
    count = images // work.BATCH
    for _ in itertools.islice(batches, max(1, count // 4)):
        pass
    begin, used = time.perf_counter(), cpu_seconds()
    for _ in itertools.islice(batches, count):
        pass
    seconds, cpu = time.perf_counter() - begin, cpu_seconds() - used
    return {"a second": count * work.BATCH / seconds, "a CPU second": count * work.BATCH / cpu, "cores": cpu / seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="images, in folders below it or not")
    parser.add_argument("--copies", type=int, default=5, help="of each image in the records (5)")
    parser.add_argument("--pictures", type=int, default=4000, help="that a measurement takes (4000)")
    parser.add_argument("--threads", type=int, default=2, help="of MXNet (2)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="of records (all)")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "peers")
    options = parser.parse_args()

    from compare import make_environment
    from peers import mxnet

    from headrace import pack

    venv = options.venvs / "peers-mxnet"
    make_environment(venv, mxnet.REQUIREMENTS)
    pythons = {side: str(venv / "bin/python") if side == "mxnet" else sys.executable for side in SIDES}
    with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
        for kind in options.kinds:
            prefix = pathlib.Path(temporary, kind.replace(" ", "_"))
            pack.make_lists(prefix, options.folder, recursive=True, shuffle=False)
            listing = prefix.with_suffix(".lst")
            lines = [line.split("\t", 1)[1] for line in listing.read_text().splitlines()] * options.copies
            listing.write_text("".join(f"{i}\t{line}\n" for i, line in enumerate(lines)))
            command = [
                sys.executable,
                "-m",
                "headrace",
                "pack",
                *KINDS[kind],
                str(prefix),
                str(options.folder.resolve()),
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            compare(kind, str(prefix), pythons, options)


def compare(kind: str, prefix: str, pythons: dict[str, str], options: argparse.Namespace) -> None:
    arguments = (kind, prefix, options.threads, options.pictures)
    found = measuring.in_alternation(__file__, pythons, options.rounds, *arguments)
    for side, runs in found.items():
        cores = statistics.median(run["cores"] for run in runs)
        print(f"{kind}: {side}, {cores:.2f} cores: {spread(runs, 'a second')}, {spread(runs, 'a CPU second')}")
    for side, name in itertools.product(SIDES[:2], ("a second", "a CPU second")):
        ratios = [ours[name] / theirs[name] for ours, theirs in zip(found[side], found["mxnet"], strict=True)]
        low, high = min(ratios), max(ratios)
        print(f"{kind}: {side} to mxnet {name}: {statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})", flush=True)


def spread(runs: list[dict[str, float]], name: str) -> str:
    values = [run[name] for run in runs]
    return f"{statistics.median(values):,.0f} images {name} ({min(values):,.0f} to {max(values):,.0f})"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:5], *map(int, sys.argv[5:]))), flush=True)
    else:
        main()
