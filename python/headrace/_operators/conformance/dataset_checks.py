"""Checks of sources and formats in the engine's own pipelines: the same rows whatever runs them, on ranks and after restarts."""

import dataclasses
import itertools
import os
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace._datasets.dataset import Dataset
from headrace._files.whole_file import write_whole
from headrace._operators.conformance.declared_operator import listed
from headrace._operators.conformance.host_functions import Columns, Failure, Made, Result
from headrace._operators.conformance.pipeline_checks import RUNS, line
from headrace._operators.conformance.subject import CheckFailed, FormatSubject, NotNeeded, RowsSubject, SourceSubject
from headrace._operators.conformance.values import ColumnType
from headrace.errors import Error

# What a row's columns hold: shape and bytes, or texts.
Row = tuple[Any, ...]

_WORLDS = (2, 3, 7)


def source_dataset(subject: SourceSubject, shuffle: bool = False, **changed: Any) -> Dataset:
    dataset: Dataset = subject.in_engine()(**(subject.given | changed), shuffle=shuffle)
    return dataset


def _format_dataset(subject: FormatSubject, files: Sequence[str] = (), **changed: Any) -> Dataset:
    dataset: Dataset = subject.in_engine()(list(files) or subject.file, **(subject.given | changed))
    return dataset


# ---- rows ----


def _row_of(made: tuple[Made, ...]) -> Row:
    return tuple((each.type.shape, each.strings or each.contents) for each in made if _fits_numpy(each.type))


def _fits_numpy(column: ColumnType) -> bool:
    return column.dtype != "bfloat16"


def _comparable(dataset: Dataset, columns: Columns) -> Dataset:
    """Without the columns that NumPy cannot hold."""
    names = [name for name, column in columns if _fits_numpy(column)]
    if not names:
        raise NotNeeded
    return dataset if len(names) == len(columns) else dataset.project(names)


def _delivered(row: dict[str, Any]) -> Row:
    return tuple(_column(value) for value in row.values())


def _column(value: Any) -> Any:
    array = (
        value if isinstance(value, np.ndarray) else np.array(value, object if isinstance(value, (str, bytes)) else None)
    )
    if array.dtype == object:
        texts = tuple(each.encode() if isinstance(each, str) else bytes(each) for each in array.reshape(-1).tolist())
        return array.shape, texts or b""
    return array.shape, np.ascontiguousarray(array).tobytes()


def _rows(subject: RowsSubject, dataset: Dataset, **options: Any) -> list[Row]:
    given = f"{subject.attributes}, iterate({_options(options)})"
    subject.note("a pipeline", given)
    if "state" not in options:
        options = {"epoch": 0} | options
    try:
        with dataset.iterate(seed=subject.seed, **options) as iterator:
            return [_delivered(row) for row in iterator]
    except Error as error:
        raise CheckFailed(given, line(error), "give the same rows in pipelines as alone, and no error") from error


def _options(options: dict[str, Any]) -> str:
    return listed({name: "…" if name == "state" else value for name, value in options.items()})


def _check_equal(subject: RowsSubject, expected: list[Row], found: list[Row], when: str, advice: str = "") -> None:
    advice = advice or "let a row depend on the data and the attributes alone, and change no state"
    if len(found) != len(expected):
        raise CheckFailed(subject.attributes, f"{len(found)} rows {when}, and there are {len(expected)}", advice)
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one != other:
            raise CheckFailed(subject.attributes, f"row {number} has other contents {when}", advice)


def _check_same_rows(subject: RowsSubject, expected: list[Row], found: list[Row], when: str) -> None:
    """In any order."""
    missing, added = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    if missing or added:
        came = f"{missing.total()} of {len(expected)} rows are missing {when}, and {added.total()} are too many"
        raise CheckFailed(subject.attributes, came, "let each row come once, wherever it is read")


def _check_schema(subject: RowsSubject, dataset: Dataset) -> None:
    names = [name for name, _ in subject.columns]
    if list(dataset.schema) != names:
        came = f"a pipeline has the columns {list(dataset.schema)}, and columns() adds {names}"
        raise CheckFailed(subject.attributes, came, "let columns() depend on the attributes alone")


