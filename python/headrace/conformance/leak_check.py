"""Whether memory, descriptors or threads stay behind after calls, and after states that were destroyed."""

import ctypes as c
import gc
import itertools
import os
import time
from collections.abc import Callable

from headrace.conformance.declared_operator import DeclaredKernel
from headrace.conformance.hosted_file import HostedFile
from headrace.conformance.plugin_host import State
from headrace.conformance.sample_types import resized
from headrace.conformance.subject import CheckFailed, FormatSubject, KernelSubject, SourceSubject, Subject
from headrace.conformance.values import Types, shown

# Memory counts as lost if it grows in each of so many equal runs of calls, so that what is kept once does not count.
_RUNS = 3
# Bytes a call. Resident memory comes in pages, and Python's own varies.
_LEAST_IN_USE = 16
_LEAST_IN_USE_OF_RUN = 4 << 10
_LEAST_RESIDENT = 64
_LEAST_RESIDENT_OF_RUN = 256 << 10

# Files or threads more than that: the system may give no more than 1,024.
_MOST_HELD = 200


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
    calls = subject.limits.calls
    _watch(
        calls,
        lambda: subject.host.apply(state, values),
        shown(types),
        "of apply()",
        "free what a call needs before it returns",
    )
    if not subject.kernel.raw.create:
        return
    advice = "let destroy() free all that create() made"
    _watch(calls, lambda: subject.state().destroy(), "the same attributes", "of create() and destroy()", advice)


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
    read = lambda: source.read(next(rows))  # noqa: E731
    _watch(_in_time(subject, read), read, subject.attributes, "of read()", advice)
    open_ = lambda: subject.opened().destroy()  # noqa: E731
    advice = "let destroy() free all that open() made"
    _watch(_in_time(subject, open_), open_, "the same attributes", "of open() and destroy()", advice)


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
    for of_what, work in works.items():
        _watch(_in_time(subject, work), work, subject.file, of_what, advice)


def _in_time(subject: Subject, work: Callable[[], object]) -> int:
    """The number of calls, fewer where one takes long."""
    begin = time.monotonic()
    _repeat(work, 10)
    took = (time.monotonic() - begin) / 10
    return min(subject.limits.calls, max(int(subject.limits.seconds / 16 / (_RUNS + 1) / took), 10))


def _watch(calls: int, work: Callable[[], object], given: str, of_what: str, advice: str) -> None:
    _repeat(work, calls // 2)
    held = _held()
    counts = [_counts()]
    for _ in range(_RUNS):
        _repeat(work, calls)
        counts.append(_counts())
    for at, name, least in (
        (0, "memory in use", max(calls * _LEAST_IN_USE, _LEAST_IN_USE_OF_RUN)),
        (1, "resident memory", max(calls * _LEAST_RESIDENT, _LEAST_RESIDENT_OF_RUN)),
    ):
        grown = [after[at] - before[at] for before, after in zip(counts, counts[1:], strict=False)]
        if min(grown) >= least:
            came = f"{name} grows by {sum(grown) / (_RUNS * calls):,.0f} bytes a call, in {_RUNS * calls:,} calls {of_what}"
            raise CheckFailed(given, came, advice)
    for name, before, after in zip(("open files", "threads"), held, _held(), strict=True):
        if after - before >= min(calls, _MOST_HELD):
            came = f"{name} grow from {before} to {after} in {_RUNS * calls:,} calls {of_what}"
            raise CheckFailed(given, came, advice)


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
