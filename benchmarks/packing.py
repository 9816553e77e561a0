"""Packing images into records: `headrace pack` and MXNet 1.9.1's im2rec.py on the same list, in alternation.

Both resize the shorter edge to 256 pixels and encode JPEGs, im2rec.py with as many processes as there are cores. The
first run installs MXNet into a virtual environment. Times are those of whole commands, start and import included. The
files that both wrote are compared.
"""

import argparse
import filecmp
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "compare"))

from compare import make_environment  # noqa: E402
from peers import mxnet  # noqa: E402

from headrace import pack  # noqa: E402

IMAGENET = 1_281_167


def write_list(listing: pathlib.Path, folder: pathlib.Path, images: int) -> None:
    """So many lines, going round the images of the folder."""
    pack.make_lists(listing.with_suffix(""), folder, recursive=True, shuffle=False)
    lines = [line.split("\t", 1)[1] for line in listing.read_text().splitlines()]
    listing.write_text("".join(f"{i}\t{lines[i % len(lines)]}\n" for i in range(images)))


def seconds_of(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="images, in folders below it or not")
    parser.add_argument("--pictures", type=int, default=2000, help="lines of the list (2000)")
    parser.add_argument("--resize", type=int, default=256)
    parser.add_argument("--quality", type=int, default=95)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "peers")
    options = parser.parse_args()
    venv = options.venvs / "peers-mxnet"
    make_environment(venv, mxnet.REQUIREMENTS)
    (tool,) = venv.glob("lib/python*/site-packages/mxnet/tools/im2rec.py")
    with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
        ours, theirs = (pathlib.Path(temporary) / name / "set.lst" for name in ("headrace", "mxnet"))
        for listing in (ours, theirs):
            listing.parent.mkdir()
            write_list(listing, options.folder, options.pictures)
        work = [f"--resize={options.resize}", f"--quality={options.quality}"]
        commands = {
            "headrace": [sys.executable, "-m", "headrace", "pack", *work],
            "mxnet": [str(venv / "bin/python"), str(tool), *work, f"--num-thread={os.cpu_count()}"],
        }
        rates: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(options.rounds):
            for (name, command), listing in zip(commands.items(), (ours, theirs), strict=True):
                seconds = seconds_of([*command, str(listing.with_suffix("")), str(options.folder.resolve())])
                rates[name].append(options.pictures / seconds)
            print(f"round {number + 1}: " + ", ".join(f"{name} {rates[name][-1]:,.0f}" for name in rates), flush=True)
        same = filecmp.cmp(ours.with_suffix(".rec"), theirs.with_suffix(".rec"), shallow=False)
        size = ours.with_suffix(".rec").stat().st_size / options.pictures
    report(rates, size, same)


def report(rates: dict[str, list[float]], size: float, same: bool) -> None:
    for name, found in rates.items():
        print(f"{name}: {statistics.median(found):,.0f} images a second ({min(found):,.0f} to {max(found):,.0f})")
    ratios = [ours / theirs for ours, theirs in zip(rates["headrace"], rates["mxnet"], strict=True)]
    print(f"ratio: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    minutes = IMAGENET / statistics.median(rates["headrace"]) / 60
    print(
        f"{size / 1e3:,.1f} KB an image; {IMAGENET:,} images take {minutes:,.0f} minutes and {IMAGENET * size / 1e9:,.0f} GB"
    )
    print("both wrote the same bytes" if same else "the two files differ")


if __name__ == "__main__":
    main()
