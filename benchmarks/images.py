"""Images per second: our pipeline and the hand-written loop over the same files, in alternation, in separate processes.

Both decode JPEG, crop and resize to 224 (antialias=False), flip, normalise to CHW float32 and fill batches of 32.
The loop is measured twice, decoding every image fully and decoding the crop only; see loop.h.
With --validation both resize the shorter side to 256 with antialias and cut out the centre instead.
The pipeline makes every row anew, as the loop does, unless --keep allows the automatic cache; with --notes it keeps the
entry points of JPEGs that earlier epochs noted, by a cache that has no memory for rows.
Milliseconds of CPU an image of both come last: they hold beside other processes, too.
"""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import time

import measuring

BATCH = 32
MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]
WORKS = ("random-resized-crop", "resize256-center224")


def run_pipeline(
    folder: str,
    work: str,
    antialias: bool,
    images: int,
    warm_up: int,
    workers: int | None,
    keep: bool,
    notes: bool,
    memory: str | None,
    explain: bool,
) -> None:
    """Prints images per second as JSON; warmed up with as many images as the loop."""
    import headrace as hr
    from headrace import vision as V

    kernels = [V.Decode()]
    if work == "random-resized-crop":
        kernels += [V.RandomResizedCrop(224, antialias=antialias), V.RandomHorizontalFlip()]
    else:
        kernels += [V.Resize(256, antialias=antialias), V.CenterCrop(224)]
    kernels += [V.Normalize(MEAN, STD), V.HWC2CHW()]
    images_of = hr.ImageFolder(folder, shuffle=True)
    dataset = (images_of.cache(memory=0) if notes else images_of).map(kernels, "image").repeat().batch(BATCH)
    off = [] if keep or notes else ["insert_caches"]
    budget = {"memory": memory} if memory else {}
    with dataset.iterate(workers=workers, disabled_passes=off, **budget) as batches:
        for _ in range(-(-warm_up // BATCH)):
            next(batches)
        begin, used = time.perf_counter(), time.process_time()
        done = 0
        while done < images:
            done += len(next(batches)["image"])
        seconds, cpu = time.perf_counter() - begin, time.process_time() - used
        if explain:
            print(batches.explain() if hasattr(batches, "explain") else dataset.explain(), file=sys.stderr)
    print(json.dumps({"images": done, "seconds": seconds, "rate": done / seconds, "cpu_ms": 1000 * cpu / done}))


def children_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_loop(program: str, folder: pathlib.Path, arguments: list[str], images: int) -> tuple[float, float]:
    """Images per second, and milliseconds of CPU for each of all `images`, those of the warm-up among them."""
    before = children_cpu_seconds()
    done = subprocess.run([program, str(folder), *arguments], capture_output=True, text=True)
    found = re.match(r"([\d.]+(?:e\+\d+)?) images/s", done.stdout)
    if done.returncode != 0 or found is None:
        sys.exit(f"{program} failed:\n{done.stdout}{done.stderr}")
    return float(found[1]), 1000 * (children_cpu_seconds() - before) / images


def find_loop(path: str | None) -> str:
    program = pathlib.Path(path) if path else measuring.ROOT / "bazel-bin" / "benchmarks" / "loop"
    if not program.is_file():
        sys.exit(f"{program} is not there: build it with 'bazel build //benchmarks:loop', or say --loop PATH")
    return str(program)


def alternate(folder: pathlib.Path, options: argparse.Namespace) -> None:
    program = find_loop(options.loop)
    common = ["--threads", str(options.threads), "--images", str(options.images), "--warm-up", str(options.warm_up)]
    loops = {"loop": [*common, "--validation" if options.validation else "--resize256-center224"]}
    if options.work == "random-resized-crop":
        loops = {"loop": common, "loop, crop only": [*common, "--crop"]}
    small = f"at {options.memory}" if options.memory else ""
    rates: dict[str, list[float]] = {name: [] for name in ["pipeline", *([small] if small else []), *loops]}
    cpu: dict[str, list[float]] = {name: [] for name in ["pipeline", *loops]}
    print("round  " + "  ".join(f"{name:>15}" for name in rates) + "   images/s")
    for number in range(options.rounds):
        explain = options.explain and number == options.rounds - 1
        child = ["--child", folder, "--work", options.work, "--images", options.images, "--warm-up", options.warm_up]
        child += ["--workers", options.workers] if options.workers else []
        child += ["--antialias"] if options.antialias else []
        child += ["--keep"] if options.keep else []
        child += ["--notes"] if options.notes else []
        child += ["--explain"] if explain else []
        found = measuring.in_own_process(__file__, *child)
        rates["pipeline"].append(found["rate"])
        cpu["pipeline"].append(found["cpu_ms"])
        if small:
            rates[small].append(measuring.in_own_process(__file__, *child, "--memory", options.memory)["rate"])
        for name, arguments in loops.items():
            rate, cpu_ms = run_loop(program, folder, arguments, options.images + options.warm_up)
            rates[name].append(rate)
            cpu[name].append(cpu_ms)
        print(f"{number + 1:5}  " + "  ".join(f"{values[-1]:15,.0f}" for values in rates.values()), flush=True)
    print()
    for name, values in rates.items():
        print(f"{name:>15}: {measuring.summary(values)}")
    if small:
        print(f"{small} / pipeline: {measuring.ratio(rates[small], rates['pipeline'])}")
    for name in loops:
        print(f"pipeline / {name}: {measuring.ratio(rates['pipeline'], rates[name])}")
    print()
    for name, values in cpu.items():
        print(f"CPU an image, {name}: {measuring.summary(values, 3)} ms")
    for name in loops:
        print(f"CPU of {name} / pipeline: {measuring.ratio(cpu[name], cpu['pipeline'])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folder", nargs="?", default=str(measuring.PHOTOS), help="of JPEG files, in class folders or not"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--images", type=int, default=3200, help="measured in each round")
    parser.add_argument("--warm-up", type=int, default=640, help="images before the clock starts")
    parser.add_argument("--threads", type=int, default=2, help="of the loop")
    parser.add_argument("--workers", type=int, help="of the pipeline; the engine chooses where not given")
    parser.add_argument("--work", choices=WORKS, default=WORKS[0])
    parser.add_argument("--antialias", action="store_true", help="in the pipeline; the loop only with --validation")
    parser.add_argument(
        "--validation", action="store_true", help="resize256-center224 with antialias, in the pipeline and in the loop"
    )
    parser.add_argument("--keep", action="store_true", help="allow the pipeline's automatic cache")
    parser.add_argument("--notes", action="store_true", help="keep notes of rows, and no rows, from epoch to epoch")
    parser.add_argument("--memory", help="measure the pipeline under this budget, too: 64MiB")
    parser.add_argument("--loop", help="the built //benchmarks:loop; default: bazel-bin's")
    parser.add_argument("--explain", action="store_true", help="print the pipeline's report of the last round")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.validation:
        options.work, options.antialias = "resize256-center224", True
    if options.child:
        run_pipeline(
            options.folder,
            options.work,
            options.antialias,
            options.images,
            options.warm_up,
            options.workers,
            options.keep,
            options.notes,
            options.memory,
            options.explain,
        )
    else:
        measuring.with_class_folders(pathlib.Path(options.folder), lambda folder: alternate(folder, options))


if __name__ == "__main__":
    main()
