"""The stages of each mode."""

import dataclasses
import pathlib
from collections.abc import Callable, Sequence

from tools.check.bazel import query
from tools.check.cpp_selection import of_files
from tools.check.cpp_tests import LEVEL_OPTIONS, CppTests
from tools.check.deadline import ROOT
from tools.check.groups import Group, Groups
from tools.check.installs import INSTALLS
from tools.check.lint import Lint
from tools.check.modes import Mode
from tools.check.parts import Fingerprints, Level, Part
from tools.check.product_checks import FUZZ, ProductChecks
from tools.check.python_tests import FAR, NEEDS, RAY, SMALL_RAY, TIMING, PythonTests
from tools.check.result import Result
from tools.check.stages import Run, Stage
from tools.check.visibility import Visibility

# What test files of C++ with more rounds in a long run have (core/testing/rounds.h).
MORE_ROUNDS = r"\.long_run = "


@dataclasses.dataclass
class Plan:
    """Makes the stages; `left` then holds the groups that a quick run leaves to others."""

    run: Run
    groups: Groups
    make: Fingerprints
    mode: Mode
    # Folders at the top that the last commit touched, which count as changed where no earlier run is known.
    touched: Sequence[str] = ()
    left: list[str] = dataclasses.field(default_factory=list)

    def stages(self) -> list[Stage]:
        if self.mode is Mode.FAR:
            return self.far()
        if self.mode is Mode.RAY:
            return [self.stage_needing(SMALL_RAY), self.stage_needing(RAY)]
        stages = [*self.lint(), *self.cpp(), *self.python()]
        if self.mode.sanitizes:
            stages += [*self.sanitized(), *self.product(), *self.needing()]
        if self.mode is Mode.ALL:
            stages += self.long()
        return stages

    @property
    def level(self) -> Level:
        """How many cases the tests run; what has more in a long run does so in stages of its own."""
        return min(self.mode.level, Level.FULL)

    def part(self, name: str, level: Level = Level.FULL) -> Part:
        return self.groups.stage_part(self.make, name, level)

    def lint(self) -> list[Stage]:
        lint = Lint(self.run.deadline, self.make.tree, self.run.durations)
        return [
            Stage("clang-format", lint.clang_format, (self.part("format"),)),
            Stage("ruff format", lint.ruff("format", "--check")),
            Stage("ruff check", lint.ruff("check")),
            Stage("mypy", lint.mypy, (self.part("mypy"),)),
        ]

    def cpp(self) -> list[Stage]:
        tests = CppTests(self.run.deadline, "C++ tests", LEVEL_OPTIONS[self.level], "cpp")
        visibility = Visibility(self.run.deadline)
        return [
            Stage("C++ tests", tests.everything, (self.part("cpp", self.level),), resumes=True),
            Stage("rooms keep their visibility", visibility.check, (self.part("visibility"),)),
        ]

    def python(self) -> list[Stage]:
        parts = self.groups.parts(self.make, self.level)
        if self.mode is Mode.QUICK:
            parts = {group.name: parts[group.name] for group in self.groups.groups if self.is_quick(group, parts)}
            self.left = [group.name for group in self.groups.groups if group.name not in parts]
            return [Stage("Python tests", self.python_tests().together, tuple(parts.values()))] if parts else []
        timing = self.groups.timing_parts(self.make, self.level)
        return [
            Stage("Python tests", self.python_tests().together, tuple(parts.values())),
            Stage("Python tests that wait for clocks", self.python_tests().alone, tuple(timing.values())),
        ]

    def is_quick(self, group: Group, parts: dict[str, Part]) -> bool:
        """Whether a quick run has the group: after an edit of what it is about, or as one of those that see most."""
        return group.quick or not self.run.marks.knows_own(parts[group.name])

    def python_tests(self) -> PythonTests:
        files: dict[str, Sequence[str]] = {}
        for group in self.groups.groups:
            files[group.name] = self.groups.files_of(group)
            files[f"{group.name}.{TIMING}"] = self.groups.marked(files[group.name], TIMING)
            files[f"{group.name}.long"] = self.groups.long_files_of(group)
        files |= {need: self.groups.marked(self.groups.test_files, need) for need in NEEDS}
        return PythonTests(self.run.deadline, files, self.run.mark)

    def room_parts(self, prefix: str) -> list[Part]:
        return [self.groups.room_part(self.make, prefix, room) for room in self.groups.rooms]

    def changed(self, parts: Sequence[Part]) -> list[Part]:
        """Those of rooms that changed themselves since they passed."""
        if not any(self.run.marks.last_passed(part.name) for part in parts):
            return [part for part in parts if part.name.partition(".")[2] in self.touched]
        return [part for part in parts if not self.run.marks.knows_own(part)]

    def sanitized(self) -> list[Stage]:
        asan = CppTests(self.run.deadline, "AddressSanitizer", ["--config=asan"], "asan")
        tsan = CppTests(self.run.deadline, "ThreadSanitizer", ["--config=tsan"], "tsan")
        parts = self.room_parts("asan")
        changed = self.changed(parts)
        others = [part for part in parts if part not in changed]
        stages = [
            Stage("AddressSanitizer, changed rooms", asan.rooms, tuple(changed), resumes=True),
            Stage("AddressSanitizer, other rooms", asan.rooms, tuple(others), must=False, resumes=True),
            Stage("ThreadSanitizer", tsan.rooms, tuple(self.room_parts("tsan")), must=False, resumes=True),
        ]
        return [stage for stage in stages if stage.parts]

    def product(self) -> list[Stage]:
        checks = ProductChecks(self.run.deadline, self.run.durations, self.run.mark)
        level = Level.LONG if self.mode is Mode.ALL else Level.FULL
        return [
            Stage("fuzz tests", checks.fuzz, tuple(self.fuzz_parts(level)), must=False, resumes=True),
            Stage("soak", checks.soak, (self.part("soak", level),), must=False),
            Stage("wheel", checks.wheel, (self.part("wheel"),), must=False, resumes=True),
        ]

    def fuzz_parts(self, level: Level) -> list[Part]:
        """A part for each fuzz test."""
        return [
            self.groups.fuzz_part(self.make, FUZZ + pathlib.Path(path).stem, path, level)
            for path in self.make.tree.matching(["**/*_fuzz.cc"])
        ]

    def needing(self) -> list[Stage]:
        """Tests that need PyTorch, Chromium, Sphinx or one node of Ray, with their installation."""
        return [self.stage_needing(need) for need in NEEDS if need not in (FAR, RAY)]

    def stage_needing(self, need: str) -> Stage:
        part = self.groups.marker_part(self.make, need)
        return Stage(f"Python tests with {need}", self.needs(need), (part,), must=False)

    def needs(self, need: str) -> Callable[[Sequence[Part]], Result]:
        """Installs what the tests need, and runs them."""

        def check(parts: Sequence[Part]) -> Result:
            missing = INSTALLS[need](self.run.deadline)
            result = self.python_tests().needing(need)(parts)
            if missing:
                result.note = ", ".join(filter(None, [result.note, f"not installed: {', '.join(missing)}"]))
                # What was left out has not passed.
                result.green.clear()
            return result

        return check

    def far(self) -> list[Stage]:
        """The tests of far files, over small stores of our own and over real ones."""
        own = self.groups.parts(self.make, self.level)[FAR]
        return [
            Stage("Python tests of far files", self.python_tests().together, (own,)),
            Stage("Python tests with real stores", self.needs(FAR), (self.groups.marker_part(self.make, FAR),)),
        ]

    def long(self) -> list[Stage]:
        """What only `--all` runs: tests with more cases, each file compiled by itself, and wheels elsewhere."""
        checks = ProductChecks(self.run.deadline, self.run.durations, self.run.mark)
        python = tuple(self.groups.long_parts(self.make))
        return [
            Stage("long C++ tests", self.long_cpp, (self.part("long"),), must=False, resumes=True),
            Stage("long Python tests", self.python_tests().together, python, must=False),
            Stage("files by themselves", checks.alone, (self.part("alone"),), must=False, resumes=True),
            Stage("wheels of other Pythons", checks.other_wheels, (self.part("wheels"),), must=False, resumes=True),
            Stage("wheel in bare Debian", checks.bare_debian, (self.part("bare_debian"),), must=False),
        ]

    def long_cpp_files(self) -> list[str]:
        return self.groups.having(self.make.tree.matching(["**/*_test.cc"]), MORE_ROUNDS)

    def long_cpp(self, parts: Sequence[Part]) -> Result:
        selection = of_files(ROOT, map(pathlib.Path, self.long_cpp_files()))
        if selection is None:
            raise RuntimeError("no test of C++ has more rounds in a long run")
        options = [*LEVEL_OPTIONS[Level.LONG], f"--test_filter={selection.filter}"]
        tests = CppTests(self.run.deadline, "long C++ tests", options, "long")
        return tests.some(parts, query(self.run.deadline, selection.query))
