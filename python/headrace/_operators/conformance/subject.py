"""The operator under test, and the exceptions by which checks fail."""

import dataclasses
import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from headrace._files.whole_file import read_whole
from headrace._operators.conformance.declared_operator import DeclaredFormat, DeclaredKernel, DeclaredSource, listed
from headrace._operators.conformance.host_functions import Columns, Failure, How, Result
from headrace._operators.conformance.hosted_file import HostedFile
from headrace._operators.conformance.opened_source import OpenedSource
from headrace._operators.conformance.plugin_host import PluginHost, State
from headrace._operators.conformance.split_reader import FileRow, Reading, SplitReader
from headrace._operators.conformance.values import ColumnType, Types, Value, drawn, shown
from headrace._operators.plugins import load_plugin

Item = TypeVar("Item")


class CheckFailed(Exception):
    """A check that found something: what was given, what came, what to do."""

    def __init__(self, given: str, came: str, advice: str) -> None:
        super().__init__(came)
        self.given = given
        self.came = came
        self.advice = advice


class NotNeeded(Exception):
    """A check that is for other operators."""


class LeftOut(Exception):
    """A check that cannot be done here: why."""


@dataclasses.dataclass
class Limits:
    """What a check may use: bytes of a huge input with its results, calls to look for leaks, seconds."""

    memory: int
    calls: int
    seconds: float


class Subject:
    """One operator, in a process that is the check's own. What the first check finds the others get."""

    # Of what is found, those that are kept.
    FOUND: ClassVar[tuple[str, ...]] = ("given",)

    def __init__(
        self,
        path: str,
        name: str,
        seed: int,
        limits: Limits,
        note: Callable[[str, str], None],
        samples: Mapping[str, str],
    ) -> None:
        self.path = path
        self.name = name
        self.seed = seed
        self.limits = limits
        self.note = note
        # The attributes of its sample, or its defaults.
        self.given: dict[str, Any] = {}
        self._samples = samples
        self._begin = time.monotonic()
        self._host: PluginHost | None = None
        self._engine_has_it = False

    @property
    def host(self) -> PluginHost:
        """Not after in_engine(): a plugin keeps the functions of one host, that of its last query."""
        assert not self._engine_has_it
        if self._host is None:
            self._host = PluginHost(self.path, self.note, self._samples)
        return self._host

    def in_engine(self) -> Any:
        """The operator's class, for pipelines."""
        self._engine_has_it = True
        return getattr(load_plugin(self.path), self.name)

    def found(self) -> dict[str, Any]:
        """As JSON writes it."""
        return {name: getattr(self, name) for name in self.FOUND}

    def take(self, found: Mapping[str, Any]) -> None:
        for name in self.FOUND:
            setattr(self, name, found[name])

    @property
    def seconds_left(self) -> float:
        return self._begin + self.limits.seconds - time.monotonic()

    def in_time(self, items: Iterable[Item], part: float = 0.5) -> Iterator[Item]:
        """Those that begin within a part of the time that a check has; one at least."""
        for number, item in enumerate(items):
            if number and time.monotonic() - self._begin > part * self.limits.seconds:
                return
            yield item


