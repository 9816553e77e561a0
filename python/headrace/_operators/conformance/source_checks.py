"""The battery for sources with random access: each check takes a SourceSubject, and raises CheckFailed or BrokenRule.

The first one finds how many rows may be read in one go, which the others use."""

import random
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from headrace._datasets.dataset import Dataset
from headrace._operators.conformance.attribute_values import allowed_values, try_all
from headrace._operators.conformance.dataset_checks import source_dataset
from headrace._operators.conformance.declared_operator import listed
from headrace._operators.conformance.host_functions import Failure, How, Result
from headrace._operators.conformance.memory import BlockWithMargins, GuardedBlock, GuardedBlockAtStart
from headrace._operators.conformance.opened_source import OpenedSource
from headrace._operators.conformance.results import difference, unwritten
from headrace._operators.conformance.subject import GIVE_OTHERS, CheckFailed, NotNeeded, SourceSubject
from headrace.errors import Error, GraphError

_MOST_ROWS = 64
_THREADS = 8
_DELAY_SECONDS = 2e-4
# Of the time of a check that reading all of these rows once may take.
_PART = 1 / 40
# In memory: what a row with attributes at their bounds may take.
_MOST_OUTPUT = 1 << 26


def columns(subject: SourceSubject) -> None:
    """What columns() says depends on the attributes alone, open() works, and rows are of these types."""
    subject.given = subject.operator.defaults()
    source = subject.opened()
    again = subject.host.columns(subject.operator, subject.given)
    if again != subject.columns:
        raise CheckFailed(subject.attributes, "columns() changes its mind", "let it depend on the attributes alone")
    if source.count == 0:
        raise CheckFailed(subject.attributes, "open() gives 0 rows, so there is nothing to check", GIVE_OTHERS)
    begin, failures = time.monotonic(), []
    for number, row in enumerate(_spread(subject, source.count, _MOST_ROWS)):
        if number and time.monotonic() - begin > _PART * subject.limits.seconds:
            break
        made = source.read(row)
        failures += [made] if isinstance(made, Failure) else []
        subject.most_rows = number + 1
    if len(failures) == subject.most_rows:
        raise CheckFailed(subject.attributes, f"read() gives {failures[0]}, for every row", GIVE_OTHERS)


def _spread(subject: SourceSubject, count: int, most: int) -> list[int]:
    """Numbers of rows: all, or the first, the last and some between them. Any part of them is spread, too."""
    generator = random.Random(subject.seed)
    if count <= most:
        rows = list(range(count))
        generator.shuffle(rows)
        return rows
    ends = [0, count - 1, 1, count - 2]
    drawn = (generator.randrange(count) for _ in range(4 * most))
    return list(dict.fromkeys([*ends, *drawn]))[:most]


def _rows_of(subject: SourceSubject, source: OpenedSource) -> list[int]:
    return _spread(subject, source.count, subject.most_rows)


def attributes(subject: SourceSubject) -> None:
    """Values at declared bounds are taken, and any value that the declaration allows does no harm."""
    try_all(subject.operator.attributes, lambda changed: _try(subject, changed), "columns() or open()")


