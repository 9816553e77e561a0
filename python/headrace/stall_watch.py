"""Says on stderr what is at work where a loop waits for too long.

From a thread of its own, one for all iterators, for whoever waits may work itself meanwhile and not come back. It starts
with the first iterator, looks at each about once per waiting time allowed, and ends with the process.
"""

import contextlib
import math
import os
import sys
import threading
import time
import weakref

from headrace import _engine

__all__ = ["StallWatch", "stall_watch"]

_DAY_S = 86400.0


class _Watched:
    """One run, when to look at it next, and the wait of it that was told about last."""

    def __init__(self, engine: _engine.Iteration, seconds: float) -> None:
        self.engine = weakref.ref(engine)
        self.seconds = seconds
        self.due = time.monotonic() + seconds
        self.told_of_ns = 0

    def look(self) -> None:
        now = time.monotonic()
        self.due = now + self.seconds
        engine = self.engine()
        since_ns = engine.waiting_since_ns if engine is not None else 0
        if engine is None or since_ns in (0, self.told_of_ns):
            return
        if now < since_ns * 1e-9 + self.seconds:
            self.due = since_ns * 1e-9 + self.seconds
            return
        self.told_of_ns = since_ns
        self._tell(engine)

    def _tell(self, engine: _engine.Iteration) -> None:
        lines = engine.describe_stall() or ["no stage has a row at work"]
        text = "\n".join(f"  {line}" for line in lines)
        # What stands there for stderr may be closed, or somebody's own.
        with contextlib.suppress(Exception):
            print(f"headrace: nothing delivered for {self.seconds:g} s; at work:\n{text}", file=sys.stderr, flush=True)


class StallWatch:
    """Watches runs until they are removed or gone. All methods from any thread."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begins anew: in a forked process, which has neither the thread nor the runs."""
        self._changed = threading.Condition()
        self._watched: dict[int, _Watched] = {}
        self._thread: threading.Thread | None = None
        self._next_look = math.inf

    def add(self, engine: _engine.Iteration, seconds: float) -> None:
        """Tells when a row of `engine` is waited for longer than `seconds`, once each time."""
        watched = _Watched(engine, seconds)
        with self._changed:
            self._watched[id(engine)] = watched
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="headrace-watch", daemon=True)
                self._thread.start()
            if watched.due < self._next_look:
                self._changed.notify()

    def remove(self, engine: _engine.Iteration) -> None:
        with self._changed:
            self._watched.pop(id(engine), None)

    def _run(self) -> None:
        while True:
            for watched in self._wait_until_due():
                watched.look()

    def _wait_until_due(self) -> list[_Watched]:
        with self._changed:
            while True:
                now = time.monotonic()
                self._watched = {key: watched for key, watched in self._watched.items() if watched.engine() is not None}
                due = [watched for watched in self._watched.values() if watched.due <= now]
                if due:
                    return due
                self._next_look = min((watched.due for watched in self._watched.values()), default=math.inf)
                self._changed.wait(min(self._next_look - now, _DAY_S) if self._watched else None)


stall_watch = StallWatch()
os.register_at_fork(after_in_child=stall_watch.forget)