class KernelSubject(Subject):
    FOUND = ("given", "types", "refused")

    # Types that it takes, and one that it does not.
    types: list[Types]
    refused: Types | None

    def found(self) -> dict[str, Any]:
        refused = self.refused and _written(self.refused)
        return {
            "given": self.kernel.defaults(),
            "types": [_written(each) for each in self.types],
            "refused": refused,
        }

    def take(self, found: Mapping[str, Any]) -> None:
        self.given = found["given"]
        self.types = [_types(each) for each in found["types"]]
        self.refused = found["refused"] and _types(found["refused"])

    @property
    def kernel(self) -> DeclaredKernel:
        return self.host.kernels[self.name]

    @property
    def operator(self) -> DeclaredKernel:
        return self.kernel

    def state(self, **changed: Any) -> State[DeclaredKernel]:
        """Made of the attributes of its sample, or its defaults, and these."""
        return State(self.host, self.kernel, self.kernel.defaults() | changed)

    def values(self, types: Types, seed: int = 0) -> list[Value]:
        return [drawn(column, self.seed * 1_000_003 + seed * 101 + at) for at, column in enumerate(types)]

    def apply(self, state: State[DeclaredKernel], types: Types, how: How | None = None, seed: int = 0) -> Result:
        return self.host.apply(state, self.values(types, seed), how)[0]

    def working(self, state: State[DeclaredKernel]) -> Types | None:
        """The first types of which apply() makes results; of a kernel that fails for all of them the first ones."""
        if state.failure is not None or not self.types:
            return None
        for types in self.types:
            if isinstance(self.apply(state, types), tuple):
                return types
        return self.types[0]

    def require(self, holds: bool, types: Types, came: str, advice: str) -> None:
        if not holds:
            raise CheckFailed(shown(types), came, advice)


def _written(types: Types) -> list[Any]:
    return [[column.dtype, column.shape] for column in types]


def _types(written: list[Any]) -> Types:
    return tuple(ColumnType(dtype, tuple(shape)) for dtype, shape in written)


class RowsSubject(Subject):
    """A source or a format."""

    @property
    def operator(self) -> DeclaredSource | DeclaredFormat:
        raise NotImplementedError

    @property
    def attributes(self) -> str:
        """For messages."""
        return listed(self.given)

    @functools.cached_property
    def columns(self) -> Columns:
        columns = self.host.columns(self.operator, self.given)
        if isinstance(columns, Failure):
            raise CheckFailed(self.attributes, f"columns() gives {columns}", GIVE_OTHERS)
        return columns

    def in_engine(self) -> Any:
        # Found while the library is still this host's.
        _ = self.columns
        return super().in_engine()


class SourceSubject(RowsSubject):
    FOUND = ("given", "most_rows")

    # As many rows are read in one go at most.
    most_rows: int = 0

    @property
    def operator(self) -> DeclaredSource:
        return self.host.sources[self.name]

    def opened(self) -> OpenedSource:
        source = OpenedSource(self.host, self.operator, self.given, self.columns)
        if source.failure is not None:
            raise CheckFailed(self.attributes, f"open() gives {source.failure}", GIVE_OTHERS)
        return source


class FormatSubject(RowsSubject):
    FOUND = ("given", "file")

    # The path of its sample.
    file: str = ""

    @property
    def operator(self) -> DeclaredFormat:
        return self.host.formats[self.name]

    @property
    def can_be_cut(self) -> bool:
        return bool(self.operator.raw.find)

    @functools.cached_property
    def contents(self) -> bytes:
        return read_whole(self.file)

    def state(self) -> State[DeclaredFormat]:
        state = State(self.host, self.operator, self.given)
        if state.failure is not None:
            raise CheckFailed(self.attributes, f"create() gives {state.failure}", GIVE_OTHERS)
        return state

    def reader(
        self,
        state: State[DeclaredFormat],
        file: HostedFile,
        begin: int = 0,
        end: int | None = None,
        how: How | None = None,
    ) -> SplitReader:
        return SplitReader(self.host, state, self.columns, file, begin, end, how)

    def read(
        self,
        state: State[DeclaredFormat],
        file: HostedFile,
        begin: int = 0,
        end: int | None = None,
        how: How | None = None,
    ) -> Reading:
        """All rows of a split."""
        reader = self.reader(state, file, begin, end, how)
        rows = tuple(reader.rows())
        failure = reader.failure
        reader.close()
        return Reading(rows, failure)

    def sample_rows(self, state: State[DeclaredFormat]) -> tuple[FileRow, ...]:
        """Those of the sample, which has no error."""
        return self.read(state, HostedFile(self.contents)).rows


GIVE_OTHERS = "let the attributes of the declaration's example work, or give others by --sample"

Check = Callable[[Any], None]
