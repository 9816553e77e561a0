"""Says on stderr what is at work where a loop waits for too long.

From a thread of its own, one for all iterators, for whoever waits may work itself meanwhile and not come back. It starts
with the first iterator, looks at each about once per waiting time allowed, and ends with the process.
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

from headrace import _engine

__all__ = ["StallWatch", "stall_watch"]

_DAY_S = 86400.0
_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}


class _Watched:
    """One run, when to look at it next, and the wait of it that was told about last."""

    def __init__(self, engine: _engine.Iteration, seconds: float) -> None:
        self.engine = weakref.ref(engine)
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
        text = "\n".join(f"  {line}" for line in lines)
        print(f"headrace: nothing delivered for {self.seconds:g} s; at work:\n{text}", file=sys.stderr, flush=True)


class StallWatch:
    """Watches runs until they are removed. All methods from any thread, a finalizer's among them: none takes a lock."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begins anew: in a forked process, which has neither the thread nor the runs."""
        self._watched: dict[int, _Watched] = {}
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()  # kept by whoever starts the thread
        self._next_look = math.inf
        # Wakes the thread; True ends it.
        self._wake: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def add(self, engine: _engine.Iteration, seconds: float) -> None:
        """Tells when a row of `engine` is waited for longer than `seconds`, once each time."""
        watched = _Watched(engine, seconds)
        self._watched[id(engine)] = watched
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
        except RuntimeError:  # The machine has no more threads: nobody watches.
            self._starting.release()
            return
        self._thread = thread

    def _run(self) -> None:
        # Leaves signals to the threads of the program, but for its own faults.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _FAULTS)
        over = False
        while not over:
            # Whoever is added from here on wakes it.
            self._next_look = math.inf
            for watched in self._watched.copy().values():
                # What stands there for stderr may be closed, or somebody's own.
                with contextlib.suppress(Exception):
                    watched.look()
            due = min((watched.due for watched in self._watched.copy().values()), default=math.inf)
            self._next_look = due
            with contextlib.suppress(queue.Empty):
                over = self._wake.get(timeout=max(0.0, min(due - time.monotonic(), _DAY_S)))


stall_watch = StallWatch()
os.register_at_fork(after_in_child=stall_watch.forget)
