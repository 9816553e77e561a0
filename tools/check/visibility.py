"""Checks that the build refuses dependencies on rooms that must not be visible."""

import itertools
import pathlib
import re
import tempfile
from collections.abc import Sequence

from tools.check import bazel
from tools.check.deadline import Deadline
from tools.check.parts import Part
from tools.check.result import Result

# The rooms of the engine: each may depend on those before it.
ENGINE_ROOMS = ["operator", "plan", "cache", "exec", "report", "device"]
# A room, and targets that must not be visible to it.
FORBIDDEN = [
    ("capi", "//ops/..."),
    ("core", "//engine/..."),
    ("io/files", "//io/records/..."),
    ("kernels", "//io/..."),
    ("ops", "//engine/exec/..."),
    ("engine/serve", "//engine/operator/..."),
    ("engine/serve", "//io/files/..."),
    ("engine/serve", "//ops/..."),
] + [(f"engine/{room}", f"//engine/{later}/...") for room, later in itertools.combinations(ENGINE_ROOMS, 2)]


class Visibility:
    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline

    def check(self, parts: Sequence[Part]) -> Result:
        libraries = self.libraries_of(sorted({wanted for _, wanted in FORBIDDEN}))
        wanted = [libraries[pattern] for _, pattern in FORBIDDEN]
        with tempfile.TemporaryDirectory() as folder:
            targets = write_targets(pathlib.Path(folder), [room for room, _ in FORBIDDEN], wanted)
            command = [*bazel.BAZEL, "build", "--nobuild", "--keep_going", "--noshow_progress"]
            _, said = self.deadline.output_of([*command, f"--package_path=%workspace%:{folder}", *targets])
        allowed = [pair for pair in zip(targets, wanted, strict=True) if not refuses(said, *pair)]
        for target, library in allowed:
            print(f"{target} may depend on {library}")
        if allowed:
            print(said)
        return Result(len(FORBIDDEN) - len(allowed), len(allowed)).about(parts)

    def libraries_of(self, patterns: Sequence[str]) -> dict[str, str]:
        """A library of each of the patterns, which end with `/...`."""
        everything = " + ".join(patterns)
        found = bazel.query(self.deadline, f"kind(cc_library, {everything}) except attr(testonly, 1, {everything})")
        return {
            pattern: next(label for label in found if re.match(rf"{pattern.removesuffix('/...')}[/:]", label))
            for pattern in patterns
        }


def write_targets(folder: pathlib.Path, rooms: Sequence[str], libraries: Sequence[str]) -> list[str]:
    """Writes a target in each room that depends on the library in its place, and returns the labels."""
    targets = []
    for number, (room, library) in enumerate(zip(rooms, libraries, strict=True)):
        package = folder / room / f"forbidden{number}"
        package.mkdir(parents=True)
        (package / "BUILD").write_text(f'cc_library(name = "x", deps = ["{library}"])\n')
        targets.append(f"//{room}/forbidden{number}:x")
    return targets


def refuses(said: str, target: str, library: str) -> bool:
    return f"target '{library}' is not visible from target '{target}'" in said
