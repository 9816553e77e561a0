"""Code that benchmarks share: separate processes for measurements, medians and spreads, and test images."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
PHOTOS = ROOT / "examples" / "photos"
MEBIBYTE = 1 << 20


def in_own_process(
    script: str,
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    python: str = sys.executable,
) -> Any:
    """Runs this script again with `arguments`, and `environment` added to its own, by the interpreter `python`; returns
    its output, read as JSON.

    Raises subprocess.TimeoutExpired after `timeout` seconds. Disables the threads of NumPy's OpenBLAS, which keep a core
    busy for a while after NumPy is loaded.
    """
    command = [python, os.path.abspath(script), *map(str, arguments)]
    variables = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **(environment or {})}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=variables, timeout=timeout)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


def in_alternation(
    script: str, pythons: Mapping[str, str], rounds: int, *arguments: object, said: str = ""
) -> dict[str, list[Any]]:
    """Runs `script --measure SIDE ARGUMENTS` for each side in turn, by the side's interpreter; each in its own process.

    Returns by side what each round printed last, read as JSON. `said`: what was measured, to say so on stderr each time.
    OpenBLAS has one thread, as in `in_own_process`. A run that fails ends this one, with the end of what it said.
    """
    found: dict[str, list[Any]] = {side: [] for side in pythons}
    variables = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    for _ in range(rounds):
        for side, python in pythons.items():
            command = [python, os.path.abspath(script), "--measure", side, *map(str, arguments)]
            done = subprocess.run(command, capture_output=True, text=True, env=variables)
            if done.returncode != 0:
                sys.exit(f"failed: {' '.join(command)}\n{done.stderr[-2000:]}")
            found[side].append(json.loads(done.stdout.splitlines()[-1]))
            if said:
                print(f"{said}, {side}: measured", file=sys.stderr, flush=True)
    return found


def spread(values: Sequence[float]) -> float:
    """The difference of the highest and the lowest value, as a fraction of the median."""
    return (max(values) - min(values)) / statistics.median(values)


def summary(values: Sequence[float], digits: int = 0) -> str:
    return f"median {statistics.median(values):,.{digits}f}, spread {spread(values):.1%}"


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """The ratio of figures measured in alternation: of the medians, and round by round."""
    rounds = [our / their for our, their in zip(ours, theirs, strict=True)]
    return (
        f"{statistics.median(ours) / statistics.median(theirs):.3f} of the medians; "
        f"round by round median {statistics.median(rounds):.3f}, {min(rounds):.3f} to {max(rounds):.3f}"
    )


def resident_bytes() -> int:
    """The resident memory of this process."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_resident_bytes() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def with_class_folders(folder: pathlib.Path, use: Callable[[pathlib.Path], None]) -> None:
    """Calls `use` with the folder or, if it holds images directly, with class folders of links to them.

    The class is the part of a name before the first "_", as ImageNet names its files.
    """
    if not folder.is_dir():
        sys.exit(f"{folder} is not a folder of images")
    if any(entry.is_dir() for entry in folder.iterdir()):
        use(folder)
        return
    with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
        for entry in folder.iterdir():
            link_folder = pathlib.Path(temporary) / entry.name.split("_")[0].split(".")[0]
            link_folder.mkdir(exist_ok=True)
            (link_folder / entry.name).symlink_to(entry.resolve())
        use(pathlib.Path(temporary))


def rows_of(batch: Mapping[str, Any], column: str) -> int:
    """The number of a batch's rows; a ragged column has its values end to end, and the splits of its rows beside it."""
    splits = batch.get(f"{column}_splits")
    return len(batch[column]) if splits is None else len(splits) - 1
