"""Reading ahead: images and files per second with a delay added to every open and every read, and from the page cache.

Aim: images per second stay within 5% with 5 ms added. Each run has its own process; runs alternate. `--plot`
draws how the number of outstanding reads settles (needs matplotlib); without it the steps are printed.
"""

import argparse
import importlib
import json
import pathlib
import sys
import tempfile
import time
from typing import Any

import measuring

sys.path.insert(0, str(measuring.ROOT))
from tests.faults import preload

BATCH = 32
WORKS = ("images", "files")


def dataset_of(work: str, folder: str) -> Any:
    import headrace as hr
    from headrace import vision as V

    if work == "files":
        return hr.Files(f"{folder}/**/*.*", shuffle=True)
    kernels = [V.Decode(), V.RandomResizedCrop(224, antialias=False), V.RandomHorizontalFlip()]
    kernels += [V.Normalize([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]), V.HWC2CHW()]
    return hr.ImageFolder(folder, shuffle=True).map(kernels, "image")


def run_pipeline(work: str, folder: str, rows: int, warm_up: int, explain: bool) -> None:
    """Prints rows per second after the warm-up and, from the start, the batches' times and the steps, as JSON."""
    dataset = dataset_of(work, folder).repeat().batch(BATCH)
    start = time.perf_counter()
    # Cached rows would not be read again.
    with dataset.iterate(disabled_passes=["insert_caches"]) as batches:
        times = []
        for _ in range(-(-(warm_up + rows) // BATCH)):
            next(batches)
            times.append(time.perf_counter() - start)
        report = batches.report()
        if explain:
            print(dataset.explain(), file=sys.stderr)
    warm = -(-warm_up // BATCH)
    rate = (len(times) - warm) * BATCH / (times[-1] - times[warm - 1])
    source = report["stages"][-1]
    found = {"rate": rate, "times": times, "steps": source["caps"], "reads": source["cap"], "limit": report["limit"]}
    print(json.dumps(found))


def describe(run: dict[str, Any]) -> str:
    steps = ", ".join(f"{cap} after {at:.2f} s" for at, cap, _ in run["steps"])
    return f"reads outstanding: at most {run['reads']} in the end; steps: {steps or 'none'}; limit: {run['limit']}"


def plot(runs: dict[str, dict[str, Any]], path: str) -> None:
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, (above, below) = pyplot.subplots(2, sharex=True, figsize=(8, 5), layout="constrained")
    for name, run in runs.items():
        end = run["times"][-1]
        points = [(0.0, 8), *((at, cap) for at, cap, _ in run["steps"]), (end, run["reads"])]
        above.step([at for at, _ in points], [cap for _, cap in points], where="post", label=name)
        width = max(1, len(run["times"]) // 40)
        ends = run["times"][width::width]
        begins = run["times"][::width]
        rates = [width * BATCH / (end - begin) for begin, end in zip(begins, ends, strict=False)]
        below.plot(ends, rates, label=name)
    above.set_ylabel("reads that may be outstanding")
    above.set_ylim(0)
    below.set_ylabel("rows a second")
    below.set_ylim(0)
    below.set_xlabel("seconds since the iterator was made")
    above.legend()
    figure.savefig(path)


def slow_disk(library: pathlib.Path, delay_ms: float) -> dict[str, str]:
    """The environment in which the opens and reads of a process take that much longer."""
    microseconds = str(round(delay_ms * 1e3))
    return {"LD_PRELOAD": str(library), "SLOW_FILES_OPEN_US": microseconds, "SLOW_FILES_READ_US": microseconds}


def alternate(folder: pathlib.Path, library: pathlib.Path, options: argparse.Namespace) -> None:
    last: dict[str, dict[str, Any]] = {}
    for work in options.works:
        rates: dict[float, list[float]] = {0.0: [], options.delay: []}
        for number in range(options.rounds):
            for delay, found in rates.items():
                child = ["--child", work, folder, "--rows", options.rows, "--warm-up"]
                child += [options.warm_up, *(["--explain"] if options.explain and number == 0 else [])]
                run = measuring.in_own_process(
                    __file__, *child, environment=slow_disk(library, delay) if delay else None
                )
                found.append(run["rate"])
                last[f"{work}, {delay:g} ms"] = run
            print(f"{work} {number + 1}: " + "  ".join(f"{found[-1]:9,.0f}" for found in rates.values()), flush=True)
        for delay, found in rates.items():
            print(f"{work}, {delay:g} ms added: {measuring.summary(found)} a second")
            print(f"  {describe(last[f'{work}, {delay:g} ms'])}")
        ratio = measuring.ratio(rates[options.delay], rates[0.0])
        print(f"{work}: {options.delay:g} ms / warm page cache: {ratio}\n")
    if options.plot:
        try:
            plot(last, options.plot)
        except ModuleNotFoundError:
            sys.exit("--plot needs matplotlib: pip install matplotlib")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=str(measuring.PHOTOS), help="of images, in class folders or not")
    parser.add_argument("--works", nargs="+", choices=WORKS, default=list(WORKS))
    parser.add_argument("--delay", type=float, default=5.0, help="milliseconds added to each open and to each read")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=3200, help="measured in each round")
    parser.add_argument("--warm-up", type=int, default=1280, help="rows before the clock starts")
    parser.add_argument("--plot", metavar="SVG", help="draw the last round of each to this file")
    parser.add_argument("--explain", action="store_true", help="print the first round's reports")
    parser.add_argument("--child", choices=WORKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_pipeline(options.child, options.folder, options.rows, options.warm_up, options.explain)
    else:
        with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
            library = preload.build("slow_files", pathlib.Path(temporary))
            measuring.with_class_folders(
                pathlib.Path(options.folder), lambda folder: alternate(folder, library, options)
            )


if __name__ == "__main__":
    main()
