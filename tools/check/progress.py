"""Runs a Bazel command and says how far it is: progress.py [--title TITLE] -- COMMAND…

On a terminal Bazel shows that itself. Elsewhere a line appears every 15 seconds with the number of actions that are
done, how many there are, and the minutes left. Needs Python's standard library alone, so that the set-up can use it.
"""

import argparse
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from typing import IO

SAY_S = 15.0
# Bazel counts with commas: [1,234 / 5,678] 2 actions running
PROGRESS = re.compile(r"^\[([\d,]+) / ([\d,]+)\]")
# On a terminal Bazel rewrites its progress each second; without one, less and less often. The colours are needed:
# --color=no also takes away what erases the lines.
LIKE_A_TERMINAL = ["--curses=yes", "--color=yes", "--show_progress_rate_limit=1"]
ERASED_LINE = "\x1b[1A\x1b[K"
# Not archives, which are not made, nor files that Bazel writes itself.
TAKES_TIME = re.compile(r"^action '(Compiling|Executing|Testing|Linking (?!.*\.(a|lo)'$))")
CONTROL = re.compile(r"\x1b\[[\d;]*[A-Za-z]|\r")


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


def expected_actions(command: list[str]) -> int:
    """How many actions the command will have done at its end; 0: not known.

    Bazel counts only those that it has found so far. With --config= it would analyse all packages once more for this.
    """
    verb = next((number for number, word in enumerate(command) if word in ("build", "test")), None)
    if verb is None or any(word.startswith("--config=") for word in command):
        return 0
    rest = [word for word in command[verb + 1 :] if not word.startswith("--")]
    kept = [pattern for pattern in rest if not pattern.startswith("-")]
    targets = " + ".join(kept) + "".join(f" - {pattern[1:]}" for pattern in rest if pattern.startswith("-"))
    # The command itself says what is wrong; that the server starts is said here.
    options = ["--noshow_progress", "--ui_event_filters=-info,-warning,-error"]
    options += ["--include_artifacts=false", "--include_commandline=false"]
    question = [*command[:verb], "aquery", *options, f"deps({targets})"]
    found = subprocess.run(question, stdout=subprocess.PIPE, text=True)
    return sum(TAKES_TIME.match(line) is not None for line in found.stdout.splitlines()) if found.returncode == 0 else 0


class Progress:
    """Keeps what Bazel does not erase, and says how far it is at most every 15 seconds. `now`: seconds by any clock.

    `expected`: the number of actions in the end, if it is known.
    """

    def __init__(self, title: str, now: float, expected: int = 0) -> None:
        self.title = title
        self.expected = expected
        self.said = now
        self.first: tuple[float, int] | None = None
        self.kept: list[str] = []

    def lines(self, given: str, now: float) -> list[str]:
        """What to print when Bazel has written this line, which begins with erasing the last lines of progress."""
        erased = given.count(ERASED_LINE)
        printed = []
        if erased:
            bar = self.kept[-erased:]
            printed = self.kept[:-erased] + self.report(bar[0] if bar else "", now)
            self.kept = []
        self.kept.append(CONTROL.sub("", given))
        return printed

    def report(self, bar: str, now: float) -> list[str]:
        counted = progress_in(bar)
        if counted is not None and self.first is None:
            self.first = (now, counted[0])
        if now - self.said < SAY_S:
            return []
        self.said = now
        return [f"{self.title}: {self.state(*counted, now) if counted else bar.strip() or 'starting'}\n"]

    def state(self, done: int, found: int, now: float) -> str:
        total = max(found, self.expected)
        began, before = self.first or (now, done)
        said = f"{done:,} of {total:,} actions"
        if not before < done < total:
            return said
        minutes = (now - began) / (done - before) * (total - done) / 60
        return f"{said}, about {max(minutes, 1):.0f} min left"


def text_of(stream: IO[bytes] | None) -> io.TextIOWrapper:
    """The stream as lines that end only at a line feed: Bazel writes carriage returns within them."""
    assert stream is not None
    return io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="\n")


def copy_without_colour(source: IO[str], sink: IO[str]) -> None:
    for line in source:
        sink.write(CONTROL.sub("", line))
        sink.flush()


def shown(command: list[str], title: str) -> int:
    """Runs the command without a terminal; its other output passes through."""
    expected = expected_actions(command)
    command = with_options(command, LIKE_A_TERMINAL)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # An interrupt goes to the whole group: Bazel ends, and its last lines still pass through.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = threading.Thread(target=copy_without_colour, args=(text_of(process.stdout), sys.stdout))
    output.start()
    progress = Progress(title, time.monotonic(), expected)
    for line in text_of(process.stderr):
        sys.stderr.writelines(progress.lines(line, time.monotonic()))
        sys.stderr.flush()
    sys.stderr.writelines(progress.kept)
    output.join()
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
