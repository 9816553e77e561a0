"""What a check is about: one operator of a plugin, and how a check says that it failed."""

import dataclasses
from collections.abc import Callable
from typing import Any

from headrace.conformance.declared_kernel import DeclaredKernel
from headrace.conformance.host_functions import How, Result
from headrace.conformance.plugin_host import PluginHost, State
from headrace.conformance.values import Types, Value, drawn, shown


class CheckFailed(Exception):
    """A check that found something: what was given, what came, what to do."""

    def __init__(self, given: str, came: str, advice: str) -> None:
        super().__init__(came)
        self.given = given
        self.came = came
        self.advice = advice


class NotNeeded(Exception):
    """A check that is for other operators."""


@dataclasses.dataclass
class Limits:
    """What a check may use: bytes of a huge input with its results, calls to look for leaks, seconds."""

    memory: int
    calls: int
    seconds: float


@dataclasses.dataclass
class Subject:
    """One kernel, in a process that is the check's own."""

    path: str
    name: str
    seed: int
    limits: Limits
    note: Callable[[str, str], None]
    outputs: int
    # What the first check found: types that it takes, one that it does not, and its attributes.
    types: list[Types] = dataclasses.field(default_factory=list)
    refused: Types | None = None
    given: dict[str, Any] = dataclasses.field(default_factory=dict)
    _host: PluginHost | None = None

    @property
    def host(self) -> PluginHost:
        if self._host is None:
            self._host = PluginHost(self.path, self.note)
        return self._host

    @property
    def kernel(self) -> DeclaredKernel:
        return self.host.kernels[self.name]

    def state(self, **changed: Any) -> State:
        """Made of the attributes of its example, or its defaults, and these."""
        return State(self.host, self.kernel, self.kernel.defaults() | changed)

    def values(self, types: Types, seed: int = 0) -> list[Value]:
        return [drawn(column, self.seed * 1_000_003 + seed * 101 + at) for at, column in enumerate(types)]

    def apply(self, state: State, types: Types, how: How | None = None, seed: int = 0) -> Result:
        return self.host.apply(state, self.values(types, seed), how)[0]

    def working(self, state: State) -> Types | None:
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


Check = Callable[[Subject], None]
