"""What goes wrong on a network, as rules of a small server: which requests meet a fault, and what it does to them."""

import dataclasses
import fnmatch
import random
import threading
from collections.abc import Callable, Iterable


@dataclasses.dataclass(frozen=True)
class Fault:
    """One thing that goes wrong; everything else of the request is served as usual.

    `status` is sent in place of the reply, with `retry_after` (seconds) and `body`. `before` is called before the request
    is served, and may change the store. A reply is `cut` by closing the connection after so many bytes of its body,
    `reset` in the same way by a reset, or `stalled` for `seconds`; the byte -1 stands for the time before the status line.
    `trickle` sends so many bytes a second. `whole` ignores the range; `shifted` says a Content-Range that is wrong by so
    many bytes; `lost` serves the request and closes without a reply. `change` is called with the reply.
    """

    status: int = 0
    retry_after: int | str | None = None
    body: bytes = b""
    before: Callable[[], None] | None = None
    cut: int | None = None
    reset: int | None = None
    stalled: int | None = None
    seconds: float = 3600.0
    trickle: float = 0.0
    whole: bool = False
    shifted: int = 0
    lost: bool = False
    change: "Callable[[object], None] | None" = None


def throttled(retry_after: int | str | None = None) -> Fault:
    return Fault(
        503, retry_after, b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
    )


@dataclasses.dataclass
class Rule:
    """`kinds`: of requests, all if empty. `key`: a pattern of the shell. The first `after` such requests are spared,
    then `share` of them meet the fault, at most `times` in all; drawn by the rule's own generator.
    """

    fault: Fault
    kinds: frozenset[str] = frozenset()
    key: str = "*"
    after: int = 0
    share: float = 1.0
    times: int | None = None
    seed: int = 1
    seen: int = 0
    met: int = 0

    def __post_init__(self) -> None:
        self.draws = random.Random(self.seed)

    def meets(self, kind: str, key: str) -> bool:
        if (self.kinds and kind not in self.kinds) or not fnmatch.fnmatchcase(key, self.key):
            return False
        self.seen += 1
        if self.seen <= self.after or (self.times is not None and self.met >= self.times):
            return False
        if self.share < 1 and self.draws.random() >= self.share:
            return False
        self.met += 1
        return True


class Faults:
    """The rules of a server, of which the first that a request meets counts. Any thread may add and ask."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.rules: list[Rule] = []

    def add(
        self,
        fault: Fault,
        kinds: str | Iterable[str] = (),
        key: str = "*",
        after: int = 0,
        share: float = 1.0,
        times: int | None = None,
        seed: int = 1,
    ) -> Rule:
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        rule = Rule(fault, frozenset(kinds), key, after, share, times, seed)
        with self.lock:
            self.rules.append(rule)
        return rule

    def clear(self) -> None:
        with self.lock:
            self.rules.clear()

    def of(self, kind: str, key: str) -> Fault | None:
        with self.lock:
            return next((rule.fault for rule in self.rules if rule.meets(kind, key)), None)
