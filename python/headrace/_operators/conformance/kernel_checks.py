"""The battery for kernels: each check takes a KernelSubject, and raises CheckFailed or BrokenRule.

The first one finds the types that a kernel takes, which the others use. Each runs in a process of its own."""

import dataclasses
import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from headrace._operators.conformance.attribute_values import try_all
from headrace._operators.conformance.declared_operator import DeclaredKernel, listed
from headrace._operators.conformance.host_functions import Failure, How, Made, Result
from headrace._operators.conformance.interface import HOST_FUNCTIONS
from headrace._operators.conformance.memory import BlockWithMargins, GuardedBlock, GuardedBlockAtStart
from headrace._operators.conformance.plugin_host import State
from headrace._operators.conformance.results import difference, unwritten
from headrace._operators.conformance.sample_types import partly_known, probed, resized
from headrace._operators.conformance.subject import CheckFailed, KernelSubject, NotNeeded
from headrace._operators.conformance.values import ColumnType, Types, Value, constant, extremes_of, numpy_dtype, shown

# So many of the types that a kernel takes are used by checks of sizes and memory.
_FEW = 6
_THREADS = 8
_ROWS = 24


def inference(subject: KernelSubject) -> None:
    """What infer() says depends on its arguments alone, fits what it said of less, and is what apply() gives."""
    kernel, given = subject.kernel, subject.kernel.defaults()
    subject.types, subject.refused = probed(subject.host, kernel, given)
    if not subject.types:
        advice = "take some dtype of 0 to 4 axes, or give attributes with which it does by the declaration's example or --sample"
        raise CheckFailed("every dtype, in usual shapes", "infer() refuses all of them", advice)
    for types in subject.types:
        made = subject.host.infer(kernel, given, types)
        subject.require(
            made == subject.host.infer(kernel, given, types),
            types,
            "infer() changes its mind",
            "let it depend on its arguments alone",
        )
        assert not isinstance(made, Failure)
        for known in partly_known(types):
            before = subject.host.infer(kernel, given, known)
            _check_that_it_fits(before, made, known, types)
    state = subject.state()
    if state.failure is not None:
        advice = "let defaults work, or give others by the declaration's example or --sample"
        raise CheckFailed("the attributes of its example, or its defaults", f"create() gives {state.failure}", advice)
    applied = [subject.apply(state, types) for types in subject.types]
    if all(isinstance(each, Failure) for each in applied):
        what = f"apply() gives {applied[0]} for all of them"
        advice = "let it work on ordinary values, or give attributes with which it does by the declaration's example or --sample"
        raise CheckFailed("every type that infer() takes", what, advice)


def _check_that_it_fits(before: Types | Failure, made: Types, known: Types, types: Types) -> None:
    if isinstance(before, Failure):
        return
    if not all(one.takes(other) for one, other in zip(before, made, strict=True)):
        came = f"infer() says {shown(before)}, and {shown(made)} once {shown(types)} is known"
        raise CheckFailed(shown(known), came, "say -1, or HEADRACE_UNKNOWN, of what depends on what is not known yet")


def attributes(subject: KernelSubject) -> None:
    """Values at declared bounds are taken, and any value that the declaration allows does no harm."""
    types = subject.working(subject.state())
    try_all(subject.kernel.attributes, lambda changed: _try(subject, types, changed), "create()")


def _try(subject: KernelSubject, types: Types | None, changed: dict[str, Any]) -> Failure | None:
    """The error of create(). What is created is applied, which may give an error, too."""
    subject.host.surroundings = f"{listed(changed)}, which the declaration allows"
    state = subject.state(**changed)
    if state.failure is None and types is not None:
        subject.apply(state, types, How(most_output=1 << 26))
    state.destroy()
    subject.host.surroundings = ""
    return state.failure


def _changed_sizes(subject: KernelSubject, lengths: tuple[int, ...]) -> None:
    state = subject.state()
    for types in subject.types[:_FEW]:
        for length in lengths:
            for each in resized(subject.host, subject.kernel, state.given, types, length):
                subject.apply(state, each, How(block=BlockWithMargins))


def empty_inputs(subject: KernelSubject) -> None:
    """Axes of length 0, one by one and all of them."""
    _changed_sizes(subject, (0,))


def sizes(subject: KernelSubject) -> None:
    """Axes of length 1 and of odd lengths."""
    _changed_sizes(subject, (1, 2, 17))


def extreme_values(subject: KernelSubject) -> None:
    """The least and the greatest numbers, NaN, empty and long strings."""
    state = subject.state()
    for types in subject.types:
        for which in extremes_of(types[0].dtype):
            values = [constant(column, which if which in extremes_of(column.dtype) else "zero") for column in types]
            subject.host.surroundings = f"each element {which}"
            subject.host.apply(state, values)
    subject.host.surroundings = ""


