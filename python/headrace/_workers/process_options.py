"""`ProcessOptions` holds the options of worker processes that call user code."""

import hashlib
from collections.abc import Callable
from typing import Any, Literal

from headrace._arguments.options import shown, whole
from headrace.errors import GraphError

MOST_PROCESSES = 1024


class Pool:
    """What processes run: the functions of one map, or one object. An iteration asks for `processes`, and for `code` when
    it starts."""

    def __init__(self, kind: Literal["function", "rows"], processes: int, init: Any) -> None:
        self.kind = kind
        self.processes = processes
        self.init = init
        # Each with its details and its salt.
        self.targets: list[tuple[Any, Any, int | None]] = []

    @property
    def code(self) -> tuple[Any, ...]:
        """In the form that is sent to them."""
        return self.kind, self.targets, self.init


def _salt(kind: Literal["function", "rows"], target: Any) -> int:
    """Sets apart what the processes of objects draw; the engine does so for functions."""
    if kind == "function":
        return 0
    name = f"{type(target).__module__}:{type(target).__qualname__}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")


class Workers:
    """A function or object of a pool, by its number there."""

    def __init__(self, pool: Pool, target: Any, details: Any, seeded: bool) -> None:
        self.pool = pool
        self.number = len(pool.targets)
        self._salt = _salt(pool.kind, target) if seeded else None
        pool.targets.append((target, details, self._salt))

    def same_as(self, other: "Workers") -> bool:
        """Whether two that run one function or object make no difference to it."""
        mine, others = self.pool, other.pool
        return (mine.processes, mine.init, self._salt) == (others.processes, others.init, other._salt)


class ProcessOptions:
    """What an operator says of its worker processes. Not part of the graph: rows do not depend on it. GraphError for
    values that are wrong."""

    def __init__(self, of: str, processes: int, init: Callable[[int], Any] | None, seed_globals: bool | None) -> None:
        processes = whole("processes", processes, of=of, most=MOST_PROCESSES)
        if init is not None and not callable(init):
            raise GraphError(f"{of}: worker_init is {shown(init)}; it must be a function of the process's number")
        if init is not None and processes == 0:
            raise GraphError(f"{of}: worker_init runs in worker processes; say how many with processes=")
        if seed_globals is not None and type(seed_globals) is not bool:
            raise GraphError(f"{of}: seed_globals is {shown(seed_globals)}; it must be True or False")
        self.count = processes
        self._init = init
        self._pool: Pool | None = None
        self._seed_globals = seed_globals

    def workers(
        self, kind: Literal["function", "rows"], target: Any, details: Any, takes_rng: bool = False
    ) -> Workers | None:
        """None without processes."""
        if self.count == 0:
            return None
        seeded = not takes_rng if self._seed_globals is None else self._seed_globals
        if self._pool is None:
            self._pool = Pool(kind, self.count, self._init)
        return Workers(self._pool, target, details, seeded)
