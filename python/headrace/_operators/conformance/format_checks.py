"""The battery for formats: each check takes a FormatSubject, and raises CheckFailed or BrokenRule.

The first one finds the sample file, which the others read from memory. Each runs in a process of its own."""

import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from headrace._operators.conformance.attribute_values import try_all
from headrace._operators.conformance.declared_operator import DeclaredFormat, listed
from headrace._operators.conformance.host_functions import Failure, How
from headrace._operators.conformance.hosted_file import HostedFile
from headrace._operators.conformance.memory import BlockWithMargins, GuardedBlock, GuardedBlockAtStart
from headrace._operators.conformance.plugin_host import State
from headrace._operators.conformance.results import difference, unwritten
from headrace._operators.conformance.split_reader import FileRow, SplitReader, find
from headrace._operators.conformance.subject import CheckFailed, FormatSubject, NotNeeded
from headrace.errors import Error
from headrace.sources import Files

_THREADS = 8
_DELAY_SECONDS = 2e-4
# Of the time of a check that reading the sample once may take.
_PART = 1 / 200
_MOST_OUTPUT = 1 << 26


def columns(subject: FormatSubject) -> None:
    """What columns() says depends on the attributes alone, and the sample file is read without an error."""
    subject.given = subject.operator.defaults()
    subject.file = _sample_file(subject)
    again = subject.host.columns(subject.operator, subject.given)
    if again != subject.columns:
        raise CheckFailed(subject.attributes, "columns() changes its mind", "let it depend on the attributes alone")
    begin = time.monotonic()
    reading = subject.read(subject.state(), HostedFile(subject.contents))
    failures = [row.made for row in reading.rows if isinstance(row.made, Failure)]
    failures += [reading.failure] if reading.failure is not None else []
    if failures:
        raise CheckFailed(subject.file, f"next() gives {failures[0]}", _advice(subject, "a file without errors"))
    if not reading.rows:
        raise CheckFailed(subject.file, "no row", _advice(subject, "a file with some rows"))
    took = time.monotonic() - begin
    if took > _PART * subject.limits.seconds:
        came = f"reading it takes {took:.2g} s, and it is read hundreds of times"
        raise CheckFailed(subject.file, came, _advice(subject, "a smaller file"))


def _sample_file(subject: FormatSubject) -> str:
    """The smallest one with any bytes that the sample's patterns match."""
    patterns = subject.operator.arguments().get("patterns")
    if not patterns:
        raise CheckFailed("the declaration's example", "it names no file", _advice(subject, "a small file"))
    try:
        paths = [str(row["path"]) for row in Files(patterns, columns=["path"])]
    except Error as error:
        raise CheckFailed(
            str(patterns), " ".join(str(error).split("\n")[0].split()), _advice(subject, "a small file")
        ) from error
    sizes = {path: os.path.getsize(path) for path in paths}
    filled = [path for path in paths if sizes[path] > 0]
    if not filled:
        raise CheckFailed(str(patterns), "all of its files are empty", _advice(subject, "a file with some rows"))
    return os.path.abspath(min(filled, key=sizes.__getitem__))


def _advice(subject: FormatSubject, what: str) -> str:
    return f"give {what} of the format: --sample '{subject.name}(\"FILE\")', with its attributes, if any"


def attributes(subject: FormatSubject) -> None:
    """Values at declared bounds are taken, and any value that the declaration allows does no harm."""
    try_all(subject.operator.attributes, lambda changed: _try(subject, changed), "columns() or create()")


def _try(subject: FormatSubject, changed: dict[str, Any]) -> Failure | None:
    """The error of columns() or create(). The sample is read, which may give errors, too."""
    subject.host.surroundings = f"{listed(changed)}, which the declaration allows"
    given = subject.given | changed
    made = subject.host.columns(subject.operator, given)
    if isinstance(made, Failure):
        return made
    state: State[DeclaredFormat] = State(subject.host, subject.operator, given)
    if state.failure is None:
        file = HostedFile(subject.contents)
        reader = SplitReader(subject.host, state, made, file, how=How(most_output=_MOST_OUTPUT))
        for _ in reader.rows():
            pass
        reader.close()
    state.destroy()
    subject.host.surroundings = ""
    return state.failure


