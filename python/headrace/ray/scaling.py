"""`Scaling` decides how many makers there are, of events alone: it holds no clock and no actor.

Loops that wait get more makers, as many as would have kept them from it; makers that wait end, once that lasts. One thread
at a time."""

from __future__ import annotations

import math

__all__ = ["Scaling"]

# Of the time: above the first, loops wait; below the second, they do not.
WAITING, NO_WAITING = 0.1, 0.02
# How long it is looked at before a change. Makers end after several of these.
PERIOD_SECONDS = 5.0
PERIODS_UNTIL_FEWER = 3
# Makers more than those that were at work.
SPARE = 1.25


class Scaling:
    """From `least` to `most` makers.

    Attributes:
        count: How many there are to be.
    """

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most
        self.count = least
        self._since: float | None = None
        self._waited = 0.0
        # What each maker had worked when it was last heard, and what all of them have since the period began.
        self._heard: dict[int, float] = {}
        self._worked = 0.0
        self._idle_periods = 0
        self._settled = False

    def begin_with(self, count: int) -> int:
        """There are so many makers now; returns how many there are to be."""
        self.count = max(self._least, min(self._most, count))
        return self.count

    def begin(self) -> None:
        """A loop begins: the time since another one ended is not looked at."""
        self._since = None

    def waited(self, seconds: float) -> None:
        """A loop waited for a batch."""
        self._waited += seconds

    def worked(self, maker: int, seconds: float) -> None:
        """A maker has worked so long in all since it was started."""
        self._worked += seconds - self._heard.get(maker, 0.0)
        self._heard[maker] = seconds

    def changed(self, now: float, settled: bool) -> bool:
        """Whether there is another count now. `settled`: all makers are at work, so what a change brought is seen; until
        then there come to be no more of them."""
        came, self._settled = settled and not self._settled, settled
        if self._since is None or came:
            self._begin_period(now)
            return False
        elapsed = now - self._since
        if elapsed < PERIOD_SECONDS:
            return False
        count = self._wanted(min(1.0, self._waited / elapsed), self._worked / elapsed)
        self._begin_period(now)
        count, before = max(self._least, min(self._most, count)), self.count
        self.count = count if settled else min(count, before)
        return self.count != before

    def _begin_period(self, now: float) -> None:
        self._since = now
        self._waited = self._worked = 0.0

    def _wanted(self, waiting: float, at_work: float) -> int:
        """By the share of the time in which loops waited, and how many makers worked on average."""
        if waiting > WAITING:
            self._idle_periods = 0
            return min(2 * self.count, math.ceil(self.count / max(1 - waiting, 0.1)))
        enough = math.ceil(SPARE * at_work)
        if waiting > NO_WAITING or enough >= self.count:
            self._idle_periods = 0
            return self.count
        self._idle_periods += 1
        if self._idle_periods < PERIODS_UNTIL_FEWER:
            return self.count
        self._idle_periods = 0
        return max(enough, self.count // 2)
