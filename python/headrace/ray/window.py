"""`Window` decides which maker is asked for which run of batches, of events alone: it holds no clock, no actor and no data.

A run is a range of batch numbers. The run that is due, the first one that the loop has not had, may always be asked for,
whatever makers have to do; the others only within the window. One thread at a time."""

from __future__ import annotations

import hashlib
import statistics
from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

__all__ = ["Ask", "Run", "Window"]

# Smaller objects cost more to ask for and to send than to copy.
LEAST_BYTES = 4 << 20
# Longer runs are lost with a maker, and keep others waiting.
MOST_SECONDS = 0.5
MOST_BATCHES = 64
# Asked of a maker ahead of what it makes.
AHEAD = 2
# Asked of all makers before the first one has answered, as nobody knows how large batches are: in a narrow network the one
# that is due comes with all of these.
FIRST = 16
# A run that is due is late after this time, and after so many medians.
LATE_SECONDS = 2.0
LATE_MEDIANS = 5
# Where no run was made yet: makers open their pipelines.
LATE_FIRST_SECONDS = 10.0
# So many makers were lost that had been asked for a run.
SUSPECT = 2
_REMEMBERED = 31

Maker = Hashable


@dataclass(eq=False)
class Run:
    """Batches from `first` to before `stop`.

    Attributes:
        asked: The makers that were asked for it and have not answered, with the time.
        maker: Which made it; None: it is not made.
        bytes: What it takes, once it is made.
        refused: Makers that gave an error for it, or whose batches did not come.
        lost: How often a maker was lost that was asked for it, or that held it.
    """

    first: int
    stop: int
    asked: dict[Maker, float] = field(default_factory=dict)
    maker: Maker | None = None
    bytes: int = 0
    refused: set[Maker] = field(default_factory=set)
    lost: int = 0


@dataclass(frozen=True)
class Ask:
    maker: Maker
    run: Run


