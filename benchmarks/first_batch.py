"""The first batch: from iter() to the first 32 images, over many files that were listed once before.

Aim: at most those 32 decodes and 50 ms. The many files are links to a few photographs. They are listed once in
each process, or read from a saved listing; then comes the first batch, and that of another data set over them.
"""

import argparse
import json
import os
import pathlib
import statistics
import tempfile
import time
from typing import Any

import measuring

CLASSES = 1000


def link_many(target: pathlib.Path, files: int) -> None:
    photos = sorted(str(path) for path in measuring.PHOTOS.rglob("*.jpg"))
    for number in range(CLASSES):
        folder = target / f"class{number:04}"
        folder.mkdir()
        for i in range(number, files, CLASSES):
            os.symlink(photos[i % len(photos)], folder / f"{i}.jpg")


def run_pipeline(folder: str, saved: bool) -> None:
    """Prints seconds as JSON: for the listing, from iter() to the first batch, and the same of another data set.

    The listing is made, or loaded from the file of the first run; the process keeps it.
    """
    # Any training program has loaded it; a pipeline loads it only when it starts.
    import numpy  # noqa: F401

    import headrace as hr
    from headrace import vision as V

    def make() -> Any:
        kernels = [V.Decode(), V.RandomResizedCrop(224, antialias=False), V.HWC2CHW()]
        source = hr.ImageFolder(folder, shuffle=True, listing=f"{folder}.listing" if saved else None)
        return source.map(kernels, "image").batch(32)

    def first_batch(dataset: Any) -> float:
        begin = time.perf_counter()
        with dataset.iterate() as batches:
            next(batches)
            return time.perf_counter() - begin

    begin = time.perf_counter()
    dataset = make()
    length = len(dataset)
    listing = time.perf_counter() - begin
    first = first_batch(dataset)
    print(json.dumps({"batches": length, "listing": listing, "first": first, "other": first_batch(make())}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--saved", action="store_true", help="keep the listing in a file, as listing= does")
    options = parser.parse_args()
    if options.child:
        run_pipeline(options.child, options.saved)
        return
    with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
        folders = {"few": pathlib.Path(temporary) / "few", "many": pathlib.Path(temporary) / "many"}
        for name, files in (("few", CLASSES), ("many", options.files)):
            folders[name].mkdir()
            link_many(folders[name], files)
        # A listing is kept only if change times, which are coarse, can show that nothing changed since.
        time.sleep(3)
        child = ["--saved"] if options.saved else []
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in folders}
        for _ in range(options.rounds):
            for name, folder in folders.items():
                runs[name].append(measuring.in_own_process(__file__, "--child", folder, *child))
        first = {name: [run["first"] * 1e3 for run in found] for name, found in runs.items()}
        other = [run["other"] * 1e3 for run in runs["many"]]
        listing = [run["listing"] for run in runs["many"]]
    print(f"listing {options.files:,} files: {measuring.summary(listing, 2)} s")
    print(f"first batch over {CLASSES:,} files: {measuring.summary(first['few'], 1)} ms")
    print(f"first batch over {options.files:,} files: {measuring.summary(first['many'], 1)} ms")
    print(f"of another data set over them: {measuring.summary(other, 1)} ms")
    print(f"for the number of files: {statistics.median(first['many']) - statistics.median(first['few']):.1f} ms more")


if __name__ == "__main__":
    main()
