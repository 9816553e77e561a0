"""The first batch: from iter() to the first 32 pictures, over many files that were listed once before.

Aim: not more than those 32 decodes and 50 ms. The many files are links to a few photographs.
"""

import argparse
import json
import os
import pathlib
import statistics
import tempfile
import time

import measuring

CLASSES = 1000


def link_many(target: pathlib.Path, files: int) -> None:
    photos = sorted(str(path) for path in measuring.PHOTOS.rglob("*.jpg"))
    for number in range(CLASSES):
        folder = target / f"class{number:04}"
        folder.mkdir()
        for i in range(number, files, CLASSES):
            os.symlink(photos[i % len(photos)], folder / f"{i}.jpg")


def run_pipeline(folder: str, workers: int | None) -> None:
    """Prints seconds as JSON: for the listing, kept in a file by the first run, and from iter() to the first batch."""
    import headrace as hr
    from headrace import vision as V

    begin = time.perf_counter()
    kernels = [V.Decode(), V.RandomResizedCrop(224, antialias=False), V.HWC2CHW()]
    dataset = hr.ImageFolder(folder, shuffle=True, listing=f"{folder}.listing").map(kernels, "image").batch(32)
    length = len(dataset)
    listing = time.perf_counter() - begin
    begin = time.perf_counter()
    with dataset.iterate(workers=workers) as batches:
        next(batches)
        first = time.perf_counter() - begin
    print(json.dumps({"batches": length, "listing": listing, "first": first}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_pipeline(options.child, None)
        return
    with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
        folders = {"few": pathlib.Path(temporary) / "few", "many": pathlib.Path(temporary) / "many"}
        for name, files in (("few", CLASSES), ("many", options.files)):
            folders[name].mkdir()
            link_many(folders[name], files)
        runs = {name: [] for name in folders}
        for _ in range(options.rounds):
            for name, folder in folders.items():
                runs[name].append(measuring.in_own_process(__file__, "--child", folder))
        first = {name: [run["first"] * 1e3 for run in found] for name, found in runs.items()}
        listing = [run["listing"] for run in runs["many"]]
    print(f"listing {options.files:,} files: {measuring.summary(listing, 2)} s")
    print(f"first batch over {CLASSES:,} files: {measuring.summary(first['few'], 1)} ms")
    print(f"first batch over {options.files:,} files: {measuring.summary(first['many'], 1)} ms")
    print(f"for the number of files: {statistics.median(first['many']) - statistics.median(first['few']):.1f} ms more")


if __name__ == "__main__":
    main()
