"""One process of a soak: works on one chain after the other until it is told to stop, is killed or finds a wrong row.

Prints its progress as lines of JSON.
"""

import argparse
import errno
import faulthandler
import importlib
import json
import pathlib
import random
import resource
import signal
import sys
import time
import traceback
from types import FrameType
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import headrace as hr  # noqa: E402
from tests import example_plugins  # noqa: E402
from tests.pipelines import HAS_PARQUET  # noqa: E402
from tools.soak import figures  # noqa: E402
from tools.soak.chain import Chain, Report, locked  # noqa: E402
from tools.soak.changing import Changing  # noqa: E402
from tools.soak.reshard import Reshard  # noqa: E402

PACKAGE = str(pathlib.Path(hr.__file__).parent)
CHAINS, RESHARDS, CHANGING = 12, 4, 3
SECONDS_BETWEEN_FIGURES = 2.0


class Interrupts:
    """Ctrl-C that only reaches Headrace: while the worker itself counts rows, an exception would lose one."""

    def __init__(self) -> None:
        self._armed = False
        signal.signal(signal.SIGINT, self._received)

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self._armed and frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
            self._armed = False
            raise KeyboardInterrupt

    def next_row(self, iterator: hr.Iterator) -> dict[str, Any]:
        self._armed = True
        try:
            return next(iterator)
        finally:
            self._armed = False


def say(report: Report) -> None:
    print(json.dumps(report), flush=True)


def limit_memory(more: int) -> None:
    """Limits the address space of the process to so many bytes more than now."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


PYARROW = ("pyarrow.dataset", "pyarrow.parquet")


class Worker:
    def __init__(self, root: pathlib.Path, seed: int, number: int, short_of_memory: bool) -> None:
        self._root, self._seed, self._short = root, seed, short_of_memory
        self._rng = random.Random(f"{seed} {number} {time.time_ns()}")
        self._interrupts = Interrupts()

    def leg(self) -> Report | None:
        """None if another process works there."""
        kind, most = self._rng.choice([("chain", CHAINS)] * 6 + [("reshard", RESHARDS), ("changing", CHANGING)])
        if self._short:
            kind, most = "chain", CHAINS
        folder = self._root / f"chains/{kind}-{self._rng.randrange(most)}"
        folder.mkdir(exist_ok=True, parents=True)
        with locked(folder) as mine:
            if not mine:
                return None
            if kind == "chain":
                return self._chain(folder)
            if kind == "reshard":
                return Reshard(self._root, folder, self._seed).leg(self._rng)
            return Changing(self._root, folder).leg(self._rng)

    def _chain(self, folder: pathlib.Path) -> Report:
        try:
            chain = Chain(self._root, folder, self._seed)
            if self._short and chain.drawn.of_pyarrow:
                return None
            return chain.leg(self._rng, self._interrupts.next_row)
        except (hr.ResourceError, MemoryError, OSError) as error:
            refused = not isinstance(error, OSError) or error.errno == errno.ENOMEM
            if not self._short or not refused:
                raise
            return {"refused_memory": 1}

    def run(self) -> None:
        # Before memory is limited: a library that cannot be mapped is not told from one that is no plugin or module.
        for imported_late in ("headrace._workers.processes", "cloudpickle", *(PYARROW if HAS_PARQUET else ())):
            importlib.import_module(imported_late)
        example_plugins.frames()
        example_plugins.gauge()
        if self._short:
            # A part is used before the first pipeline, so that threads and buffers fail too.
            limit_memory(self._rng.choice([8, 32, 128, 256]) << 20)
        measured = time.monotonic()
        while True:
            report = self.leg()
            if report is not None:
                say(report)
            if time.monotonic() - measured > SECONDS_BETWEEN_FIGURES:
                say({"figures": figures.measure()})
                measured = time.monotonic()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--short-of-memory", action="store_true")
    given = parser.parse_args()
    worker = Worker(given.folder, given.seed, given.number, given.short_of_memory)
    # Prints the stack of every thread if the supervisor finds a hang.
    faulthandler.register(signal.SIGUSR1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        worker.run()
    except Exception:
        say({"failure": traceback.format_exc()})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
