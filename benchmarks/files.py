"""Files per second without decoding: hr.Files over files of 110 KB in the page cache, given as memoryview and as bytes,
and a hand-written loop, in alternation.

Aim: at least 0.8 of the loop on as many threads as there are cores. The loop reads into a buffer that it reuses and
hands nothing over; see read_loop.cc. Each run has its own process. The files are 1,000 under many names.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import measuring

FILES = 1000


def write_files(folder: pathlib.Path, size: int, count: int) -> None:
    """FILES files under `count` names."""
    random = os.urandom(size)
    for number in range(min(FILES, count)):
        (folder / f"{number:06}.bin").write_bytes(random[number:] + random[:number])
    for number in range(FILES, count):
        os.link(folder / f"{number % FILES:06}.bin", folder / f"{number:06}.bin")


def run_pipeline(folder: str, bytes_as: str, files: int, warm_up: int, explain: bool) -> None:
    """Prints files per second as JSON; each file is one row with its path and its bytes."""
    import headrace as hr

    with hr.Files(f"{folder}/*.bin").iterate(bytes_as=bytes_as) as rows:
        for _ in range(warm_up):
            len(next(rows)["data"])
        read = 0
        begin = time.perf_counter()
        for _ in range(files):
            read += len(next(rows)["data"])
        seconds = time.perf_counter() - begin
        if explain:
            print(rows.explain(), file=sys.stderr)
    print(json.dumps({"rate": files / seconds, "bytes_per_second": read / seconds}))


def run_loop(program: str, folder: pathlib.Path, options: argparse.Namespace) -> float:
    command = [program, str(folder), "--threads", options.threads, "--files", options.files, "--warm-up"]
    done = subprocess.run([*map(str, command), str(options.warm_up)], capture_output=True, text=True)
    found = re.match(r"([\d.]+(?:e\+\d+)?) files/s", done.stdout)
    if done.returncode != 0 or found is None:
        sys.exit(f"{program} failed:\n{done.stdout}{done.stderr}")
    return float(found[1])


def alternate(folder: pathlib.Path, options: argparse.Namespace) -> None:
    program = options.loop or str(measuring.ROOT / "bazel-bin" / "benchmarks" / "read_loop")
    if not pathlib.Path(program).is_file():
        sys.exit(f"{program} is not there: build it with 'bazel build //benchmarks:read_loop', or say --loop PATH")
    rates: dict[str, list[float]] = {"memoryview": [], "bytes": [], "loop": []}
    for number in range(options.rounds):
        for bytes_as in ("memoryview", "bytes"):
            child = ["--child", folder, "--bytes-as", bytes_as, "--files", options.files, "--warm-up", options.warm_up]
            child += ["--explain"] if options.explain and number == 0 else []
            rates[bytes_as].append(measuring.in_own_process(__file__, *child)["rate"])
        rates["loop"].append(run_loop(program, folder, options))
        print(f"{number + 1}: " + "  ".join(f"{name} {found[-1]:,.0f}" for name, found in rates.items()), flush=True)
    for name, found in rates.items():
        print(f"{name}: {measuring.summary(found)} files a second")
    for bytes_as in ("memoryview", "bytes"):
        print(f"{bytes_as} / loop: {measuring.ratio(rates[bytes_as], rates['loop'])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=30_000, help="measured in each round")
    parser.add_argument("--warm-up", type=int, default=5_000, help="files before the clock starts")
    parser.add_argument("--bytes", type=int, default=110_000, help="of each file")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the loop")
    parser.add_argument("--loop", help="the built //benchmarks:read_loop; default: bazel-bin's")
    parser.add_argument("--explain", action="store_true", help="print the first round's report")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--bytes-as", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_pipeline(options.child, options.bytes_as, options.files, options.warm_up, options.explain)
        return
    with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
        write_files(pathlib.Path(temporary), options.bytes, options.warm_up + options.files)
        alternate(pathlib.Path(temporary), options)


if __name__ == "__main__":
    main()
