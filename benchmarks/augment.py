"""Augmentation beside other libraries, those whose definitions Headrace follows and those that are fast.

Pipelines: torchvision's reference training and SimCLR's two views, from JPEG files to batches, in Headrace and in each peer of
augment_peers/, with two workers; images a second, and for each second of CPU time. Kernels: a call of each on one image of
512 × 512, on one thread, beside Pillow, OpenCV or torchvision; CPU time. All in alternation, each measurement in a process of its
own; ratios are of rounds. With --out, the page is written to a folder. The first run installs the peers into virtual
environments, 10 GB; Pillow-SIMD is compiled there.
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
import torchvision_loader  # noqa: E402
from child import peer_module  # noqa: E402

PEERS = HERE / "augment_peers"
OWN = "headrace"
KERNELS = "kernels"
SECOND, CPU_SECOND = "a second", "a CPU second"
WORKERS = 2
# A load average up to which the machine is quiet.
QUIET = 0.3
IMAGE = HERE.parent / "examples/photos/people/astronaut.jpg"


def load_peers(names: list[str] | None = None) -> dict[str, Any]:
    """The modules by name, Headrace first; of all peers if no names are given."""
    known = sorted(file.stem for file in PEERS.glob("*.py"))
    for name in names or []:
        if name not in known:
            sys.exit(f"there is no peer {name!r}; there are: {', '.join(known)}")
    return {name: peer_module(str(PEERS), name) for name in [OWN, *(n for n in names or known if n != OWN)]}


def measure_pipeline(side: str, recipe: str, folder: str, images: int) -> dict[str, float]:
    """Images a second, and for each second of CPU time of all processes; a third as many come first and are not counted."""
    batches = peer_module(str(PEERS), side).batches(recipe, folder, WORKERS)
    augment_recipes.check_batch(recipe, next(batches))
    count = max(1, images // augment_recipes.BATCH)
    for _ in range(count // 3):
        next(batches)
    begin, used = time.perf_counter(), process_tree.cpu_seconds(os.getpid())
    for _ in range(count):
        next(batches)
    seconds, cpu = time.perf_counter() - begin, process_tree.cpu_seconds(os.getpid()) - used
    made = count * augment_recipes.BATCH
    return {SECOND: made / seconds, CPU_SECOND: made / cpu}


def measure(side: str, what: str, folder: str, images: str, seconds: str) -> dict[str, float]:
    if what != KERNELS:
        return measure_pipeline(side, what, folder, int(images))
    calls = augment_kernels.headrace_calls if side == OWN else augment_kernels.peer_calls
    return augment_kernels.nanoseconds(calls(str(IMAGE)), float(seconds))


def rounds_of(what: str, folder: str, pythons: dict[str, str], options: argparse.Namespace) -> dict[str, list[Any]]:
    """By side: what each round measured."""
    arguments = (what, folder, options.pictures, options.seconds)
    return measuring.in_alternation(__file__, pythons, options.rounds, *arguments, said=what)


def ranged(values: list[float], digits: int) -> str:
    low, middle, high = (f"{value:,.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low}–{high})"


def ratios(ours: list[float], theirs: list[float]) -> list[float]:
    return [our / their for our, their in zip(ours, theirs, strict=True)]


def times_as_many(ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> list[str]:
    """Images a second, and for each second of CPU time."""
    return [ranged(ratios(ours[what], theirs[what]), 2) for what in (SECOND, CPU_SECOND)]


def work_of(side: str, recipe: str, peers: dict[str, Any], rates: dict[str, Any]) -> str:
    """How near it is to torchvision's, and how many times as many images as the peer whose work it is."""
    peer = peers[side]
    work = peer.DIFFERS.get(recipe, "as torchvision's")
    like = getattr(peer, "LIKE", None)
    if like not in rates:
        return str(work)
    second, cpu_second = times_as_many(rates[side], rates[like])
    return f"{work}; to {peers[like].TITLE}, which does the same: {second} a second, {cpu_second} a CPU second"


def of_recipe(recipe: str, peers: dict[str, Any]) -> list[str]:
    """The sides that do it."""
    return [side for side, peer in peers.items() if recipe in getattr(peer, "RECIPES", augment_recipes.RECIPES)]


def pipeline_table(peers: dict[str, Any], found: dict[str, dict[str, list[Any]]]) -> str:
    """By recipe, the fastest first, with how many times as many images Headrace gives."""
    lines = [
        "| recipe | library | a second | a CPU second | Headrace to it, a second | a CPU second | work |",
        "| --- | --- | --: | --: | --: | --: | --- |",
    ]
    for recipe, of_sides in found.items():
        rates = {
            side: {what: [run[what] for run in runs] for what in (SECOND, CPU_SECOND)}
            for side, runs in of_sides.items()
        }
        for side in sorted(rates, key=lambda side: -statistics.median(rates[side][SECOND])):
            cells = [ranged(values, 0) for values in rates[side].values()]
            cells += ["–", "–"] if side == OWN else times_as_many(rates[OWN], rates[side])
            work = work_of(side, recipe, peers, rates)
            lines.append(f"| {recipe} | {peers[side].TITLE} | {' | '.join(cells)} | {work} |")
    return "\n".join(lines)


