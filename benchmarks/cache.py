"""Images per second with images in a cache: the epoch that fills it, and later ones; and of the hand-written loop.

The training pipeline of images.py: without a cache, with `cache()` between Decode and RandomResizedCrop
(antialias=False), and with the automatic cache. The images are taken several times over, so that an epoch is long
enough to measure, as long as all of them fit into the cache.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

import images
import measuring

CACHES = ("none", "by hand", "automatic")


def run_pipeline(folder: str, epochs: int, cache: str, memory: str, explain: bool) -> None:
    """Prints images per second of the first epoch and the median of the later ones, as JSON."""
    import headrace as hr
    from headrace import vision as V

    decoded = hr.ImageFolder(folder, shuffle=True).map(V.Decode(), "image")
    if cache == "by hand":
        decoded = decoded.cache(transparent=True)
    kernels = [V.RandomResizedCrop(224, antialias=False), V.RandomHorizontalFlip()]
    kernels += [V.Normalize(images.MEAN, images.STD), V.HWC2CHW()]
    dataset = decoded.map(kernels, "image").repeat(epochs).batch(images.BATCH)
    rows = len(hr.ImageFolder(folder))
    rates = []
    off = [] if cache == "automatic" else ["insert_caches"]
    with dataset.iterate(memory=memory, disabled_passes=off) as batches:
        begin, given = time.perf_counter(), 0
        for batch in batches:
            given += len(batch["image"])
            if given >= rows:
                now = time.perf_counter()
                rates.append(given / (now - begin))
                begin, given = now, 0
        if explain:
            print(batches.explain(), file=sys.stderr)
    print(json.dumps({"first": rates[0], "later": statistics.median(rates[1:])}))


def several_times(folder: pathlib.Path, copies: int, target: pathlib.Path) -> None:
    """Links to the images of all class folders, each under several names."""
    for image in folder.glob("*/**/*"):
        if image.is_file():
            links = target / image.parent.name
            links.mkdir(exist_ok=True)
            for number in range(copies):
                (links / f"{number}-{image.name}").symlink_to(image.resolve())


def alternate(folder: pathlib.Path, options: argparse.Namespace) -> None:
    program = images.find_loop(options.loop)
    cases = [f"{cache}, {epochs}" for cache in CACHES for epochs in ("first", "later")]
    rates: dict[str, list[float]] = {name: [] for name in (*cases, "loop", "loop, crop only")}
    print("round  " + "  ".join(f"{name:>15}" for name in rates) + "   images/s")
    child = ["--child", folder, "--epochs", options.epochs, "--memory", options.memory]
    for number in range(options.rounds):
        explain = ["--explain"] if options.explain and number == 0 else []
        for name in CACHES:
            measured = measuring.in_own_process(__file__, *child, "--cache", name, *explain)
            rates[f"{name}, first"].append(measured["first"])
            rates[f"{name}, later"].append(measured["later"])
        common = ["--threads", str(options.threads), "--images", "1600", "--warm-up", "320"]
        rates["loop"].append(images.run_loop(program, folder, common))
        rates["loop, crop only"].append(images.run_loop(program, folder, [*common, "--crop"]))
        print(f"{number + 1:5}  " + "  ".join(f"{values[-1]:15,.0f}" for values in rates.values()), flush=True)
    print()
    for name, values in rates.items():
        print(f"{name:>15}: {measuring.summary(values)}")
    pairs = [(f"{cache}, {epochs}", f"none, {epochs}") for cache in CACHES[1:] for epochs in ("first", "later")]
    for over, under in (*pairs, ("automatic, later", "loop")):
        ratio = statistics.median(rates[over]) / statistics.median(rates[under])
        print(f"{over} / {under}: {ratio:.2f} of the medians")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=str(measuring.PHOTOS), help="of images, in class folders or not")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--copies", type=int, default=5, help="how many times over the images are taken")
    parser.add_argument("--memory", default="4GiB", help="of iterate(); the cache takes half of it")
    parser.add_argument("--threads", type=int, default=2, help="of the loop")
    parser.add_argument("--loop", help="the built //benchmarks:loop; default: bazel-bin's")
    parser.add_argument("--explain", action="store_true", help="print the pipeline's report of the first round")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cache", choices=CACHES, default=CACHES[0], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_pipeline(options.folder, options.epochs, options.cache, options.memory, options.explain)
        return

    def with_copies(folder: pathlib.Path) -> None:
        with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
            several_times(folder, options.copies, pathlib.Path(temporary))
            alternate(pathlib.Path(temporary), options)

    measuring.with_class_folders(pathlib.Path(options.folder), with_copies)


if __name__ == "__main__":
    main()
