"""What a stage of the checks found."""

import collections
import dataclasses
import re
from collections.abc import Sequence

from tools.check.parts import Part

COUNT_LINE = re.compile(r"HEADRACE-COUNT((?: [\w-]+=\d+)+)")


@dataclasses.dataclass
class Result:
    passed: int = 0
    failed: int = 0
    note: str = ""
    # Tests that failed beside others, and passed twice alone.
    suspects: list[str] = dataclasses.field(default_factory=list)
    # The number of tests of each part that passed.
    green: dict[str, int] = dataclasses.field(default_factory=dict)
    # Names of parts that failed.
    red: set[str] = dataclasses.field(default_factory=set)
    # Whether the deadline ended the stage: what it found by then counts, and what neither passed nor failed is left over.
    late: bool = False
    # Seconds and names of tests.
    times: list[tuple[float, str]] = dataclasses.field(default_factory=list)
    # Cases that tests covered, by kind.
    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def count(self, text: str) -> None:
        """Adds up the lines of tests that say what they covered: `HEADRACE-COUNT schedules=10000 variants=8`."""
        for line in COUNT_LINE.finditer(text):
            for pair in line.group(1).split():
                kind, number = pair.split("=")
                self.counts[kind] += int(number)

    def about(self, parts: Sequence[Part]) -> "Result":
        """The same, of parts that pass or fail together; a suspect leaves them open."""
        if self.failed:
            self.red |= {part.name for part in parts}
        elif not self.suspects and not self.late:
            self.green |= {part.name: self.passed for part in parts}
        return self


def of_exit(code: int, note: str = "") -> Result:
    """The result of a command that is one test."""
    return Result(int(code == 0), int(code != 0), note)
