"""The outcome of a run, in a form that can be compared, stored and sent to another process."""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import headrace as hr

Row = tuple[tuple[str, ...], ...]

# Longer contents are compared by their hash.
LONGEST_SHOWN = 1024


@dataclasses.dataclass(frozen=True)
class Failure:
    """An error, reduced to the parts that a user may rely on."""

    kind: str
    message: str
    operator: str | None
    row: str | None
    file: str | None
    location: str | None
    cause: str

    @staticmethod
    def of(error: hr.Error) -> "Failure":
        return Failure(
            type(error).__name__,
            # A restart does not know the rows that were left out before it.
            re.sub(r"\n  left out before: .*", "", str(error)),
            error.operator,
            error.row,
            error.file,
            error.location,
            repr(error.__cause__),
        )


@dataclasses.dataclass
class Outcome:
    rows: list[Row]
    failure: Failure | None = None


def frozen(value: Any) -> tuple[str, str, str]:
    """A column's dtype, shape and contents to the last bit."""
    array = np.asarray(value)
    if array.dtype == object:
        contents = repr(array.tolist())
        content_types = sorted({type(each).__name__ for each in array.flat})
        return ("object of " + "/".join(content_types), str(array.shape), _short(contents.encode()))
    return (array.dtype.str, str(array.shape), _short(np.ascontiguousarray(array).tobytes()))


def _short(contents: bytes) -> str:
    if len(contents) <= LONGEST_SHOWN:
        return contents.hex()
    return f"{len(contents)} bytes {hashlib.blake2b(contents, digest_size=16).hexdigest()}"


def frozen_row(row: dict[str, Any]) -> Row:
    return tuple((name, *frozen(value)) for name, value in row.items())


def read(iterator: Iterator[dict[str, Any]], most: int | None = None) -> Outcome:
    """Reads `most` rows, or all. An iterator that failed must stay failed."""
    outcome = Outcome([])
    try:
        while most is None or len(outcome.rows) < most:
            outcome.rows.append(frozen_row(next(iterator)))
    except StopIteration:
        assert next(iterator, None) is None
    except hr.Error as error:
        outcome.failure = Failure.of(error)
        try:
            next(iterator)
        except hr.Error as again:
            # Without the cause, whose traceback would keep objects of the function alive.
            assert Failure.of(again) == dataclasses.replace(outcome.failure, cause=repr(None))
        else:
            raise AssertionError("the iterator went on after its error") from error
    return outcome


def read_all(dataset: hr.Dataset, **options: Any) -> Outcome:
    with dataset.iterate(**options) as iterator:
        return read(iterator)


def read_restoring(dataset: hr.Dataset, step: int = 1, **options: Any) -> tuple[Outcome, int]:
    """Reads `step` rows at a time, each time from the state of the previous iterator; also returns their number."""
    outcome = Outcome([])
    generations = 0
    state = None
    while True:
        generations += 1
        with dataset.iterate(state=state, **options) as iterator:
            part = read(iterator, step)
            state = iterator.state() if part.failure is None else None
        outcome.rows += part.rows
        outcome.failure = part.failure
        if part.failure is not None or len(part.rows) < step:
            return outcome, generations


def assert_same(expected: Outcome, found: Outcome) -> None:
    """Describes the first difference, not all contents."""
    for position, (one, two) in enumerate(zip(expected.rows, found.rows, strict=False)):
        assert one == two, f"row {position} differs"
    assert found.failure == expected.failure
    assert len(found.rows) == len(expected.rows)


def rest_from_state(build: Callable[..., hr.Dataset], arguments: tuple[Any, ...], state: bytes) -> Outcome:
    """Runs in another process: builds the pipeline there and resumes from the state."""
    return read_all(build(*arguments), state=state)