def _try(subject: SourceSubject, changed: dict[str, Any]) -> Failure | None:
    """The error of columns() or open(). Of what is opened rows are read, which may give errors, too."""
    subject.host.surroundings = f"{listed(changed)}, which the declaration allows"
    given = subject.given | changed
    made = subject.host.columns(subject.operator, given)
    if isinstance(made, Failure):
        return made
    source = OpenedSource(subject.host, subject.operator, given, made)
    for row in {0, source.count // 2, source.count - 1} if source.count else ():
        source.read(row, How(most_output=_MOST_OUTPUT))
    source.destroy()
    subject.host.surroundings = ""
    return source.failure


def row_count(subject: SourceSubject) -> None:
    """The number of rows and the fingerprint are the same of every instance, whoever opens it and when."""
    first = subject.opened()
    _check_alike(subject, first, [subject.opened() for _ in range(3)], "while others are open")
    with ThreadPoolExecutor(_THREADS) as pool:
        opened = pool.map(lambda _: subject.opened(), range(_THREADS))
        _check_alike(subject, first, opened, f"on {_THREADS} threads at once")
    for row in _rows_of(subject, first):
        first.read(row)
    _check_alike(subject, first, [subject.opened()], "after rows were read")


def _check_alike(subject: SourceSubject, first: OpenedSource, others: Iterable[OpenedSource], when: str) -> None:
    for other in others:
        if other.count != first.count:
            came = f"open() gives {first.count:,} rows, then {other.count:,}, {when}"
            raise CheckFailed(subject.attributes, came, "let the number of rows depend on the data alone")
        if other.fingerprint != first.fingerprint:
            came = f"open() gives the fingerprint {first.fingerprint}, then {other.fingerprint}, {when}"
            raise CheckFailed(subject.attributes, came, "let it depend on the data alone, or give 0")
        other.destroy()


def no_rows(subject: SourceSubject) -> None:
    """Where attributes that the declaration allows give no rows, pipelines have none, and read() is not asked."""
    given = [changed for changed in _allowed_changes(subject) if _gives_no_rows(subject, changed)]
    if not given:
        raise NotNeeded
    for changed in given:
        for shuffle in (False, True):
            _check_no_rows(subject, changed, source_dataset(subject, shuffle, **changed).batch(2))


def _allowed_changes(subject: SourceSubject) -> list[dict[str, Any]]:
    attributes = subject.operator.attributes
    return [{each.name.decode(): value} for each in attributes for value in allowed_values(each)]


def _gives_no_rows(subject: SourceSubject, changed: dict[str, Any]) -> bool:
    made = subject.host.columns(subject.operator, subject.given | changed)
    if isinstance(made, Failure):
        return False
    source = OpenedSource(subject.host, subject.operator, subject.given | changed, made)
    source.destroy()
    return source.failure is None and source.count == 0


def _check_no_rows(subject: SourceSubject, changed: dict[str, Any], dataset: Dataset) -> None:
    ways: list[dict[str, Any]] = [{"executor": "pull"}, {}, {"shard": (1, 2)}]
    for options in ways:
        subject.note("a pipeline", f"{listed(changed)}, which give no rows")
        try:
            rows = len(list(dataset.iterate(**options)))
        except Error as error:
            raise CheckFailed(listed(changed), f"no rows, and {error}", "let columns() and open() work") from error
        if rows:
            raise CheckFailed(listed(changed), f"{rows} batches of no rows", "give the number of rows in open()")


def positions(subject: SourceSubject) -> None:
    """Every row can be read by its number, in any order and again; numbers from the number of rows on are refused."""
    source = subject.opened()
    if subject.operator.deterministic:
        _check_any_order(source, _rows_of(subject, source))
    dataset = source_dataset(subject)
    if len(dataset) != source.count:
        came = f"the source has {len(dataset):,} rows in a pipeline, and {source.count:,} here"
        raise CheckFailed(subject.attributes, came, "let the number of rows depend on the data alone")
    for row in (source.count, source.count + 1):
        subject.note("a pipeline", f"select([{row}]) of {source.count:,} rows")
        try:
            list(dataset.select([row]))
        except GraphError:
            continue
        raise CheckFailed(f"row {row:,} of {source.count:,}", "a row and no error", "give the number of rows in open()")


def _check_any_order(source: OpenedSource, rows: list[int]) -> None:
    expected = {row: source.read(row) for row in rows}
    for when, order in (("in ascending order", sorted(rows)), ("in descending order", sorted(rows)[::-1])):
        for row in order:
            _check_same(row, expected[row], source.read(row), when)
    for row in rows[:8]:
        _check_same(row, source.read(row), source.read(row), "at once again")


def _check_same(row: int, one: Result, other: Result, when: str) -> None:
    if one == other:
        return
    advice = (
        "let a row depend on its number and the attributes alone: no static variables, no rand(), no place in a file"
    )
    raise CheckFailed(f"row {row:,}", f"row {row:,} differs {when}: {difference(one, other)}", advice)


def memory(subject: SourceSubject) -> None:
    """Writes all of its outputs and nothing else."""
    source = subject.opened()
    rows = _rows_of(subject, source)
    for row in rows:
        made = [source.read(row, How(block=BlockWithMargins, fill=fill)) for fill in (0xA5, 0x5A)]
        left = unwritten(*made)
        if left is not None and subject.operator.deterministic:
            raise CheckFailed(f"row {row:,}", f"read() {left}", "write each element: the memory is not initialised")
    for block, where in ((GuardedBlock, "after"), (GuardedBlockAtStart, "before")):
        subject.host.surroundings = f"memory {where} outputs that cannot be touched"
        for row in rows[:8]:
            source.read(row, How(block=block))


def errors(subject: SourceSubject) -> None:
    """A function of the host that fails in the middle of a call does no harm, and neither does it to the next call."""
    source = subject.opened()
    for row in _rows_of(subject, source)[:4]:
        expected = source.read(row)
        for name in ("allocate", "give_strings"):
            for spared in range(len(subject.columns)):
                subject.host.surroundings = f"a host whose {name}() gives an error, call {spared + 1}"
                source.read(row, How(failing=name, spared=spared))
        subject.host.surroundings = ""
        if subject.operator.deterministic:
            _check_same(row, expected, source.read(row), "after an error")


def same_bytes(subject: SourceSubject) -> None:
    """A row is the same from another instance, and from several threads at once."""
    if not subject.operator.deterministic:
        raise NotNeeded
    source = subject.opened()
    rows = _rows_of(subject, source)
    expected = [source.read(row) for row in rows]
    again = {
        "again": [source.read(row) for row in rows],
        "by another instance of equal attributes": [subject.opened().read(row) for row in rows[:8]],
    }
    with ThreadPoolExecutor(_THREADS) as pool:
        # Neighbours read other rows at the same time.
        orders = [rows[number:] + rows[:number] for number in range(_THREADS)]

        def read(order: list[int]) -> dict[int, Result]:
            return {row: source.read(row, How(delays=_DELAY_SECONDS)) for row in order}

        for number, made in enumerate(pool.map(read, orders)):
            again[f"on thread {number} of {_THREADS} at once"] = [made[row] for row in rows]
    for when, results in again.items():
        for row, one, other in zip(rows, expected, results, strict=False):
            _check_same(row, one, other, when)
