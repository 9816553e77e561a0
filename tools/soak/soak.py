"""Soaks the engine: processes that share files and caches run random pipelines, while they are killed, interrupted and
starved. Every row is compared with one plain run. ./soak calls it after the set-up.

Stress: SIGKILL and Ctrl-C at random moments, 1,024 descriptors, small budgets, address space that runs out,
states restored in other processes with other workers and other numbers of ranks, files replaced while they are read,
damaged images. One process is never killed; its resident memory, threads, descriptors and idle CPU must not grow.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import random
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests import example_plugins  # noqa: E402
from tests.pipelines import write_data  # noqa: E402
from tools.soak import figures  # noqa: E402

DESCRIPTORS = 1024
SECONDS_WITHOUT_A_WORD = 180.0
PART_SHORT_OF_MEMORY = 0.3
# Messages of the C library if there is no memory for a thread's own data, an error that cannot be caught.
LIBRARY_GAVE_UP = [
    "cannot allocate memory for thread-local data",
    "failed to register TLS destructor",
]
MEAN_SECONDS_TO_A_KILL = 3.0
MEAN_SECONDS_TO_AN_INTERRUPT = 0.3


@dataclasses.dataclass
class Process:
    number: int
    hunted: bool
    popen: subprocess.Popen[bytes]
    errors: IO[bytes]
    line: bytes = b""
    # It has printed something, so it handles signals.
    ready: bool = False
    heard: float = dataclasses.field(default_factory=time.monotonic)
    measured: list[figures.Figures] = dataclasses.field(default_factory=list)


class Soak:
    def __init__(self, folder: pathlib.Path, seed: int, processes: int) -> None:
        self._folder, self._seed, self._wanted = folder, seed, processes
        self._rng = random.Random(seed)
        self._selector = selectors.DefaultSelector()
        self._processes: dict[int, Process] = {}
        self._started = 0
        self.counts: collections.Counter[str] = collections.Counter()
        self.failures: list[str] = []

    def prepare(self) -> None:
        if not (self._folder / "data").exists():
            (self._folder / "data").mkdir(parents=True)
            write_data(self._folder / "data", ROOT / "examples/photos")
        example_plugins.build_all()
        for name in ("cache", "chains", "errors"):
            (self._folder / name).mkdir(exist_ok=True)

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self._start(hunted=False)
        while time.monotonic() < end and not self.failures:
            while len(self._processes) < self._wanted:
                self._start(hunted=True)
            self._listen(0.05)
            self._harass(0.05)
            self._look_for_hangs()
        self._stop()

    def _start(self, hunted: bool) -> None:
        self._started += 1
        errors = (self._folder / f"errors/{self._started}").open("wb")
        command = [sys.executable, str(ROOT / "tools/soak/worker.py"), f"--folder={self._folder}"]
        if hunted and self._rng.random() < PART_SHORT_OF_MEMORY:
            command.append("--short-of-memory")
        popen = subprocess.Popen(
            [*command, f"--seed={self._seed}", f"--number={self._started}"],
            stdout=subprocess.PIPE,
            stderr=errors,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)),
        )
        assert popen.stdout is not None
        os.set_blocking(popen.stdout.fileno(), False)
        process = Process(self._started, hunted, popen, errors)
        self._processes[popen.pid] = process
        self._selector.register(popen.stdout, selectors.EVENT_READ, process)

    def _listen(self, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            process: Process = key.data
            part = os.read(key.fd, 1 << 16)
            if not part:
                self._end(process)
                continue
            *lines, process.line = (process.line + part).split(b"\n")
            process.heard, process.ready = time.monotonic(), process.ready or bool(lines)
            for line in lines:
                self._hear(process, json.loads(line))

    def _hear(self, process: Process, report: dict) -> None:
        if "figures" in report:
            process.measured.append(report["figures"])
        elif "failure" in report:
            self._fail(report["failure"])
        else:
            self.counts.update(report)

    def _end(self, process: Process) -> None:
        assert process.popen.stdout is not None
        self._selector.unregister(process.popen.stdout)
        process.popen.stdout.close()
        process.errors.close()
        del self._processes[process.popen.pid]
        code = process.popen.wait()
        if process.hunted and code == -signal.SIGKILL:
            self.counts["kills"] += 1
            pathlib.Path(process.errors.name).unlink()
        elif process.hunted and any(said in self._words(process) for said in LIBRARY_GAVE_UP):
            self.counts["library_gave_up"] += 1
        elif code != 0 and not self.failures:
            self._fail(f"process {process.number} ended with {code}:\n{self._words(process)}")

    def _fail(self, failure: str) -> None:
        """At once, so that it is known if the soak is ended now."""
        self.failures.append(failure)
        print(f"FAILED: {failure}", flush=True)

    def _words(self, process: Process) -> str:
        return pathlib.Path(process.errors.name).read_text(errors="replace")[-4000:]

    def _harass(self, seconds: float) -> None:
        hunted = [process for process in self._processes.values() if process.hunted]
        if hunted and self._rng.random() < seconds / MEAN_SECONDS_TO_A_KILL:
            self._rng.choice(hunted).popen.send_signal(signal.SIGKILL)
        for process in self._processes.values():
            if process.ready and self._rng.random() < seconds / MEAN_SECONDS_TO_AN_INTERRUPT:
                process.popen.send_signal(signal.SIGINT)

    def _look_for_hangs(self) -> None:
        for process in self._processes.values():
            if time.monotonic() - process.heard > SECONDS_WITHOUT_A_WORD:
                if process.ready:
                    process.popen.send_signal(signal.SIGUSR1)
                    time.sleep(1)
                self._fail(f"process {process.number} hangs:\n{self._words(process)}")

    def _stop(self) -> None:
        for process in list(self._processes.values()):
            if not process.hunted:
                self._judge(process.measured)
            process.popen.kill()
            process.popen.wait()
            process.errors.close()

    def _judge(self, series: list[figures.Figures]) -> None:
        self.counts["figures"] = len(series)
        print(f"process 1, first, middle and last: {figures.text(series)}")
        for failure in figures.judge(series):
            self._fail(failure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--hours", type=float)
    length.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path)
    given = parser.parse_args()
    seconds = given.seconds if given.seconds is not None else 3600 * (given.hours or 1.0)

    folder = given.folder or pathlib.Path(tempfile.mkdtemp(prefix="headrace-soak-"))
    soak = Soak(folder.resolve(), given.seed, given.processes)
    soak.prepare()
    soak.run(seconds)
    counts = dict(sorted(soak.counts.items()))
    print("HEADRACE-COUNT " + " ".join(f"soak-{kind}={number}" for kind, number in counts.items()))
    if not soak.failures and given.folder is None:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"soak: {'FAILED, see ' + str(folder) if soak.failures else 'every row was right'}, {seconds:.0f} s")
    return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())
