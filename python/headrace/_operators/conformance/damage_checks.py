"""Checks of formats on files that are not what they should be: cut off, with other bytes, or on a failing disk."""

import os
import random
import resource
from collections.abc import Iterator

from headrace._operators.conformance.declared_operator import DeclaredFormat
from headrace._operators.conformance.host_functions import Failure
from headrace._operators.conformance.hosted_file import HostedFile
from headrace._operators.conformance.plugin_host import State
from headrace._operators.conformance.split_reader import FileRow, Reading
from headrace._operators.conformance.subject import CheckFailed, FormatSubject

# What an error of damaged bytes may be: a version that is not known is a matter of its own.
_KINDS = ("DataError", "UnsupportedError")
# A damaged file may take a part of the memory that checks may use, but no less than this.
_LEAST_MEMORY = 64 << 20
# Of each width lengths that no file has.
_NUMBERS = [
    (width, number)
    for width in (4, 8)
    for most in [(1 << (8 * width - 1)) - 1]
    for number in (0, 1, -1, most, -most - 1, most // 2, 1 << 20)
]
_ERROR_ADVICE = "say by HEADRACE_DATA_ERROR what is wrong with the file, before the bytes are used"


def truncated(subject: FormatSubject) -> None:
    """Cut off at every byte, the file gives some of its rows, or an error of the data."""
    _bound_memory(subject)
    state = subject.state()
    rows = subject.sample_rows(state)
    size = len(subject.contents)
    cuts = list(range(size))
    random.Random(subject.seed).shuffle(cuts)
    for cut in subject.in_time(cuts[: subject.limits.calls]):
        given = f"the first {cut:,} of {size:,} bytes of {subject.file}"
        reading = _read(subject, state, subject.contents[:cut], given)
        if len(reading.rows) > len(rows):
            came = f"{len(reading.rows)} rows, and the whole file has {len(rows)}"
            raise CheckFailed(given, came, "give no row of bytes that are not there")
    _check_unharmed(subject, state, rows)


def damaged(subject: FormatSubject) -> None:
    """With other bytes here and there, the file gives rows, or an error of the data."""
    _bound_memory(subject)
    state = subject.state()
    rows = subject.sample_rows(state)
    for at, changed in subject.in_time(_changes(subject)):
        contents = subject.contents[:at] + changed + subject.contents[at + len(changed) :]
        was = subject.contents[at : at + len(changed)]
        given = f"bytes {was.hex(' ')} at byte {at:,} of {subject.file} changed to {changed.hex(' ')}"
        _read(subject, state, contents, given)
    _check_unharmed(subject, state, rows)


def _changes(subject: FormatSubject) -> Iterator[tuple[int, bytes]]:
    """Where, and what stands there then: bits, least and greatest numbers of each size, and noise."""
    generator = random.Random(subject.seed)
    size = len(subject.contents)
    numbers = {number.to_bytes(width, "little", signed=True) for width, number in _NUMBERS}
    numbers |= {number[::-1] for number in numbers}
    changes = [bytes([value]) for value in (0x00, 0xFF, 0x7F, 0x80)] + sorted(numbers)
    for _ in range(subject.limits.calls):
        at = generator.randrange(size)
        kind = generator.randrange(4)
        if kind == 0:
            made = bytes([subject.contents[at] ^ (1 << generator.randrange(8))])
        elif kind == 1:
            made = generator.randbytes(generator.randrange(1, 17))
        else:
            made = generator.choice(changes)
        made = made[: size - at]
        if made != subject.contents[at : at + len(made)]:
            yield at, made


def _bound_memory(subject: FormatSubject) -> None:
    """A length that is damaged must not take the machine's memory."""
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    more = max(subject.limits.memory // 4, _LEAST_MEMORY)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    bound = held + more if most == resource.RLIM_INFINITY else min(held + more, most)
    resource.setrlimit(resource.RLIMIT_AS, (bound, most))


def _read(subject: FormatSubject, state: State[DeclaredFormat], contents: bytes, given: str) -> Reading:
    """The whole file, and in two splits. Errors that damaged bytes must not give fail the check."""
    subject.host.surroundings = given
    whole = _checked(subject, state, contents, 0, len(contents), given)
    if subject.can_be_cut:
        for begin, end in ((0, len(contents) // 2), (len(contents) // 2, len(contents))):
            _checked(subject, state, contents, begin, end, given)
    subject.host.surroundings = ""
    return whole


def _checked(
    subject: FormatSubject, state: State[DeclaredFormat], contents: bytes, begin: int, end: int, given: str
) -> Reading:
    reader = subject.reader(state, HostedFile(contents), begin, end)
    rows = []
    for row in reader.rows():
        rows.append(row)
        if isinstance(row.made, Failure):
            _check_kind(row.made, given)
    if reader.failure is not None:
        _check_kind(reader.failure, given)
    reader.close()
    return Reading(tuple(rows), reader.failure)


def _check_kind(failure: Failure, given: str) -> None:
    if failure.kind == "ResourceError" and not failure.of_host:
        came = f"{failure}: it asks for more memory than the file has any use for"
        raise CheckFailed(given, came, "compare lengths in the file with the file's size before memory is taken")
    if failure.kind not in (*_KINDS, "ResourceError"):
        raise CheckFailed(given, f"an error of damaged bytes is {failure}", _ERROR_ADVICE)


def _check_unharmed(subject: FormatSubject, state: State[DeclaredFormat], rows: tuple[FileRow, ...]) -> None:
    if subject.sample_rows(state) != rows:
        came = "the file as it was has other rows than before"
        raise CheckFailed(f"{subject.file} after damaged files", came, "undo what was begun, on errors, too")


def reads(subject: FormatSubject) -> None:
    """Rows come from the bytes that the host reads: other bytes give others, and none come from bytes that it cannot read."""
    state = subject.state()
    rows = subject.sample_rows(state)
    _check_that_it_reads(subject, state)
    right = {row.begin: row for row in rows}
    size = len(subject.contents)
    cuts = list(range(size))
    random.Random(subject.seed).shuffle(cuts)
    for cut in subject.in_time(cuts[: subject.limits.calls // 4]):
        given = f"{subject.file}, of which bytes from {cut:,} on cannot be read"
        subject.host.surroundings = given
        for row in subject.read(state, HostedFile(subject.contents, cut=cut)).rows:
            if not isinstance(row.made, Failure) and right.get(row.begin) != row:
                came = f"the row of bytes {row.begin:,} to {row.end:,} is another one, and no error"
                raise CheckFailed(given, came, "return what read_file() returns, at once")
    subject.host.surroundings = ""
    _check_unharmed(subject, state, rows)


def _check_that_it_reads(subject: FormatSubject, state: State[DeclaredFormat]) -> None:
    advice = "read the file by the host's read_file() alone: it may be on another machine"
    file = HostedFile(subject.contents)
    rows = subject.read(state, file).rows
    if not file.reads:
        raise CheckFailed(subject.file, f"{len(rows)} rows, and nothing of the file was read", advice)
    inverted = bytes(byte ^ 0xFF for byte in subject.contents)
    if subject.read(state, HostedFile(inverted)).rows == rows:
        came = f"the same {len(rows)} rows of a file in which every bit is another one"
        raise CheckFailed(subject.file, came, advice)