def _expected(results: Sequence[Result]) -> list[Row]:
    return [_row_of(made) for made in results if not isinstance(made, Failure)]


# ---- sources ----


@dataclasses.dataclass
class _Alone:
    """What was read without the engine: the first rows, as many as may be read. Those that fail are left out."""

    rows: list[Row]
    count: int
    asked: int

    @property
    def is_whole(self) -> bool:
        """All rows may be read, so that shuffled ones can be compared."""
        return self.count == self.asked

    @property
    def failing(self) -> bool:
        return len(self.rows) < self.asked


def _source_alone(subject: SourceSubject) -> _Alone:
    if not subject.operator.deterministic:
        raise NotNeeded
    opened = subject.opened()
    results = [opened.read(row) for row in range(min(subject.most_rows, opened.count))]
    return _Alone(_expected(results), opened.count, len(results))


def _source(subject: SourceSubject, alone: _Alone, shuffle: bool = False) -> Dataset:
    """A pipeline of the same rows."""
    dataset = source_dataset(subject, shuffle)
    if not alone.is_whole:
        dataset = dataset.take(alone.asked)
    dataset = _comparable(dataset, subject.columns)
    return dataset.on_error("skip") if alone.failing else dataset


def pipelines_of_source(subject: SourceSubject) -> None:
    """Every row is as read alone, whatever the executor, the threads, the messages and the order."""
    alone = _source_alone(subject)
    dataset = _source(subject, alone)
    _check_schema(subject, source_dataset(subject))
    others = {"in messages of 7 rows": {"group": 7}, "in another epoch": {"epoch": 3}}
    for when, options in (RUNS | others).items():
        _check_equal(subject, alone.rows, _rows(subject, dataset, **options), when)
    if alone.is_whole:
        shuffled = _source(subject, alone, shuffle=True)
        for epoch in range(2):
            once = _rows(subject, shuffled, epoch=epoch, executor="pull")
            _check_same_rows(subject, alone.rows, once, f"shuffled, in epoch {epoch}")
            _check_equal(subject, once, _rows(subject, shuffled, epoch=epoch, workers=8), "shuffled, on eight threads")


def shards_of_source(subject: SourceSubject) -> None:
    """Ranks share the rows exactly: rank r of n gets each n-th one from r on."""
    alone = _source_alone(subject)
    for shuffle in (False, True) if alone.is_whole else (False,):
        dataset = _source(subject, alone, shuffle)
        for world in _WORLDS:
            parts = [_rows(subject, dataset, shard=(rank, world)) for rank in range(world)]
            _check_same_rows(subject, alone.rows, sum(parts, []), f"on {world} ranks, shuffle={shuffle}")
            # Rows that fail count, too.
            for rank, part in enumerate([] if shuffle or alone.failing else parts):
                _check_equal(subject, alone.rows[rank::world], part, f"on rank {rank} of {world}")


def states_of_source(subject: SourceSubject) -> None:
    """A pipeline that is restored after any row gives the same rest."""
    alone = _source_alone(subject)
    for shuffle in (False, True) if alone.is_whole else (False,):
        dataset = _source(subject, alone, shuffle)
        for each, of_what in ((dataset, "once"), (dataset.repeat(2), "twice")):
            _check_resume(subject, each, f"{of_what}, shuffle={shuffle}")


def _check_resume(subject: RowsSubject, dataset: Dataset, when: str) -> None:
    whole = _rows(subject, dataset)
    ends = list(dict.fromkeys([0, len(whole)]))
    between = list(range(2, len(whole)))
    random.Random(subject.seed).shuffle(between)
    others = [1, *between][:22] if len(whole) > 1 else []
    ways: list[dict[str, Any]] = [{}, {"executor": "pull"}, {"workers": 8}]
    # The ends always.
    for number, step in enumerate(itertools.chain(ends, subject.in_time(others))):
        state = _state_after(subject, dataset, step)
        rest = _rows(subject, dataset, state=state, **ways[number % len(ways)])
        advice = "let a row depend on its place and the attributes alone, and the fingerprint on the data"
        _check_equal(subject, whole[step:], rest, f"restored after {step}, {when}", advice)