class Window:
    """The runs from batch `first` to before `stop` (None: there is no end), as they are asked for, made and taken.

    Args:
        batches: The most batches ahead of the loop; None: what keeps all makers at work.
        memory: The most bytes ahead of the loop.
    """

    def __init__(self, first: int, stop: int | None, batches: int | None, memory: int) -> None:
        self._next = first
        self._stop = stop
        self._batches = batches
        self._memory = memory
        # In the order of their numbers; the first one is due.
        self._runs: deque[Run] = deque()
        self._makers: dict[Maker, int] = {}
        # Makers that owe a run that is late.
        self._silent: set[Maker] = set()
        self._times: deque[float] = deque(maxlen=_REMEMBERED)
        self._bytes_made = self._batches_made = self._runs_made = 0
        self._due_since: float | None = None
        self.recomputed = 0

    def again(self, first: int) -> Window:
        """A window of the same bounds from batch `first` on, without makers; what is to be asked for anew counts."""
        made = Window(first, self._stop, self._batches, self._memory)
        made.recomputed = self.recomputed + max(0, self._next - first)
        return made

    # ---- makers ----

    @property
    def makers(self) -> list[Maker]:
        return list(self._makers)

    def maker_came(self, maker: Maker) -> None:
        self._makers.setdefault(maker, 0)

    def maker_gone(self, maker: Maker, keeps: bool = False) -> list[Run]:
        """What it was asked for is asked for again, and what it made, unless its results are still there (`keeps`).
        Returns the runs that are no longer made."""
        self._makers.pop(maker, None)
        self._silent.discard(maker)
        lost = [run for run in self._runs if maker in run.asked or (run.maker == maker and not keeps)]
        unmade = [run for run in lost if run.maker == maker]
        for run in lost:
            run.asked.pop(maker, None)
            self._lose(run, maker)
        return unmade

    def _lose(self, run: Run, maker: Maker) -> None:
        run.lost += 1
        if run.maker == maker:
            run.maker, run.bytes = None, 0
        if run.maker is None and not run.asked:
            self.recomputed += run.stop - run.first

    # ---- what is asked for ----

    def asks(self, now: float) -> list[Ask]:
        """What is to be asked for now, which is noted as asked."""
        if not self._makers:
            return []
        if not self._runs:
            self._extend()
        if self._runs and self._due_since is None:
            self._due_since = now
        return [*self._again(now), *self._late(now), *self._new(now)]

    def _again(self, now: float) -> Iterable[Ask]:
        """Runs that were begun, and that nobody makes any more."""
        self._split_suspect()
        for run in list(self._runs):
            # A run that may end its makers waits until the loop needs it, or those before it would be lost with it.
            suspect = run.lost >= SUSPECT and run is not self._runs[0]
            if run.maker is None and not run.asked and not suspect:
                maker = self._choice(run)
                if maker is not None:
                    yield self._ask(run, maker, now)

    def _split_suspect(self) -> None:
        """Makes runs of one batch of the run that is due, if it may end its makers: those before the culprit come out."""
        due = self._runs[0] if self._runs else None
        if due is None or due.lost < SUSPECT or due.maker is not None or due.asked or due.stop - due.first == 1:
            return
        self._runs.popleft()
        for number in reversed(range(due.first, due.stop)):
            self._runs.appendleft(Run(number, number + 1, refused=set(due.refused), lost=SUSPECT))

    def _late(self, now: float) -> Iterable[Ask]:
        """The run that is due, of one more maker: the first answer counts."""
        due = self._runs[0] if self._runs else None
        if due is None or due.maker is not None or not due.asked:
            return
        since = max(max(due.asked.values()), self._due_since if self._due_since is not None else now)
        if now - since < self.late_seconds:
            return
        self._silent.update(due.asked)
        free = [each for each in self._makers if each not in due.asked]
        others = [each for each in free if each not in due.refused] or free
        if others:
            self.recomputed += due.stop - due.first
            yield self._ask(due, self._least(others), now)

    def _new(self, now: float) -> Iterable[Ask]:
        while self._has_room():
            maker = self._choice(Run(self._next, self._next + 1))
            run = None if maker is None else self._extend()
            if maker is None or run is None:
                return
            yield self._ask(run, maker, now)

    def _extend(self) -> Run | None:
        if self._stop is not None and self._next >= self._stop:
            return None
        length = self._run_length()
        # Runs end at multiples, so that another epoch has the same ones.
        end = (self._next // length + 1) * length
        run = Run(self._next, end if self._stop is None else min(end, self._stop))
        self._next = run.stop
        self._runs.append(run)
        return run

    def _run_length(self) -> int:
        if self._batches_made == 0:
            return 1
        longest = MOST_BATCHES
        if self._times:
            batches_per_run = self._batches_made / max(1, self._runs_made)
            longest = min(longest, int(MOST_SECONDS * batches_per_run / max(statistics.median(self._times), 1e-6)))
        if self._batches is not None:
            longest = min(longest, self._batches // (AHEAD * max(1, len(self._makers))))
        wanted = -(-LEAST_BYTES // max(1, self._bytes_made // self._batches_made))
        return 1 << (max(1, min(longest, wanted)).bit_length() - 1)

    def _has_room(self) -> bool:
        if not self._runs:
            return True
        if self._batches_made == 0 and len(self._runs) >= FIRST:
            return False
        reached = self._next + self._run_length() - self._runs[0].first
        each = self._bytes_made / self._batches_made if self._batches_made else 0
        if reached * each > self._memory:
            return False
        if self._batches is not None:
            return reached <= self._batches
        enough = AHEAD * len(self._makers)
        unmade = sum(run.maker is None for run in self._runs)
        return unmade < enough and len(self._runs) <= 2 * enough

    def _ask(self, run: Run, maker: Maker, now: float) -> Ask:
        run.asked[maker] = now
        self._makers[maker] += 1
        return Ask(maker, run)

    def _choice(self, run: Run) -> Maker | None:
        """The maker whose caches may have the run, unless others have less to do. None: all have enough to do, and the run
        is not due."""
        others = [each for each in self._makers if each not in run.refused] or list(self._makers)
        heard = [each for each in others if each not in self._silent] or others
        is_due = bool(self._runs) and run is self._runs[0]
        free = [each for each in heard if self._makers[each] < AHEAD]
        if not free:
            return self._least(heard) if is_due else None
        least = min(self._makers[each] for each in free)
        return max(
            (each for each in free if self._makers[each] <= least + 1), key=lambda each: _weight(each, run.first)
        )

    def _least(self, makers: list[Maker]) -> Maker:
        return min(makers, key=lambda each: (each in self._silent, self._makers[each]))

    # ---- what is answered ----

    def answered(self, ask: Ask, size: int, seconds: float) -> bool:
        """The maker made the run, of so many bytes, in so many seconds. Whether its answer counts, as the first one
        does."""
        self._free(ask)
        self._times.append(seconds)
        self._runs_made += 1
        self._bytes_made += size
        self._batches_made += ask.run.stop - ask.run.first
        if ask.run.maker is not None or ask.run not in self._runs:
            return False
        ask.run.maker, ask.run.bytes = ask.maker, size
        return True

    def failed(self, ask: Ask) -> None:
        """The maker gave an error for the run; another one is asked, where there is one."""
        self._free(ask)
        ask.run.refused.add(ask.maker)

    def dropped(self, ask: Ask) -> None:
        """The maker was gone, or could not answer."""
        self._free(ask)
        self._lose(ask.run, ask.maker)

    def lost(self, run: Run) -> None:
        """It was made, and its batches are gone, or do not come: another maker is asked, where there is one."""
        maker = run.maker
        if maker is not None:
            self._lose(run, maker)
            run.refused.add(maker)

    def _free(self, ask: Ask) -> None:
        ask.run.asked.pop(ask.maker, None)
        self._silent.discard(ask.maker)
        if ask.maker in self._makers:
            self._makers[ask.maker] = max(0, self._makers[ask.maker] - 1)

    # ---- what the loop takes ----

    @property
    def due(self) -> Run | None:
        """The run that the loop takes next; None: the epoch is over, or no maker was asked for one yet."""
        return self._runs[0] if self._runs else None

    @property
    def over(self) -> bool:
        return not self._runs and self._stop is not None and self._next >= self._stop

    def take(self) -> Run:
        """The run that is due was taken."""
        self._due_since = None
        return self._runs.popleft()

    @property
    def late_seconds(self) -> float:
        """When a run that is due is late."""
        if not self._times:
            return LATE_FIRST_SECONDS
        return max(LATE_SECONDS, LATE_MEDIANS * statistics.median(self._times))

    @property
    def waiting(self) -> list[Run]:
        """Runs that were made and not taken."""
        return [run for run in self._runs if run.maker is not None]


def _weight(maker: Maker, number: int) -> bytes:
    # The same in each process, whatever its seed of hashes.
    return hashlib.blake2b(f"{maker} {number}".encode(), digest_size=8).digest()
