"""Augmentation beside the libraries whose definitions Headrace follows.

Pipelines: torchvision's reference training and SimCLR's two views, from JPEG files to batches, in Headrace and in
torchvision over a DataLoader with two processes, on PIL images and on tensors; pictures a second, and for each second of CPU
time. Kernels: a call of each on one picture of 512 × 512, on one thread, beside Pillow, OpenCV or torchvision; CPU time. All in
alternation, each measurement in a process of its own; ratios are of rounds. With --out, the page is written to a folder. The
first run installs the peers into a virtual environment, 5 GB.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "compare")]

import augment_kernels  # noqa: E402
import augment_recipes  # noqa: E402
import measuring  # noqa: E402
import process_tree  # noqa: E402

REQUIREMENTS = ("torch==2.14.1", "torchvision==0.29.1", "pillow==13.0.0", "opencv-python-headless==5.0.0.93", "numpy")
PACKAGES = ("torch", "torchvision", "pillow", "opencv-python-headless")
SIDES = ("headrace", "PIL", "tensor")
KERNELS = "kernels"
SECOND, CPU_SECOND = "a second", "a CPU second"
PROCESSES = 2
# A load average up to which the machine is quiet.
QUIET = 0.3
PICTURE = HERE.parent / "examples/photos/people/astronaut.jpg"


def measure_pipeline(side: str, recipe: str, folder: str, pictures: int) -> dict[str, float]:
    """Pictures a second, and for each second of CPU time of all processes; a third as many come first and are not counted."""
    if side == "headrace":
        batches = augment_recipes.headrace_batches(recipe, folder)
    else:
        batches = augment_recipes.torchvision_batches(recipe, folder, side == "tensor", PROCESSES)
    count = max(1, pictures // augment_recipes.BATCH)
    for _ in range(max(1, count // 3)):
        next(batches)
    begin, used = time.perf_counter(), process_tree.cpu_seconds(os.getpid())
    for _ in range(count):
        next(batches)
    seconds, cpu = time.perf_counter() - begin, process_tree.cpu_seconds(os.getpid()) - used
    made = count * augment_recipes.BATCH
    return {SECOND: made / seconds, CPU_SECOND: made / cpu}


def measure(side: str, what: str, folder: str, pictures: str, seconds: str) -> dict[str, float]:
    if what != KERNELS:
        return measure_pipeline(side, what, folder, int(pictures))
    calls = augment_kernels.headrace_calls if side == "headrace" else augment_kernels.peer_calls
    return augment_kernels.nanoseconds(calls(str(PICTURE)), float(seconds))


def rounds_of(what: str, folder: str, pythons: dict[str, str], options: argparse.Namespace) -> dict[str, list[Any]]:
    """By side: what each round measured."""
    arguments = (what, folder, options.pictures, options.seconds)
    return measuring.in_alternation(__file__, pythons, options.rounds, *arguments, said=what)


def ranged(values: list[float], digits: int) -> str:
    low, middle, high = (f"{value:,.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low}–{high})"


def ratios(ours: list[float], theirs: list[float]) -> list[float]:
    return [our / their for our, their in zip(ours, theirs, strict=True)]


def pipeline_table(found: dict[str, dict[str, list[Any]]]) -> str:
    lines = [
        "| recipe, pictures | Headrace | PIL | tensors | to PIL | to tensors |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for recipe, of_sides in found.items():
        for name in (SECOND, CPU_SECOND):
            ours, pil, tensor = ([each[name] for each in of_sides[side]] for side in SIDES)
            cells = [ranged(values, 0) for values in (ours, pil, tensor)]
            cells += [ranged(ratios(ours, theirs), 2) for theirs in (pil, tensor)]
            lines.append(f"| {recipe}, {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def kernel_table(found: dict[str, list[dict[str, float]]]) -> str:
    """How many times as fast as the library, the slowest first."""
    rows = []
    for name, library in augment_kernels.LIBRARIES.items():
        ours, theirs = ([each[name] for each in found[side]] for side in ("headrace", "peer"))
        ratio = ratios(theirs, ours)
        micros = [statistics.median(values) / 1000 for values in (ours, theirs)]
        cells = " | ".join(f"{value:,.1f}" for value in micros)
        rows.append((statistics.median(ratio), f"| {name} | {library} | {cells} | {ranged(ratio, 2)} |"))
    header = ["| kernel | library | Headrace, µs | library, µs | times as fast |", "| --- | --- | --: | --: | --: |"]
    return "\n".join(header + [line for _, line in sorted(rows)])


def versions(python: str) -> str:
    script = "import importlib.metadata as m, sys; print(*map(m.version, sys.argv[1:]))"
    done = subprocess.run([python, "-c", script, *PACKAGES], check=True, stdout=subprocess.PIPE, text=True)
    return ", ".join(f"{name} {version}" for name, version in zip(PACKAGES, done.stdout.split(), strict=True))


def page(pipelines: str, kernels: str, python: str, load: float, options: argparse.Namespace) -> str:
    import machine

    import headrace

    about = machine.describe()
    numbers = {"rounds": options.rounds, "pictures": options.pictures, "seconds": options.seconds}
    command = ["benchmarks/augment.py", "DIR", *(f"--{name}={value}" for name, value in numbers.items())]
    recipes = "\n".join(f"- **{name}**: {text}." for name, text in augment_recipes.RECIPES.items())
    return f"""# Augmentation

