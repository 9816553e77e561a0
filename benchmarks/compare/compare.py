"""Compares Headrace with its peers: the same work on the same files, in alternation, each in its own environment.

Installs every peer from PyPI into a virtual environment (once), lets each write the file it needs, then measures all of
them round by round, and prints the table. With --out, the page, the plot and the figures are written to a folder, which
needs a machine that does nothing else. The first run downloads about 4 GB; five rounds take a quarter of an hour or so.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import machine  # noqa: E402
import process_tree  # noqa: E402
import table  # noqa: E402
from child import peer_module  # noqa: E402

# Links to each image, so that an epoch is long enough for peers that pause at its end.
LINKS = 16
# Cores that other processes may keep busy if the figures are to be kept.
QUIET = 0.3
SAMPLE_S = 0.25
PLOT_REQUIREMENTS = ("matplotlib==3.10.7",)


class PeerError(Exception):
    """Why a peer could not be installed or measured."""


def last_line(text: str) -> str:
    """The last meaningful line of an error, without colours."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()]
    telling = [line for line in lines if re.search(r"^(\w+\.)*\w+(Error|Exception)\b.*:|^ERROR:", line)] or [
        line for line in lines if line and not line.startswith("note:")
    ]
    return telling[-1][:200] if telling else "it said nothing"


@dataclasses.dataclass
class Peer:
    name: str
    module: Any
    python: pathlib.Path
    data: str = ""
    installed_mb: float | None = None
    runs: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    error: str | None = None

    def result(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.module.TITLE,
            "setup": self.module.SETUP,
            "requirements": list(self.module.REQUIREMENTS),
            "installed_mb": self.installed_mb,
            "runs": self.runs,
            "error": self.error,
        }


def megabytes_of(*folders: pathlib.Path) -> float:
    return sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file()) / 1e6


def packages_of(venv: pathlib.Path) -> list[pathlib.Path]:
    """The size of everything that pip installed, except pip itself."""
    return [
        entry
        for site in venv.glob("lib/python*/site-packages")
        for entry in site.iterdir()
        if entry.is_dir() and not re.match(r"pip\b|pip-|_distutils_hack|__pycache__", entry.name)
    ]


def make_environment(venv: pathlib.Path, requirements: tuple[str, ...], build: Mapping[str, str] | None = None) -> None:
    """Does nothing if the same requirements were installed before.

    `build`: variables for what pip compiles, which then takes no wheel that it kept from another build.
    """
    done = venv / "installed.json"
    if done.is_file() and json.loads(done.read_text()) == list(requirements):
        return
    subprocess.run(["/usr/bin/python3", "-m", "venv", str(venv)], check=True)
    options = ["--quiet", "--disable-pip-version-check", *(["--no-cache-dir"] if build else [])]
    pip = subprocess.run(
        [str(venv / "bin/pip"), "install", *options, *requirements],
        capture_output=True,
        text=True,
        env={**os.environ, **(build or {})},
    )
    if pip.returncode != 0:
        raise PeerError(f"pip: {last_line(pip.stderr)}")
    done.write_text(json.dumps(list(requirements)))


def install(peer: Peer, venvs: pathlib.Path) -> None:
    if not peer.module.REQUIREMENTS:
        import numpy

        import headrace

        own = [pathlib.Path(module.__file__).parent for module in (headrace, numpy)]
        peer.installed_mb = megabytes_of(*own, pathlib.Path(own[1].parent, "numpy.libs"))
        return
    venv = venvs / f"peers-{peer.name}"
    print(f"{peer.name}: {venv}", flush=True)
    try:
        make_environment(venv, peer.module.REQUIREMENTS)
    except PeerError as error:
        needs = f" (it needs Debian's {', '.join(peer.module.DEBIAN)})" if peer.module.DEBIAN else ""
        raise PeerError(f"{error}{needs}") from None
    peer.installed_mb = megabytes_of(*packages_of(venv))


class MemoryWatch:
    """The most memory that a process and its descendants held while it ran."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._over.wait(SAMPLE_S):
            self.peak = max(self.peak, process_tree.memory_bytes(self._pid))

    def __enter__(self) -> "MemoryWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def run_child(peer: Peer, peers: pathlib.Path, task: str, *arguments: object, timeout: float = 900) -> dict[str, Any]:
    """The child's output, and its peak memory."""
    command = [str(peer.python), str(HERE / "child.py"), str(peers), peer.name, task, *map(str, arguments)]
    environment = dict(os.environ)
    if peer.module.REQUIREMENTS:
        environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        try:
            with MemoryWatch(process.pid) as watch:
                printed, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            for pid in process_tree.processes(process.pid)[::-1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            raise PeerError(f"{task} did not end in {timeout:.0f} s") from None
        if process.returncode != 0:
            errors.seek(0)
            raise PeerError(f"{task}: {last_line(errors.read())}")
    result: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
    return {**result, "peak_bytes": watch.peak}


def link_images(folder: pathlib.Path, target: pathlib.Path) -> tuple[int, float]:
    """Class folders with LINKS links to each image. The class is the part of the name before "_" if the folder has
    no class folders. Returns the number of images and their size in MB."""
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in (".jpeg", ".jpg"))
    if not files:
        sys.exit(f"there are no JPEG files in {folder}")
    for file in files:
        label = file.parent.name if file.parent != folder else file.name.split("_")[0]
        (target / label).mkdir(parents=True, exist_ok=True)
        for number in range(LINKS):
            (target / label / f"{number:02}_{file.name}").symlink_to(file.resolve())
    return len(files), sum(file.stat().st_size for file in files) / 1e6


