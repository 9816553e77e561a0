"""Checks of form and types: clang-format, ruff and mypy."""

import pathlib
import sys
from collections.abc import Callable, Sequence

from tools.check.deadline import Deadline, StillRunning
from tools.check.parts import Part
from tools.check.result import Result, of_exit
from tools.check.tree import Tree

CPP = ["**/*.h", "**/*.cc", "**/*.cu", "!third_party/**"]
Check = Callable[[Sequence[Part]], Result]


class Lint:
    def __init__(self, deadline: Deadline, tree: Tree, expected: dict[str, float]) -> None:
        self.deadline = deadline
        self.tree = tree
        self.expected = expected

    def clang_format(self, parts: Sequence[Part]) -> Result:
        files = self.tree.matching(CPP)
        formatter = pathlib.Path(sys.executable).parent / "clang-format"
        code = self.deadline.run([formatter, "--dry-run", "--Werror", *files])
        return of_exit(code, f"{len(files)} files").about(parts)

    def ruff(self, *arguments: str) -> Check:
        return lambda _: of_exit(self.deadline.run([sys.executable, "-m", "ruff", *arguments, "-q", "."]))

    def mypy(self, parts: Sequence[Part]) -> Result:
        """The package for the oldest Python that it runs on, and what only contributors run for theirs."""
        look = StillRunning("mypy", self.expected.get("mypy", 0.0))
        ours = f"--python-version={sys.version_info[0]}.{sys.version_info[1]}"
        for options in ([], [ours, "-p", "tools.check"]):
            if code := self.deadline.run([sys.executable, "-m", "mypy", *options], look=look):
                return of_exit(code).about(parts)
        return of_exit(0).about(parts)
