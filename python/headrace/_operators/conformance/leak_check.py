"""Checks that no memory, descriptors or threads remain after calls, and after states were destroyed."""

import ctypes as c
import dataclasses
import gc
import itertools
import operator
import os
import time
from collections.abc import Callable

from headrace._operators.conformance.declared_operator import DeclaredKernel
from headrace._operators.conformance.hosted_file import HostedFile
from headrace._operators.conformance.plugin_host import State
from headrace._operators.conformance.sample_types import resized
from headrace._operators.conformance.subject import (
    CheckFailed,
    FormatSubject,
    KernelSubject,
    LeftOut,
    SourceSubject,
    Subject,
)
from headrace._operators.conformance.values import Types, shown

# Memory counts as lost if it grows in each of so many equal runs of calls, so that what is kept once does not count.
_RUNS = 3
# Bytes a call. Resident memory comes in pages, and Python's own varies.
_LEAST_IN_USE = 16
_LEAST_IN_USE_OF_RUN = 4 << 10
_LEAST_RESIDENT = 64
_LEAST_RESIDENT_OF_RUN = 256 << 10

# Calls that a watch makes, of as many as a run has: half a run before the first.
_CALLS_OF_WATCH = _RUNS + 0.5
# Of a check's time, for all that is watched.
_PART = 1 / 4
_PART_TO_MEASURE = 1 / 40
# Slow calls take more of it: so many a run are wanted, and what is left of the time may have fewer.
_WANTED_CALLS = 10
_FEWEST_CALLS = 4
_PART_OF_REST = 0.8

# Files or threads more than that: the system may give no more than 1,024.
_MOST_HELD = 200
# Some may be kept once.
_LEAST_HELD = 10


class _InUse(c.Structure):
    """glibc's struct mallinfo2."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, c.c_size_t) for name in _names.split()]


def leaks(subject: KernelSubject) -> None:
    """Calls of apply(), and of create() and destroy(), by the thousand."""
    state = subject.state()
    types = subject.working(state)
    if types is None:
        return
    types = _small(subject, state, types)
    values = subject.values(types)
    advice = "free what a call needs before it returns"
    works = [_Work("of apply()", lambda: subject.host.apply(state, values), shown(types), advice)]
    if subject.kernel.raw.create:
        advice = "let destroy() free all that create() made"
        create = _Work("of create() and destroy()", lambda: subject.state().destroy(), "the same attributes", advice)
        works.append(create)
    _watch_all(subject, works)


def _small(subject: KernelSubject, state: State[DeclaredKernel], types: Types) -> Types:
    """The types with axes of length 1, if the kernel takes them, so that thousands of calls take little time."""
    for each in resized(subject.host, subject.kernel, state.given, types, 1)[::-1]:
        if isinstance(subject.apply(state, each), tuple):
            return each
    return types


def source_leaks(subject: SourceSubject) -> None:
    """Calls of read(), and of open() and destroy(), by the thousand."""
    source = subject.opened()
    rows = itertools.cycle(range(min(source.count, subject.most_rows)))
    advice = "free what a call needs before it returns"
    read = _Work("of read()", lambda: source.read(next(rows)), subject.attributes, advice)
    advice = "let destroy() free all that open() made"
    opened = _Work("of open() and destroy()", lambda: subject.opened().destroy(), "the same attributes", advice)
    _watch_all(subject, [read, opened])


def format_leaks(subject: FormatSubject) -> None:
    """Readings of the file's beginning, whole, left early and ended by an error, and states, by the thousand."""
    state = subject.state()
    first = subject.sample_rows(state)[0]
    whole = subject.contents
    cut = whole[: first.end - 1]
    works = {
        "of open(), next() and close()": lambda: subject.read(state, HostedFile(whole), 0, first.end),
        "of open() and close()": lambda: subject.reader(state, HostedFile(whole)).close(),
        f"of a file cut off at byte {len(cut):,}": lambda: subject.read(state, HostedFile(cut)),
        "of create() and destroy()": lambda: subject.state().destroy(),
    }
    advice = "free all that a call needs before it returns, in close() the reader, in destroy() the state"
    _watch_all(subject, [_Work(of_what, run, subject.file, advice) for of_what, run in works.items()])


@dataclasses.dataclass
class _Work:
    """Calls that are watched."""

    of_what: str
    run: Callable[[], object]
    given: str
    advice: str


def _watch_all(subject: Subject, works: list[_Work]) -> None:
    """As many calls of each as there is time for. LeftOut: too few of one."""
    took = [_seconds_of(subject, work) for work in works]
    wanted = [_wanted(subject, seconds * len(works)) for seconds in took]
    needed = sum(map(operator.mul, wanted, took)) * _CALLS_OF_WATCH
    share = min(_PART_OF_REST * subject.seconds_left / needed, 1.0)
    calls = [int(share * each) for each in wanted]
    for work, number, seconds in zip(works, calls, took, strict=True):
        if number < min(_FEWEST_CALLS, subject.limits.calls):
            raise LeftOut(f"left out: a call {work.of_what} takes {seconds:.1g} s; --time-limit gives more time")
    for work, number in zip(works, calls, strict=True):
        _watch(number, work)


def _seconds_of(subject: Subject, work: _Work) -> float:
    """One call, the mean of a few."""
    begin, took = time.monotonic(), 0.0
    for calls in range(1, _WANTED_CALLS + 1):
        work.run()
        took = time.monotonic() - begin
        if took > _PART_TO_MEASURE * subject.limits.seconds:
            return took / calls
    return took / _WANTED_CALLS


def _wanted(subject: Subject, seconds: float) -> int:
    return min(
        subject.limits.calls, max(int(_PART * subject.limits.seconds / _CALLS_OF_WATCH / seconds), _WANTED_CALLS)
    )


def _watch(calls: int, watched: _Work) -> None:
    _repeat(watched.run, calls // 2)
    held = _held()
    counts = [_counts()]
    for _ in range(_RUNS):
        _repeat(watched.run, calls)
        counts.append(_counts())
    for at, name, least in (
        (0, "memory in use", max(calls * _LEAST_IN_USE, _LEAST_IN_USE_OF_RUN)),
        (1, "resident memory", max(calls * _LEAST_RESIDENT, _LEAST_RESIDENT_OF_RUN)),
    ):
        grown = [after[at] - before[at] for before, after in zip(counts, counts[1:], strict=False)]
        if min(grown) >= least:
            bytes_a_call = sum(grown) / (_RUNS * calls)
            came = f"{name} grows by {bytes_a_call:,.0f} bytes a call, in {_RUNS * calls:,} calls {watched.of_what}"
            raise CheckFailed(watched.given, came, watched.advice)
    for name, before, after in zip(("open files", "threads"), held, _held(), strict=True):
        if after - before >= min(max(calls, _LEAST_HELD), _MOST_HELD):
            came = f"{name} grow from {before} to {after} in {_RUNS * calls:,} calls {watched.of_what}"
            raise CheckFailed(watched.given, came, watched.advice)


def _repeat(work: Callable[[], object], times: int) -> None:
    for _ in range(times):
        work()


def _counts() -> tuple[int, int]:
    """Bytes in use by malloc, and resident, without what Python itself has not yet freed."""
    gc.collect()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    asked = getattr(c.CDLL(None), "mallinfo2", None)
    if asked is None:
        return 0, resident
    asked.restype = _InUse
    in_use = asked()
    return in_use.uordblks + in_use.hblkhd, resident


def _held() -> tuple[int, int]:
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
