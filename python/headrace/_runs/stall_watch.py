"""Prints the running tasks on stderr, and logs them, when a loop waits for too long.

One thread watches all iterators, because a waiting thread may run a task and not return from it. The thread starts with
the first iterator, checks each about once per permitted waiting time, and ends with the process.
"""

import contextlib
import math
import os
import queue
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable

from headrace import _engine
from headrace._arguments.printed import say
from headrace._runs import log

__all__ = ["StallWatch", "stall_watch"]

_DAY_S = 86400.0
_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}


class _Watched:
    """One run, the time of its next check, and the last wait that was reported."""

    def __init__(
        self, engine: _engine.Iteration, seconds: float, on_gone: "Callable[[weakref.ref[_engine.Iteration]], object]"
    ) -> None:
        self.engine = weakref.ref(engine, on_gone)
        self.seconds = seconds
        self.due = time.monotonic() + seconds
        self.told_of_ns = 0

    def look(self) -> None:
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + self.seconds
        engine = self.engine()
        since_ns = 0 if engine is None else engine.waiting_since_ns
        if engine is None or since_ns in (0, self.told_of_ns):
            return
        if now < since_ns * 1e-9 + self.seconds:
            self.due = since_ns * 1e-9 + self.seconds
            return
        self.told_of_ns = since_ns
        self._tell(engine)

    def _tell(self, engine: _engine.Iteration) -> None:
        lines = engine.describe_stall() or ["no stage has a row at work"]
        head = f"headrace: nothing delivered for {self.seconds:g} s; at work:"
        log.warning("\n".join([head.removeprefix("headrace: "), *(f"  {line}" for line in lines)]))
        say(head, *(f"  {line}" for line in lines), file=sys.stderr)


class StallWatch:
    """Watches runs until they are removed. All methods from any thread and from finalizers: none takes a lock."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Resets the watch, for a forked process, which has neither the thread nor the runs."""
        self._watched: dict[int, _Watched] = {}
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()  # held while the thread is started
        self._next_look = math.inf
        # An item wakes the thread; True ends it.
        self._wake: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def add(self, engine: _engine.Iteration, seconds: float) -> None:
        """Reports each wait for a row of `engine` that is longer than `seconds`, once."""
        key = id(engine)
        watched = _Watched(engine, seconds, lambda _: self._watched.pop(key, None))
        self._watched[key] = watched
        if self._starting.acquire(blocking=False):
            self._start()
        if watched.due < self._next_look:
            self._wake.put(False)

    def remove(self, engine: _engine.Iteration) -> None:
        self._watched.pop(id(engine), None)

    def stop(self) -> None:
        """Ends the thread, so that it does not print while the interpreter goes away."""
        if self._thread is not None:
            self._wake.put(True)
            self._thread.join(1)

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="headrace-watch", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # The machine has no more threads: runs go unwatched.
            self._starting.release()
            return
        self._thread = thread

    def _run(self) -> None:
        # Leaves all signals but its own faults to the threads of the program.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _FAULTS)
        over = False
        while not over:
            # A run that is added from here on wakes the thread.
            self._next_look = math.inf
            for watched in self._watched.copy().values():
                # sys.stderr may be closed, or replaced by the program.
                with contextlib.suppress(Exception):
                    watched.look()
            due = min((watched.due for watched in self._watched.copy().values()), default=math.inf)
            self._next_look = due
            with contextlib.suppress(queue.Empty):
                over = self._wake.get(timeout=max(0.0, min(due - time.monotonic(), _DAY_S)))


stall_watch = StallWatch()
os.register_at_fork(after_in_child=stall_watch.forget)
