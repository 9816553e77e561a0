"""The cost of `import headrace`: wall time beyond starting Python, and the installed size. Aims: 120 ms, 40 MB."""

import argparse
import importlib.util
import pathlib
import statistics
import subprocess
import sys
import time

import measuring


def milliseconds(code: str, rounds: int) -> list[float]:
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def installed_bytes() -> int:
    """The package and the libraries that its wheel puts beside it."""
    spec = importlib.util.find_spec("headrace")
    if spec is None or spec.origin is None:
        sys.exit("headrace is not installed here: run ./quickstart once")
    package = pathlib.Path(spec.origin).parent
    folders = [package, package.parent / "headrace.libs"]
    files = {path.resolve() for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts}
    return sum(path.stat().st_size for path in files if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    size = installed_bytes()
    milliseconds("import headrace", 1)  # the first import reads from the disk, and compiles
    start = milliseconds("pass", rounds)
    numpy = milliseconds("import numpy", rounds)
    headrace = milliseconds("import headrace", rounds)
    base = statistics.median(start)
    print(f"import headrace: {statistics.median(headrace) - base:.0f} ms (spread {measuring.spread(headrace):.1%})")
    print(f"  of which NumPy: {statistics.median(numpy) - base:.0f} ms; starting Python itself: {base:.0f} ms")
    print(f"installed: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
