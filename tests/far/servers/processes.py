"""Starts the processes of a real server for the time of a test session, and ends them, whatever became of them."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class Processes:
    """`folder` has a log for each process."""

    def __init__(self, folder: pathlib.Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.environment = {**os.environ, "LC_ALL": "C", **(environment or {})}
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in reversed(list(self.running)):
            self.stop(name)

    def call(self, *command: object) -> str:
        """Runs a command that ends, and returns what it printed."""
        words = [str(word) for word in command]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-1500:]}")
        return done.stdout

    def start(self, name: str, command: Sequence[object]) -> None:
        """In a session of its own, so that what it starts ends with it."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [str(word) for word in command],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def stop(self, name: str, number: int = signal.SIGTERM) -> None:
        process = self.running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def wait_for(self, port: int, of: str, seconds: float = 90) -> None:
        """Until something accepts connections there; raises where the process ends before."""
        end = time.monotonic() + seconds
        while not accepts(port):
            ended = of in self.running and self.running[of].poll() is not None
            if ended or time.monotonic() > end:
                log = (self.folder / f"{of}.log").read_text(errors="replace")
                raise RuntimeError(f"{of} {'ended' if ended else 'does not answer'}: {log[-1500:]}")
            time.sleep(0.1)
