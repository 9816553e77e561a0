"""A deadline that ends the commands which run when it passes, with everything that they started in their group."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Seconds between two looks at a running command, and between two lines about one that prints nothing.
LOOK_S = 0.2
SAY_S = 15.0
# What a group of processes gets, and how many seconds it then has.
ENDINGS = ((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))


class Passed(Exception):
    """The deadline passed while a command ran. `said`: what it had printed by then, where its output is kept.

    Not what it printed after it was told to end, where a test may fail for that.
    """

    said: str = ""


def signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that leads a group; Bazel and pytest end tidily on the first signal."""
    for number, seconds in ENDINGS:
        signal_group(process, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            break
    signal_group(process, signal.SIGKILL)


def text_of(output: IO[bytes], size: int = -1) -> str:
    output.seek(0)
    return output.read(size).decode(errors="replace")


class Deadline:
    def __init__(self, seconds: float | None = None) -> None:
        """Passes that many seconds from now; None: never."""
        self.end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        return float("inf") if self.end is None else self.end - time.monotonic()

    def run(
        self,
        command: Sequence[str | os.PathLike[str]],
        env: Mapping[str, str] | None = None,
        output: IO[bytes] | None = None,
        look: Callable[[], None] = lambda: None,
        cwd: pathlib.Path = ROOT,
    ) -> int:
        """Returns the exit code; raises Passed if the deadline comes first. `look` is called while the command runs.

        Both streams go into `output` if it is given.
        """
        if self.left() <= 0:
            raise Passed
        with self.running(command, env, output, cwd) as process:
            while process.poll() is None:
                if self.left() <= 0:
                    raise Passed
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(min(LOOK_S, max(self.left(), 0)))
                look()
            return process.returncode

    @contextlib.contextmanager
    def running(
        self,
        command: Sequence[str | os.PathLike[str]],
        env: Mapping[str, str] | None,
        output: IO[bytes] | None,
        cwd: pathlib.Path,
    ) -> Iterator[subprocess.Popen[bytes]]:
        errors = None if output is None else subprocess.STDOUT
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, process_group=0
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                end_group(process)

    def output_of(
        self,
        command: Sequence[str | os.PathLike[str]],
        env: Mapping[str, str] | None = None,
        look: Callable[[], None] = lambda: None,
    ) -> tuple[int, str]:
        """The exit code of a command, and what it printed to both streams."""
        with tempfile.TemporaryFile() as output:
            seen = 0

            def look_and_note() -> None:
                nonlocal seen
                look()
                seen = os.fstat(output.fileno()).st_size

            try:
                code = self.run(command, env, output, look_and_note)
            except Passed as passed:
                passed.said = text_of(output, seen)
                raise
            return code, text_of(output)


class StillRunning:
    """Says every 15 seconds that a silent command runs, and how long it took the last time."""

    def __init__(self, title: str, expected: float = 0.0) -> None:
        self.title = title
        self.expected = expected
        self.started = self.said = time.monotonic()

    def __call__(self) -> None:
        now = time.monotonic()
        if now - self.said < SAY_S:
            return
        self.said = now
        of = f" of about {self.expected:.0f}" if self.expected else ""
        print(f"{self.title}: {now - self.started:.0f} s{of}", flush=True)