def row_borders(subject: FormatSubject) -> None:
    """For every byte find() gives where the first row begins that begins there or after it."""
    if not subject.can_be_cut:
        raise NotNeeded
    state, file = subject.state(), HostedFile(subject.contents)
    begins = [row.begin for row in subject.sample_rows(state)]
    for byte in subject.in_time(_places(subject, begins)):
        expected = next((begin for begin in begins if begin >= byte), file.size)
        found = find(subject.host, state, file, byte)
        if found != expected:
            came = f"find() gives {found}, and the first row from there on begins at byte {expected:,}"
            if expected == file.size:
                came = f"find() gives {found}, and no row begins there or after it: the file has {file.size:,} bytes"
            advice = "give the byte where a row begins as next() gives it, at `byte` itself, too; else the file's size"
            raise CheckFailed(f"byte {byte:,} of {subject.file}", came, advice)


def _places(subject: FormatSubject, begins: list[int]) -> list[int]:
    """Bytes of the file, the more telling ones first: all of them if it is small."""
    size, most = len(subject.contents), subject.limits.calls
    near = [begin + step for begin in [*begins, size] for step in (0, 1, -1)]
    if len(near) > most:
        random.Random(subject.seed).shuffle(near)
    others = list(range(size)) if size <= most else random.Random(subject.seed).sample(range(size), most)
    return [byte for byte in dict.fromkeys([*near[:most], *others]) if 0 <= byte < size][: 2 * most]


def splits(subject: FormatSubject) -> None:
    """However the file is cut, its splits have each row once, in any order of reading."""
    if not subject.can_be_cut:
        raise NotNeeded
    state = subject.state()
    expected = subject.sample_rows(state)
    for cuts in subject.in_time(_ways_to_cut(subject, [row.begin for row in expected])):
        borders = [0, *cuts, len(subject.contents)]
        parts = list(zip(borders, borders[1:], strict=False))
        subject.host.surroundings = f"splits that end at bytes {_shown(borders[1:])}"
        rows: list[FileRow] = []
        # The last one first.
        for begin, end in reversed(parts):
            reading = subject.read(state, HostedFile(subject.contents), begin, end)
            if reading.failure is not None:
                given = f"bytes {begin:,} to {end:,} of {subject.file}"
                raise CheckFailed(given, f"the split fails by {reading.failure}", _ADVICE_FOR_SPLITS)
            rows[:0] = reading.rows
        _check_rows(subject, expected, rows, subject.host.surroundings)
    subject.host.surroundings = ""


_ADVICE_FOR_SPLITS = (
    "let a split have the rows that begin in it, wherever they end, and let a reader need no other split"
)