def memory(subject: KernelSubject) -> None:
    """Reads inputs alone, writes all of its outputs and nothing else."""
    state = subject.state()
    for types in subject.types[:_FEW]:
        for each in [types, *resized(subject.host, subject.kernel, state.given, types, 3)]:
            _check_writes(subject, state, each)
    for block, where in ((GuardedBlock, "after"), (GuardedBlockAtStart, "before")):
        subject.host.surroundings = (
            f"memory {where} inputs and outputs that cannot be touched, and inputs that cannot be written"
        )
        for types in subject.types[:_FEW]:
            subject.apply(state, types, How(block=block))


def _check_writes(subject: KernelSubject, state: State[DeclaredKernel], types: Types) -> None:
    made = [subject.apply(state, types, How(block=BlockWithMargins, fill=fill)) for fill in (0xA5, 0x5A)]
    left = unwritten(*made)
    if left is not None and subject.kernel.deterministic:
        raise CheckFailed(shown(types), f"apply() {left}", "write each element: the memory is not initialised")


def huge_input(subject: KernelSubject) -> None:
    """Larger and larger inputs, up to a quarter of the memory that the checks may use and of their time."""
    state = subject.state()
    types = subject.working(state)
    if types is None:
        return
    size, took = 1 << 16, 0.0
    while size <= subject.limits.memory // 4 and took * 16 < subject.limits.seconds / 4:
        begin = time.monotonic()
        for axis in range(len(types[0].shape or ())):
            grown = _grown(types, axis, size)
            if grown is None or isinstance(subject.host.infer(subject.kernel, state.given, grown), Failure):
                continue
            how = How(most_output=subject.limits.memory // 2)
            subject.host.apply(state, [constant(column, "zero") for column in grown], how)
            break
        took = time.monotonic() - begin
        size *= 16


def _grown(types: Types, axis: int, size: int) -> Types | None:
    """With an axis of all columns as long as fits; None for texts, which are short."""
    if any(column.dtype in ("bytes", "string") for column in types):
        return None
    others = [
        _bytes_of(column) // max((column.shape or (1,))[axis], 1) for column in types if len(column.shape or ()) > axis
    ]
    length = size // max(sum(others), 1)
    return tuple(
        ColumnType(column.dtype, tuple(length if at == axis else each for at, each in enumerate(column.shape or ())))
        for column in types
    )


def _bytes_of(column: ColumnType) -> int:
    return math.prod(column.shape or ()) * numpy_dtype(column.dtype).itemsize


def same_bytes(subject: KernelSubject) -> None:
    """The same row gives the same bytes again, from another state, after other rows, and from several threads."""
    if not subject.kernel.deterministic:
        raise NotNeeded
    state = subject.state()
    types = subject.working(state)
    if types is None:
        return
    rows = range(_ROWS)
    expected = _rows(subject, state, types, rows)
    again = {
        "again": _rows(subject, state, types, rows),
        "in reversed order": _rows(subject, state, types, rows[::-1])[::-1],
        "by another state of equal attributes": _rows(subject, subject.state(), types, rows),
    }
    with ThreadPoolExecutor(_THREADS) as pool:
        for number, made in enumerate(pool.map(lambda _: _rows(subject, state, types, rows), range(_THREADS))):
            again[f"on thread {number} of {_THREADS} at once"] = made
    for when, made in again.items():
        for row, one, other in zip(rows, expected, made, strict=True):
            _check_equal(types, one, other, f"row {row} has other results {when}")


def _rows(subject: KernelSubject, state: State[DeclaredKernel], types: Types, rows: range) -> list[Result]:
    return [subject.apply(state, types, How(key=row), seed=row) for row in rows]


def _check_equal(types: Types, one: Result, other: Result, came: str) -> None:
    if one == other:
        return
    advice = (
        "let results depend on inputs, attributes and the row's random numbers alone: no static variables, no rand()"
    )
    raise CheckFailed(shown(types), f"{came}: {difference(one, other)}", advice)


def random_numbers(subject: KernelSubject) -> None:
    """Rows that differ in their identity alone differ in results, if the kernel declares to be random."""
    if not subject.kernel.random:
        raise NotNeeded
    state = subject.state()
    types = subject.working(state)
    if types is None:
        return
    values = subject.values(types)
    drawn = 0
    results: set[Any] = set()
    for key in range(64):
        result, call = subject.host.apply(state, values, How(key=key))
        again = subject.host.apply(state, values, How(key=key))[0]
        _check_equal(types, result, again, f"the row of key {key} has other results when it is made again")
        drawn += call.draws
        results.add(result)
    if len(results) == 1 and drawn == 0:
        came = "64 rows of different identities give the same bytes, and no random number was asked for"
        raise CheckFailed(shown(types), came, "draw by the host's functions, or do not declare HEADRACE_RANDOM")


def errors(subject: KernelSubject) -> None:
    """A function of the host that fails in the middle of a call does no harm, and neither does it to the next call."""
    state = subject.state()
    types = subject.working(state)
    if types is None:
        return
    expected = subject.apply(state, types)
    for name in HOST_FUNCTIONS:
        if name in ("fail", "stopped"):
            continue
        subject.host.surroundings = f"a host whose {name}() gives an error"
        subject.apply(state, types, How(failing=name))
    subject.host.surroundings = ""
    if subject.kernel.deterministic:
        _check_equal(types, expected, subject.apply(state, types), "after an error, the same row differs")


def pointwise(subject: KernelSubject) -> None:
    """A kernel of points gives of many rows at once what it gives of each."""
    if not subject.kernel.pointwise:
        raise NotNeeded
    state = subject.state()
    for types in subject.types[:_FEW]:
        (column,) = types
        if column.dtype in ("bytes", "string"):
            continue
        rows = [subject.values(types, seed=row)[0] for row in range(5)]
        stacked = Value(ColumnType(column.dtype, (5, *(column.shape or ()))), _stacked(rows))
        whole = subject.host.apply(state, [stacked])[0]
        each = [subject.host.apply(state, [row])[0] for row in rows]
        if isinstance(whole, Failure) or any(isinstance(result, Failure) for result in each):
            continue
        joined = b"".join(result[0].contents for result in each if not isinstance(result, Failure))
        came = "the results of 5 rows as one tensor are not those of each row"
        subject.require(
            whole[0].contents == joined, types, came, "let each element depend on the one at its place alone"
        )


def _stacked(rows: list[Value]) -> Any:
    return np.stack([row.array for row in rows if row.array is not None])


def fillers(subject: KernelSubject) -> None:
    """Rows of a batch do not depend on one that only fills it."""
    if not subject.kernel.by_batch:
        raise NotNeeded
    state = subject.state()
    types = subject.working(state)
    if types is None or types[0].dtype in ("bytes", "string"):
        return
    count = (types[0].shape or (0,))[0]
    marks = [0] * (count - 1) + [1]
    made = []
    for seed in (1, 2):
        values = [
            _with_last_row(value, other)
            for value, other in zip(subject.values(types), subject.values(types, seed), strict=True)
        ]
        made.append(subject.host.apply(state, values, How(fillers=marks))[0])
    if isinstance(made[0], Failure) or isinstance(made[1], Failure):
        return
    for one, other in zip(*made, strict=True):
        came = "other rows change with the contents of a row that fillers() marks"
        subject.require(
            _other_rows(one, count) == _other_rows(other, count),
            types,
            came,
            "join no row with those that fillers() marks",
        )


def _with_last_row(value: Value, other: Value) -> Value:
    if value.array is None or other.array is None:
        return value
    array = value.array.copy()
    array[-1:] = other.array[-1:]
    return dataclasses.replace(value, array=array)


def _other_rows(made: Made, count: int) -> Any:
    return (
        made.strings[: -(len(made.strings) // count)]
        if made.strings
        else made.contents[: len(made.contents) // count * (count - 1)]
    )


def notes(subject: KernelSubject) -> None:
    """A note that is right, of another row, cut or damaged changes no result."""
    state = subject.state()
    types = subject.working(state)
    if types is None:
        return
    how, of_other = How(), How()
    values = subject.values(types)
    plain = subject.host.apply(state, values, how)[0]
    if how.left_notes is None or not subject.kernel.deterministic:
        raise NotNeeded
    subject.host.apply(state, subject.values(types, 1), of_other)
    came = "with a note of other bytes or a damaged one, the same row differs"
    for left in (how.left_notes, of_other.left_notes or {}):
        for key, note in left.items():
            for changed in _changed(note):
                made = subject.host.apply(state, values, How(notes={**left, key: changed}))[0]
                subject.require(made == plain, types, came, "check what find_note() gives, by a checksum of the inputs")


def _changed(note: bytes) -> Iterator[bytes]:
    yield note
    yield note[: len(note) // 2]
    yield note + note
    yield bytes(len(note))
    for at in range(0, len(note), max(1, len(note) // 16)):
        yield note[:at] + bytes([note[at] ^ 1]) + note[at + 1 :]
