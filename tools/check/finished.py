"""What the tests of a running pytest came to, group by group, from the lines of finished_tests."""

import dataclasses
import json
import pathlib
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Test:
    outcome: str
    seconds: float
    output: str


class Finished:
    """`group_of` names the group of a test by its file. `green` is called once for each group whose tests have passed,
    with their number, as soon as they have.
    """

    def __init__(
        self, path: pathlib.Path, group_of: Callable[[str], str], green: Callable[[str, int], None] = lambda *_: None
    ) -> None:
        self.path = path
        self.group_of = group_of
        self.green = green
        self.tests: dict[str, Test] = {}
        self.collected = False
        self.waiting: dict[str, set[str]] = {}
        self.read_to = 0

    def read(self) -> None:
        """Reads the lines that were written since the last call."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self.read_to)
            complete = file.read().rpartition(b"\n")[0]
        self.read_to += len(complete) + bool(complete)
        for line in complete.splitlines():
            self.add(json.loads(line))

    def add(self, line: dict[str, Any]) -> None:
        if "collected" in line:
            self.collected = True
            for test in line["collected"]:
                self.waiting.setdefault(self.group(test), set()).add(test)
            return
        test = line["id"]
        self.tests[test] = Test(line["outcome"], line["seconds"], line["output"])
        group = self.group(test)
        waiting = self.waiting.get(group, set())
        if test in waiting:
            waiting.remove(test)
            if not waiting and not self.failed_in(group):
                self.green(group, self.passed_in(group))

    def group(self, test: str) -> str:
        return self.group_of(test.partition("::")[0])

    def failed(self) -> list[str]:
        return [name for name, test in self.tests.items() if test.outcome == "failed"]

    def failed_in(self, group: str) -> list[str]:
        return [name for name in self.failed() if self.group(name) == group]

    def passed_in(self, group: str) -> int:
        return sum(test.outcome == "passed" and self.group(name) == group for name, test in self.tests.items())

    def number(self, outcome: str) -> int:
        return sum(test.outcome == outcome for test in self.tests.values())
