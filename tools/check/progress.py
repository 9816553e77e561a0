"""Runs a Bazel command and says how far it is: progress.py [--title TITLE] -- COMMAND…

On a terminal Bazel shows that itself. Elsewhere a line appears every 15 seconds with the number of actions that are
done, how many there are, and the minutes left. Needs Python's standard library alone, so that the set-up can use it.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time

SAY_S = 15.0
# Bazel counts with commas: [1,234 / 5,678] 2 actions running
PROGRESS = re.compile(r"^\[([\d,]+) / ([\d,]+)\]")
# What it reports before it counts: Analyzing: 14 targets (1 packages loaded)
EARLY = re.compile(r"^(Loading|Analyzing): .*|^$")
# So that each state is a line of its own; Bazel then reports one per second at most.
PLAIN = ["--curses=no", "--color=no", "--show_progress_rate_limit=1"]


def progress_in(line: str) -> tuple[int, int] | None:
    """The actions that are done and all of them, if the line says so."""
    found = PROGRESS.match(line)
    return (number(found.group(1)), number(found.group(2))) if found else None


def number(text: str) -> int:
    return int(text.replace(",", ""))


def with_options(command: list[str], options: list[str]) -> list[str]:
    """The command with the options behind it, but before what follows a `--`."""
    end = command.index("--") if "--" in command else len(command)
    return [*command[:end], *options, *command[end:]]


class Progress:
    """Turns the lines of Bazel's progress into fewer, at most one every 15 seconds. `now`: seconds by any clock."""

    def __init__(self, title: str, now: float) -> None:
        self.title = title
        self.said = now
        self.first: tuple[float, int] | None = None

    def line(self, given: str, now: float) -> str:
        """What to print for a line of Bazel's: the line itself if it is no progress, else the state if it is due."""
        counted = progress_in(given)
        if counted is None and not EARLY.match(given):
            return given
        if counted is not None and self.first is None:
            self.first = (now, counted[0])
        if now - self.said < SAY_S:
            return ""
        self.said = now
        return f"{self.title}: {self.state(*counted, now) if counted else given.strip() or 'starting'}\n"

    def state(self, done: int, total: int, now: float) -> str:
        began, before = self.first or (now, done)
        said = f"{done:,} of {total:,} actions"
        if not before < done < total:
            return said
        minutes = (now - began) / (done - before) * (total - done) / 60
        return f"{said}, about {max(minutes, 1):.0f} min left"


def shown(command: list[str], title: str) -> int:
    """Runs the command without a terminal; its other output passes through."""
    process = subprocess.Popen(with_options(command, PLAIN), stderr=subprocess.PIPE, text=True, errors="replace")
    # An interrupt goes to the whole group: Bazel ends, and its last lines still pass through.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    progress = Progress(title, time.monotonic())
    assert process.stderr is not None
    for line in process.stderr:
        if said := progress.line(line, time.monotonic()):
            sys.stderr.write(said)
            sys.stderr.flush()
    return process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="progress.py", description=__doc__)
    parser.add_argument("--title", default="bazel", help="the start of each line")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("no command")
    if sys.stderr.isatty():
        os.execvp(command[0], command)
    return shown(command, options.title)


if __name__ == "__main__":
    sys.exit(main())