def _ways_to_cut(subject: FormatSubject, begins: list[int]) -> Iterator[list[int]]:
    """At one byte: where a row begins, before and after; then into equal splits, at last of a byte each."""
    size = len(subject.contents)
    for byte in _places(subject, begins):
        if byte > 0:
            yield [byte]
    for number in (3, 7, 16, 61, size):
        if number <= min(size, subject.limits.calls):
            yield sorted({size * part // number for part in range(1, number)} - {0})


def _shown(numbers: list[int]) -> str:
    listed = ", ".join(f"{number:,}" for number in numbers[:6])
    return f"{listed}, …" if len(numbers) > 6 else listed


def _check_rows(
    subject: FormatSubject, expected: tuple[FileRow, ...], rows: list[FileRow], how: str, advice: str = ""
) -> None:
    advice = advice or _ADVICE_FOR_SPLITS
    given = f"{subject.file}, {how}"
    for number, (one, other) in enumerate(zip(expected, rows, strict=False)):
        if (one.begin, one.end) != (other.begin, other.end):
            came = f"row {number} is bytes {other.begin:,} to {other.end:,}; alone the file has {one.begin:,} to {one.end:,}"
            raise CheckFailed(given, came, advice)
        if one.made != other.made:
            came = f"row {number}, of bytes {one.begin:,} to {one.end:,}, differs: {difference(one.made, other.made)}"
            raise CheckFailed(given, came, advice)
    if len(rows) != len(expected):
        raise CheckFailed(given, f"{len(rows)} rows, and the file has {len(expected)}", advice)


def resume(subject: FormatSubject) -> None:
    """From the end of each row on, reading gives the rest, to the end of the file and of a split."""
    if not subject.can_be_cut:
        raise NotNeeded
    state = subject.state()
    expected = subject.sample_rows(state)
    middle = len(subject.contents) // 2
    numbers = list(range(len(expected)))
    random.Random(subject.seed).shuffle(numbers)
    for number in subject.in_time(numbers[: subject.limits.calls]):
        for end in (len(subject.contents), middle):
            begin = expected[number].end
            reading = subject.read(state, HostedFile(subject.contents), begin, end)
            rest = tuple(row for row in expected[number + 1 :] if row.begin < end)
            how = f"from byte {begin:,}, where row {number} ends, to byte {end:,}"
            _check_rows(subject, rest, list(reading.rows), how, "let find() and open() go on from any row's end")


def memory(subject: FormatSubject) -> None:
    """Writes all of its outputs and nothing else."""
    state = subject.state()
    made = []
    for fill in (0xA5, 0x5A):
        made.append(subject.read(state, HostedFile(subject.contents), how=How(block=BlockWithMargins, fill=fill)).rows)
    for one, other in zip(*made, strict=False):
        left = unwritten(one.made, other.made)
        if left is not None:
            given = f"the row of bytes {one.begin:,} to {one.end:,} of {subject.file}"
            raise CheckFailed(given, f"next() {left}", "write each element: the memory is not initialised")
    for block, where in ((GuardedBlock, "after"), (GuardedBlockAtStart, "before")):
        subject.host.surroundings = f"memory {where} outputs that cannot be touched"
        subject.read(state, HostedFile(subject.contents), how=How(block=block))


def errors(subject: FormatSubject) -> None:
    """A function of the host that fails does no harm: other rows are right, and so is the next reading."""
    state = subject.state()
    expected = subject.sample_rows(state)
    right = {row.begin: row for row in expected}
    names = ("file_size", "read_file", "begin_row", "allocate", "give_strings")
    for spared in subject.in_time([0, 1, 2, 3, 5, 8, 13]):
        for name in names:
            subject.host.surroundings = f"a host whose {name}() gives errors from call {spared + 1} on"
            reading = subject.read(state, HostedFile(subject.contents), how=How(failing=name, spared=spared))
            for row in reading.rows:
                if not isinstance(row.made, Failure) and right.get(row.begin) != row:
                    came = f"the row of bytes {row.begin:,} to {row.end:,} is another one, and no error"
                    advice = "return what the host's function returns, at once"
                    raise CheckFailed(subject.host.surroundings, came, advice)
    subject.host.surroundings = ""
    _check_rows(
        subject, expected, list(subject.sample_rows(state)), "after errors", "undo what was begun, on errors, too"
    )


def same_bytes(subject: FormatSubject) -> None:
    """A file gives the same rows again, by another state, by readers that take turns, and on several threads at once."""
    state = subject.state()
    expected = subject.sample_rows(state)
    advice = "let rows depend on the file and the attributes alone: no static variables, and no change of the state"
    _check_rows(subject, expected, list(subject.sample_rows(state)), "read again", advice)
    _check_rows(subject, expected, list(subject.sample_rows(subject.state())), "read by another state", advice)
    readers = [subject.reader(state, HostedFile(subject.contents)) for _ in range(2)]
    pairs = list(zip(*(reader.rows() for reader in readers), strict=False))
    for reader in readers:
        reader.close()
    for turn in range(2):
        rows = [pair[turn] for pair in pairs]
        _check_rows(subject, expected, rows, "read by two readers that take turns", advice)

    def read(_: int) -> list[FileRow]:
        return list(subject.read(state, HostedFile(subject.contents, delays=_DELAY_SECONDS)).rows)

    with ThreadPoolExecutor(_THREADS) as pool:
        for rows in pool.map(read, range(_THREADS)):
            _check_rows(subject, expected, rows, f"read by {_THREADS} threads at once, from a slow disk", advice)