Written by `benchmarks/augment.py` on {about["date"]}; medians of {options.rounds} alternating rounds, in brackets the lowest and the highest.

    .venv/bin/python {shlex.join(command)} --out docs/benchmarks

{about["cpu"]}, {about["cores"]} cores, Linux {about["kernel"]}, Python {about["python"]}; Headrace {headrace.__version__}, {versions(python)}.
The load average was {load:.1f} before the run{": other processes used the cores meanwhile, and ratios say more than times" if load > QUIET else ""}.

## Pipelines

Pictures a second, and for each second of CPU time of all processes, from JPEG files to batches of {augment_recipes.BATCH}, and how many times as many as torchvision's v2 over a DataLoader with {PROCESSES} processes, on PIL images and on tensors; the aim is 3. {options.pictures} pictures a measurement; no automatic cache.

{pipelines}

{recipes}

## Kernels

A call on one picture of 512 × 512 RGB, on one thread, beside the library whose definition the kernel follows: Headrace takes and gives a NumPy array, Pillow its images, torchvision tensors. CPU time, the best of runs of 10 ms over {options.seconds} s. The slowest ones come first; the aim is 0.9 for each.

{kernels}

MixUp and CutMix take a batch of 32 pictures of 224 × 224, floats. Brightness, contrast, saturation, hue, gamma, sharpness, affine and perspective are torchvision's functions over Pillow.
Kernels beside Pillow and OpenCV give the same pixels, `Perspective` but for single ones. In a map, neighbours share a pass over the pixels, and a chain costs less than its kernels do alone.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="pictures, in class folders or not")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pictures", type=int, default=960, help="that a pipeline gives in a measurement (960)")
    parser.add_argument("--seconds", type=float, default=0.2, help="that a kernel is measured (0.2)")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "peers")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the page, augment.md")
    options = parser.parse_args()

    from compare import make_environment

    venv = options.venvs / "peers-torchvision"
    make_environment(venv, REQUIREMENTS)
    peer = str(venv / "bin/python")
    load = os.getloadavg()[0]

    def compare(folder: pathlib.Path) -> None:
        kernels = kernel_table(rounds_of(KERNELS, "", {"headrace": sys.executable, "peer": peer}, options))
        print(kernels, flush=True)
        pythons = {side: sys.executable if side == "headrace" else peer for side in SIDES}
        pipelines = pipeline_table(
            {recipe: rounds_of(recipe, str(folder), pythons, options) for recipe in augment_recipes.RECIPES}
        )
        print(pipelines, flush=True)
        if options.out is not None:
            (options.out / "augment.md").write_text(page(pipelines, kernels, peer, load, options))

    measuring.with_class_folders(options.folder, compare)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:])), flush=True)
    else:
        main()