def _state_after(subject: RowsSubject, dataset: Dataset, step: int) -> bytes:
    subject.note("a pipeline", f"{subject.attributes}, up to row {step}")
    with dataset.iterate(seed=subject.seed, epoch=0) as iterator:
        for _ in range(step):
            next(iterator, None)
        state: bytes = iterator.state()
        return state


# ---- formats ----


def _format(subject: FormatSubject, files: Sequence[str] = (), **changed: Any) -> Dataset:
    return _comparable(_format_dataset(subject, files, **changed), subject.columns)


def _format_rows(subject: FormatSubject) -> list[Row]:
    return _expected([row.made for row in subject.sample_rows(subject.state())])


def _split_sizes(subject: FormatSubject) -> list[dict[str, Any]]:
    """One split, about five, and many."""
    if not subject.can_be_cut:
        return [{}]
    return [{"split_bytes": -(-len(subject.contents) // number)} for number in (1, 5, 64)]


def several_files(subject: FormatSubject) -> None:
    """Two files have the rows of each, an empty one and one of which nothing is left have none."""
    expected, cuts = _format_rows(subject), _split_sizes(subject)
    suffix = os.path.splitext(subject.file)[1]
    with tempfile.TemporaryDirectory(prefix="check-plugin-") as folder:
        paths = [os.path.join(folder, f"{number}{suffix}") for number in range(3)]
        for path, contents in zip(paths, (subject.contents, b"", subject.contents), strict=True):
            write_whole(path, contents, named=False)
        for files, times in (([paths[1]], 0), (paths[:2], 1), (paths, 2), (paths[::2], 2)):
            for cut in cuts:
                dataset = _format(subject, files, **cut)
                when = f"from {len(files)} files, {'one' if paths[1] in files else 'none'} of them empty"
                _check_equal(subject, expected * times, _rows(subject, dataset), when)
                shuffled = _format(subject, files, shuffle=True, **cut)
                _check_same_rows(subject, expected * times, _rows(subject, shuffled), f"{when}, shuffled")


def pipelines_of_format(subject: FormatSubject) -> None:
    """Every row is as read alone, whatever the executor, the threads, the splits and the order."""
    expected, cuts = _format_rows(subject), _split_sizes(subject)
    _check_schema(subject, _format_dataset(subject))
    for cut in cuts:
        dataset = _format(subject, **cut)
        for when, options in RUNS.items():
            _check_equal(subject, expected, _rows(subject, dataset, **options), f"{when}, {listed(cut)}")
        for interleave in (1, 3):
            shuffled = _format(subject, shuffle=True, interleave=interleave, **cut)
            once = _rows(subject, shuffled, executor="pull")
            when = f"shuffled, interleave={interleave}, {listed(cut)}"
            _check_same_rows(subject, expected, once, when)
            _check_equal(subject, once, _rows(subject, shuffled, workers=8), f"{when}, on eight threads")


def shards_of_format(subject: FormatSubject) -> None:
    """Ranks share the rows exactly, whether rows or splits are dealt."""
    expected, cuts = _format_rows(subject), _split_sizes(subject)
    for cut in cuts:
        for sharding in ("rows", "splits", "contiguous"):
            dataset = _format(subject, sharding=sharding, **cut)
            for world in _WORLDS:
                parts = [_rows(subject, dataset, shard=(rank, world)) for rank in range(world)]
                when = f"on {world} ranks, sharding={sharding!r}, {listed(cut)}"
                _check_same_rows(subject, expected, sum(parts, []), when)
                for rank, part in enumerate(parts if sharding == "rows" else []):
                    _check_equal(subject, expected[rank::world], part, f"{when}, on rank {rank}")


def states_of_format(subject: FormatSubject) -> None:
    """A pipeline that is restored after any row gives the same rest, in the middle of a split, too."""
    for cut in _split_sizes(subject):
        ways: list[dict[str, Any]] = [{}, {"shuffle": True, "interleave": 3}]
        for options in ways:
            _check_resume(subject, _format(subject, **options, **cut), listed(options | cut))
