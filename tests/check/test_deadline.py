"""A deadline ends what runs, and what that has started."""

import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tools.check import deadline
from tools.check.deadline import ROOT, Deadline, Passed, StillRunning

FOREVER = [sys.executable, "-c", "import signal; signal.pause()"]
# Starts a process that ignores interrupts, and that has the pipe open as long as it lives.
PARENT = """
import signal, subprocess, sys
child = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); p = open(sys.argv[1], 'w', 1); "
subprocess.run([sys.executable, "-c", child + "print('ready', file=p); signal.pause()", sys.argv[1]])
"""


@pytest.fixture
def pipe(tmp_path: pathlib.Path) -> Iterator[tuple[pathlib.Path, int]]:
    """A named pipe and its end for reading, which is at the end when no process has the other."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, end
    os.close(end)


def has_said(end: int) -> bool:
    try:
        return os.read(end, 100) == b"ready\n"
    except BlockingIOError:
        return False


def wait_for_its_end(end: int) -> None:
    os.set_blocking(end, True)
    assert os.read(end, 100) == b""


def test_a_command_that_ends_in_time_gives_its_exit_code():
    assert Deadline().run([sys.executable, "-c", "raise SystemExit(3)"]) == 3
    assert Deadline(60).output_of([sys.executable, "-c", "print('out')"]) == (0, "out\n")


def test_a_stage_ends_at_the_deadline():
    with pytest.raises(Passed):
        Deadline(0.1).run(FOREVER)
    with pytest.raises(Passed):
        Deadline(-1).run(FOREVER)


def test_nothing_starts_after_the_deadline(tmp_path):
    with pytest.raises(Passed):
        Deadline(-1).run(["touch", tmp_path / "begun"])
    assert not (tmp_path / "begun").exists()


def test_what_a_command_said_before_its_end_is_kept(pipe):
    """Not what it says when it is told to end."""
    path, end = pipe
    code = """
import signal, sys
print("FAILED: the first", flush=True)
try:
    print("ready", file=open(sys.argv[1], "w"), flush=True)
    signal.pause()
except KeyboardInterrupt:
    print("FAILED: by the end", flush=True)
"""
    limit = Deadline()

    def pass_when_it_has_said() -> None:
        if has_said(end):
            limit.end = time.monotonic()

    with pytest.raises(Passed) as caught:
        limit.output_of([sys.executable, "-c", code, str(path)], look=pass_when_it_has_said)
    assert caught.value.said == "FAILED: the first\n"


def test_what_the_command_started_ends_too(pipe):
    path, end = pipe
    limit = Deadline()

    def pass_when_it_runs() -> None:
        if has_said(end):
            limit.end = time.monotonic()

    with pytest.raises(Passed):
        limit.run([sys.executable, "-c", PARENT, str(path)], look=pass_when_it_runs)
    wait_for_its_end(end)


def test_an_exception_ends_the_command(pipe):
    path, end = pipe

    def interrupt_when_it_runs() -> None:
        if has_said(end):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Deadline().run([sys.executable, "-c", PARENT, str(path)], look=interrupt_when_it_runs)
    wait_for_its_end(end)


def test_interrupts_reach_the_commands_of_a_run_in_the_background():
    said = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)"
    run = f"deadline.Deadline().run([{sys.executable!r}, '-c', {said!r}])"
    code = f"from tools.check import check, deadline; check.heed_signals(); {run}"
    shell = f"trap '' INT; exec {shlex.join([sys.executable, '-c', code])}"
    assert subprocess.run(shell, shell=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout == "True\n"


def test_a_group_that_ignores_signals_is_killed(monkeypatch):
    monkeypatch.setattr(deadline, "ENDINGS", ((signal.SIGINT, 0.01), (signal.SIGTERM, 0.01), (signal.SIGKILL, 5)))
    code = "import signal; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; print('r', flush=True); signal.pause()"
    stubborn = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, process_group=0)
    with stubborn:
        assert stubborn.stdout is not None
        stubborn.stdout.read(1)
        deadline.end_group(stubborn)
    assert stubborn.returncode == -signal.SIGKILL


def test_a_silent_command_is_spoken_of_every_15_seconds(capsys, monkeypatch):
    clock = iter([0.0, 5.0, 15.0, 20.0, 31.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    say = StillRunning("mypy", 40)
    for _ in range(4):
        say()
    assert capsys.readouterr().out == "mypy: 15 s of about 40\nmypy: 31 s of about 40\n"