def kernel_table(found: dict[str, list[dict[str, float]]]) -> str:
    """How many times as fast as the library, the slowest first."""
    rows = []
    for name, library in augment_kernels.LIBRARIES.items():
        ours, theirs = ([each[name] for each in found[side]] for side in (OWN, "peer"))
        ratio = ratios(theirs, ours)
        micros = [statistics.median(values) / 1000 for values in (ours, theirs)]
        cells = " | ".join(f"{value:,.1f}" for value in micros)
        rows.append((statistics.median(ratio), f"| {name} | {library} | {cells} | {ranged(ratio, 2)} |"))
    header = ["| kernel | library | Headrace, µs | library, µs | times as fast |", "| --- | --- | --: | --: | --: |"]
    return "\n".join(header + [line for _, line in sorted(rows)])


def versions(pythons: dict[str, str], peers: dict[str, Any]) -> str:
    """Of each library, once."""
    script = "import importlib.metadata as m, sys; print(*map(m.version, sys.argv[1:]))"
    found: dict[str, str] = {}
    for side, peer in peers.items():
        command = [pythons[side], "-c", script, *peer.DISTRIBUTIONS]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found |= dict(zip(peer.DISTRIBUTIONS, done.stdout.split(), strict=True))
    return ", ".join(f"{name} {version}" for name, version in found.items())


def page(
    pipelines: str, kernels: str, peers: dict[str, Any], libraries: str, load: float, options: argparse.Namespace
) -> str:
    import machine
    from compare import LINKS

    import headrace

    about = machine.describe()
    numbers = {"rounds": options.rounds, "pictures": options.pictures, "seconds": options.seconds}
    command = ["benchmarks/augment.py", "DIR", *(f"--{name}={value}" for name, value in numbers.items())]
    command += [f"--peers={','.join(options.peers)}"] if options.peers else []
    recipes = "\n".join(f"- **{name}**: {text}." for name, text in augment_recipes.RECIPES.items())
    setups = "\n".join(f"- **{peer.TITLE}**: {peer.SETUP}." for peer in peers.values())
    return f"""# Augmentation

Written by `benchmarks/augment.py` on {about["date"]}; medians of {options.rounds} alternating rounds, in brackets the lowest and the highest.

    .venv/bin/python {shlex.join(command)} --out docs/benchmarks

{about["cpu"]}, {about["cores"]} cores, Linux {about["kernel"]}, Python {about["python"]}; Headrace {headrace.__version__}, {libraries}.
The load average was {load:.1f} before the run{": other processes used the cores meanwhile, and ratios say more than times" if load > QUIET else ""}.

## Pipelines

Images a second, and for each second of CPU time of all processes, from JPEG files to batches of {augment_recipes.BATCH}, with {WORKERS} workers, and how many times as many Headrace gives; the aim is 3 to torchvision's v2 over a DataLoader, and 1.5 to the next. {options.pictures} images a measurement; each file is linked {LINKS} times to make an epoch.

{pipelines}

{recipes}

The work is torchvision's for PIL images or for tensors, or near it where the table says so. Settings:

{setups}

## Kernels

A call on one image of 512 × 512 RGB, on one thread, beside the library whose definition the kernel follows: Headrace takes and gives a NumPy array, Pillow its images, torchvision tensors. CPU time, the best of runs of 10 ms over {options.seconds} s. The slowest ones come first; the aim is 0.9 for each.

{kernels}

MixUp and CutMix take a batch of 32 images of 224 × 224, floats. Brightness, contrast, saturation, hue, gamma, sharpness, affine and perspective are torchvision's functions over Pillow.
Kernels beside Pillow and OpenCV give the same pixels, `Perspective` but for single ones. In a map, neighbours share a pass over the pixels, and a chain costs less than its kernels do alone.
"""


def install(peer: Any, venvs: pathlib.Path) -> str:
    """Makes the peer's environment, unless it is there; returns its Python."""
    from compare import PeerError, make_environment

    if not peer.REQUIREMENTS:
        return sys.executable
    venv = venvs / f"peers-{peer.VENV}"
    try:
        make_environment(venv, peer.REQUIREMENTS, getattr(peer, "BUILD", {}))
    except PeerError as error:
        needs = f" (it needs Debian's {', '.join(peer.DEBIAN)})" if hasattr(peer, "DEBIAN") else ""
        sys.exit(f"{venv}: {error}{needs}")
    return str(venv / "bin/python")


def main() -> None:
    from compare import link_images

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="images, in class folders or not")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pictures", type=int, default=960, help="that a pipeline gives in a measurement (960)")
    parser.add_argument("--seconds", type=float, default=0.2, help="that a kernel is measured (0.2)")
    parser.add_argument(
        "--peers", type=lambda text: text.split(","), help="some of them, beside Headrace: pil,dali; else all"
    )
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "peers")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the page, augment.md")
    options = parser.parse_args()

    load = os.getloadavg()[0]
    peers = load_peers(options.peers)
    venvs = options.venvs.resolve()
    pythons = {side: install(peer, venvs) for side, peer in peers.items()}
    kernels = kernel_table(
        rounds_of(KERNELS, "", {OWN: sys.executable, "peer": install(torchvision_loader, venvs)}, options)
    )
    print(kernels, flush=True)
    with tempfile.TemporaryDirectory(prefix="headrace_augment_") as folder:
        link_images(options.folder.resolve(), pathlib.Path(folder))
        found = {
            recipe: rounds_of(recipe, folder, {side: pythons[side] for side in of_recipe(recipe, peers)}, options)
            for recipe in augment_recipes.RECIPES
        }
    pipelines = pipeline_table(peers, found)
    print(pipelines, flush=True)
    if options.out is not None:
        libraries = versions(pythons, peers)
        (options.out / "augment.md").write_text(page(pipelines, kernels, peers, libraries, load, options))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:])), flush=True)
    else:
        main()
