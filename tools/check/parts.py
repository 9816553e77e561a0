"""Parts of the checks that pass or fail by themselves, and their fingerprints: a group of Python tests, a room of C++
under a sanitizer, a fuzz test.
"""

import dataclasses
import enum
from collections.abc import Mapping, Sequence

from tools.check.tree import Tree, digest_of


class Level(enum.IntEnum):
    """How many cases ran. A part that passed at one level has passed at those below."""

    THINNED = 0
    FULL = 1
    LONG = 2


@dataclasses.dataclass(frozen=True)
class Part:
    """`digest` covers all that the part can see, `own` only what it is about."""

    name: str
    digest: str
    own: str = ""
    level: Level = Level.FULL

    def fingerprint(self, level: Level) -> str:
        return digest_of([self.digest, level.name])

    @property
    def fingerprints(self) -> list[str]:
        """Those that show that the part has passed: of its level and of those above."""
        return [self.fingerprint(level) for level in Level if level >= self.level]

    @property
    def own_name(self) -> str:
        return f"{self.name}.own"


class Fingerprints:
    """Makes parts of one working tree on one machine."""

    def __init__(self, tree: Tree, facts: Mapping[str, str]) -> None:
        self.tree = tree
        self.facts = dict(facts)

    def part(
        self,
        name: str,
        sees: Sequence[str],
        own: Sequence[str] = (),
        level: Level = Level.FULL,
        markers: Sequence[str] = (),
    ) -> Part:
        facts = [f"{name}={value}" for name, value in sorted(self.facts.items())]
        digest = digest_of([self.tree.digest(sees), *facts, *sorted(markers)])
        return Part(name, digest, self.tree.digest(own) if own else "", level)