def measure(peer: Peer, peers: pathlib.Path, options: argparse.Namespace) -> None:
    images = run_child(peer, peers, "images", peer.data, options.workers, options.warm_up, options.images)
    rows = run_child(peer, peers, "rows", options.rows, options.workers)
    images["ns_per_row"] = rows["ns_per_row"]
    peer.runs.append(images)
    row = "" if rows["ns_per_row"] is None else f", {rows['ns_per_row'] / 1e3:.2f} µs a row"
    print(f"  {peer.name:12} {images['images_per_s']:8,.0f} images/s{row}", flush=True)


def guarded(peer: Peer, step: Any, *arguments: Any) -> None:
    """Measures all peers; one that fails is left out from then on, and the reason goes into the table."""
    try:
        step(peer, *arguments)
    except (PeerError, subprocess.CalledProcessError, json.JSONDecodeError, IndexError) as error:
        peer.error = str(error)
        print(f"  {peer.name}: {error}", flush=True)


def load_peers(options: argparse.Namespace) -> list[Peer]:
    known = sorted(file.stem for file in options.peers_folder.glob("*.py"))
    names = options.peers or sorted(known, key=lambda name: (name != "headrace", name))
    for name in names:
        if name not in known:
            sys.exit(f"there is no peer {name!r}; there are: {', '.join(known)}")
    found = []
    for name in names:
        module = peer_module(str(options.peers_folder), name)
        own = options.venvs / f"peers-{name}" / "bin" / "python"
        found.append(Peer(name, module, own if module.REQUIREMENTS else pathlib.Path(sys.executable)))
    return found


def prepare(peer: Peer, peers: pathlib.Path, folder: pathlib.Path, scratch: pathlib.Path) -> None:
    own = scratch / peer.name
    own.mkdir()
    peer.data = run_child(peer, peers, "prepare", folder, own)["data"]


def compare(options: argparse.Namespace) -> dict[str, Any]:
    peers = load_peers(options)
    for peer in peers:
        guarded(peer, install, options.venvs)
    if options.install_only:
        return {"peers": [peer.result() for peer in peers]}
    with tempfile.TemporaryDirectory(prefix="headrace_compare_") as temporary:
        scratch = pathlib.Path(temporary)
        images, megabytes = link_images(options.folder.resolve(), scratch / "pictures")
        for peer in peers:
            if peer.error is None:
                guarded(peer, prepare, options.peers_folder, scratch / "pictures", scratch)
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", flush=True)
            for peer in peers:
                if peer.error is None:
                    guarded(peer, measure, options.peers_folder, options)
    settings = {
        "rounds": options.rounds,
        "images": options.images,
        "warm_up": options.warm_up,
        "rows": options.rows,
        "workers": options.workers,
        "links": LINKS,
        "pictures": images,
        "megabytes": megabytes,
    }
    return {"machine": machine.describe(), "settings": settings, "peers": [peer.result() for peer in peers]}


def write(results: dict[str, Any], out: pathlib.Path, venvs: pathlib.Path) -> None:
    """Writes compare.json, compare.svg if matplotlib can be installed, and compare.md."""
    out.mkdir(parents=True, exist_ok=True)
    figures = out / "compare.json"
    figures.write_text(json.dumps(results, indent=1) + "\n")
    plot: str | None = "compare.svg"
    venv = venvs / "peers-plot"
    try:
        make_environment(venv, PLOT_REQUIREMENTS)
        command = [str(venv / "bin/python"), str(HERE / "plot.py"), str(figures), str(out / "compare.svg")]
        subprocess.run(command, check=True)
    except (PeerError, subprocess.CalledProcessError) as error:
        print(f"no plot: {error}", file=sys.stderr)
        plot = None
    (out / "compare.md").write_text(table.page(results, plot))


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of JPEG files, in class folders or not")
    parser.add_argument("--venvs", type=pathlib.Path, required=True, help="where the environments are, or are made")
    parser.add_argument("--peers", type=lambda text: text.split(","), help="some of them: torch,dali; else all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--images", type=int, default=3200, help="timed in each round")
    parser.add_argument("--warm-up", type=int, default=640, help="images before the clock starts")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="for peers that ask")
    parser.add_argument("--out", type=pathlib.Path, help="folder for compare.md, compare.json and compare.svg")
    parser.add_argument("--install-only", action="store_true")
    parser.add_argument("--peers-folder", type=pathlib.Path, default=HERE / "peers", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.out is not None and machine.busy_cores() > QUIET:
        print(
            f"the machine is busy (load {machine.busy_cores():.2f}): figures that are kept need a quiet one; "
            "wait, or leave out --out",
            file=sys.stderr,
        )
        return 1
    options.venvs.mkdir(parents=True, exist_ok=True)
    options.venvs = options.venvs.resolve()
    began = time.monotonic()
    results = compare(options)
    if options.install_only:
        return int(any(peer["error"] for peer in results["peers"]))
    print("\n" + table.table(results["peers"]))
    print(f"\nTook {(time.monotonic() - began) / 60:.0f} minutes.")
    if options.out is not None:
        write(results, options.out, options.venvs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
