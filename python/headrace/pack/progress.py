"""One line on a terminal that says how far a long piece of work is, how fast it goes and how long it will take."""

import sys
import time
from typing import TYPE_CHECKING, TextIO

from headrace import _engine

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Progress"]

_SECONDS_BETWEEN = 0.2
# The time left follows the rate of this many of the last seconds.
_WINDOW_S = 10.0


class Progress:
    """Shows `done of total` on stderr while a `with` block runs, and takes the line away at its end. Silent if stderr is
    no terminal."""

    def __init__(self, what: str, total: int, done: int = 0, stream: TextIO | None = None) -> None:
        self._what = what
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._shows = self._stream.isatty()
        self._shown = 0.0
        self._width = 0
        self._samples = [(time.monotonic(), done)]

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def at(self, done: int) -> None:
        """So many are done."""
        if not self._shows:
            return
        now = time.monotonic()
        if now - self._shown < _SECONDS_BETWEEN:
            return
        self._shown = now
        self._samples.append((now, done))
        while len(self._samples) > 2 and now - self._samples[0][0] > _WINDOW_S:
            del self._samples[0]
        self._write(self.text(done))

    def text(self, done: int) -> str:
        """The line, for the samples so far."""
        (begin, before), (now, _) = self._samples[0], self._samples[-1]
        share = f" ({done / self._total:.0%})" if self._total else ""
        line = f"{_engine.printable(self._what)}: {done:,} of {self._total:,}{share}"
        if done <= before or now <= begin:
            return line
        rate = (done - before) / (now - begin)
        return f"{line}, {rate:,.0f} a second, {time_text((self._total - done) / rate)} left"

    def clear(self) -> None:
        """Takes the line away, so that something else can be printed."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def _write(self, line: str) -> None:
        self._stream.write("\r" + line.ljust(self._width))
        self._stream.flush()
        self._width = len(line)


def time_text(seconds: float) -> str:
    """ "0:07", "12:30", "2:05:00"."""
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
