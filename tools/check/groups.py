"""Reads groups.toml: what each group of Python tests, each room and each stage can see."""

import dataclasses
import functools
import pathlib
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from tools.check.packages import Packages
from tools.check.parts import Fingerprints, Level, Part
from tools.check.python_tests import TIMING
from tools.check.tree import Tree, matches

FILE = pathlib.Path(__file__).with_name("groups.toml")
# What test files with more cases in a long run look at.
LONG = r"\bLONG\b|HEADRACE_LONG"


@dataclasses.dataclass(frozen=True)
class Group:
    """`tests`, `python`, `cpp`: globs of the files that the group is about."""

    name: str
    tests: tuple[str, ...]
    python: tuple[str, ...] = ()
    cpp: tuple[str, ...] = ()
    # What it sees besides, without being about it.
    besides: tuple[str, ...] = ()
    # Whether a quick run has it after a change that reaches all groups.
    quick: bool = False
    # Whether some of its tests have more cases in a long run.
    long: bool = False

    @classmethod
    def read(cls, name: str, table: dict[str, Any]) -> "Group":
        lists = {key: tuple(table.get(key, ())) for key in ("tests", "python", "cpp", "besides")}
        return cls(name, **lists, quick=table.get("quick", False), long=table.get("long", False))


class Groups:
    def __init__(self, table: dict[str, Any], root: pathlib.Path, tree: Tree) -> None:
        self.root = root
        self.tree = tree
        self.shared: list[str] = table["shared"]
        self.build: list[str] = table["build"]
        self.without_tests = [f"!{glob}" for glob in table["cpp_tests"]]
        self.unseen: list[str] = table["unseen"]
        self.rooms: dict[str, list[str]] = table["rooms"]
        self.stages: dict[str, list[str]] = table["stages"]
        self.markers: dict[str, list[str]] = table["markers"]
        self.groups = [Group.read(name, of) for name, of in table["groups"].items()]

    @classmethod
    def read(cls, root: pathlib.Path, tree: Tree, file: pathlib.Path = FILE) -> "Groups":
        return cls(tomllib.loads(file.read_text()), root, tree)

    @functools.cached_property
    def packages(self) -> Packages:
        return Packages(self.root, self.tree, self.without_tests)

    @functools.cached_property
    def test_files(self) -> list[str]:
        """The files that pytest collects."""
        return sorted(self.tree.matching(["python/**/test_*.py", "tests/**/test_*.py"]))

    def files_of(self, group: Group) -> list[str]:
        return [path for path in self.test_files if matches(path, group.tests)]

    def groups_of(self, path: str) -> list[str]:
        return [group.name for group in self.groups if matches(path, group.tests)]

    def marked(self, files: Sequence[str], marker: str) -> list[str]:
        """Those of the files that have tests with the marker."""
        return self.having(files, rf"\bmark\.{marker}\b")

    def long_files_of(self, group: Group) -> list[str]:
        return self.having(self.files_of(group), LONG) if group.long else []

    def having(self, files: Sequence[str], pattern: str) -> list[str]:
        return [path for path in files if re.search(pattern, (self.root / path).read_text())]

    def own(self, group: Group) -> list[str]:
        """What the group is about."""
        return [*group.cpp, *self.without_tests, *group.python, *group.tests]

    def sees(self, group: Group) -> list[str]:
        return [*self.shared, *self.build, *self.own(group), *group.besides]

    def parts(self, make: Fingerprints, level: Level) -> dict[str, Part]:
        """A part for each group, by its name."""
        return {group.name: make.part(group.name, self.sees(group), self.own(group), level) for group in self.groups}

    def timing_parts(self, make: Fingerprints, level: Level) -> dict[str, Part]:
        """A part for the tests of each group that wait for clocks, where it has some."""
        return {
            f"{group.name}.{TIMING}": make.part(f"{group.name}.{TIMING}", self.sees(group), self.own(group), level)
            for group in self.groups
            if self.marked(self.files_of(group), TIMING)
        }

    def long_parts(self, make: Fingerprints) -> list[Part]:
        return [
            make.part(f"{group.name}.long", self.sees(group), level=Level.LONG) for group in self.groups if group.long
        ]

    def room_part(self, make: Fingerprints, prefix: str, room: str) -> Part:
        """The tests of a room of C++, which see it and the rooms below it."""
        below = [f"{each}/**" for each in self.rooms[room]]
        own = [f"{room}/**"]
        return make.part(f"{prefix}.{room}", [*self.build, *below, *self.without_tests, *own], own)

    def fuzz_part(self, make: Fingerprints, name: str, path: str, level: Level) -> Part:
        """A fuzz test, which sees its package, those that it depends on, and its own inputs."""
        folder, _, file = path.rpartition("/")
        inputs = f"{folder}/corpus/{file.removesuffix('.cc')}"
        sees = self.packages.seen_from(self.packages.of(path))
        return make.part(name, [*self.build, *sees, path, f"{inputs}/**", f"{inputs}.dict"], level=level)

    def stage_part(self, make: Fingerprints, name: str, level: Level = Level.FULL) -> Part:
        return make.part(name, [*self.build, *self.stages[name]], level=level)

    def marker_part(self, make: Fingerprints, marker: str) -> Part:
        files = self.marked(self.test_files, marker)
        return make.part(marker, [*self.build, *self.markers[marker], *files], markers=[marker])
