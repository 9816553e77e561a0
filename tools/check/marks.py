"""Marks of what has passed: `~/.cache/headrace-green/NAME-HASH` says that part NAME passed with that fingerprint.

`turn.STAGE-0` says when a stage was the first of those that need not run, `fresh-HASH` when a run of all parts anew
began. All clones of an account share the folder. Old marks are deleted; the folder may be deleted at any time.
"""

import dataclasses
import json
import pathlib
import time

from tools.check.parts import Part

FOLDER = pathlib.Path("~/.cache/headrace-green").expanduser()
# Marks of each part that are kept.
KEPT = 30
DURATIONS = "durations.json"


@dataclasses.dataclass(frozen=True)
class Mark:
    """The commit on which a part passed, and the number of its tests."""

    commit: str
    tests: int


class Marks:
    def __init__(self, folder: pathlib.Path = FOLDER) -> None:
        self.folder = folder

    def path(self, name: str, fingerprint: str) -> pathlib.Path:
        return self.folder / f"{name}-{fingerprint[:32]}"

    def read(self, name: str, fingerprint: str) -> Mark | None:
        try:
            return Mark(**json.loads(self.path(name, fingerprint).read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def of(self, part: Part) -> Mark | None:
        """The mark of a run in which the part passed as it is now; None if there was none."""
        found = (self.read(part.name, fingerprint) for fingerprint in part.fingerprints)
        return next((mark for mark in found if mark is not None), None)

    def knows_own(self, part: Part) -> bool:
        """Whether the part has passed with its own files as they are now."""
        return self.read(part.own_name, part.own) is not None

    def write(self, part: Part, mark: Mark) -> None:
        self.put(part.name, part.fingerprint(part.level), mark)
        if part.own:
            self.put(part.own_name, part.own, mark)

    def put(self, name: str, fingerprint: str, mark: Mark) -> None:
        self.replace(self.path(name, fingerprint), json.dumps(dataclasses.asdict(mark)))

    def delete(self, part: Part) -> None:
        for fingerprint in part.fingerprints:
            self.path(part.name, fingerprint).unlink(missing_ok=True)

    def replace(self, path: pathlib.Path, text: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.{time.monotonic_ns()}")
        new.write_text(text)
        new.replace(path)

    def all_of(self, name: str) -> list[pathlib.Path]:
        """The marks of that name, the oldest first."""
        found = [path for path in self.folder.glob(f"{name}-*") if path.name[len(name) + 1 :].isalnum()]
        return sorted(found, key=written)

    def last_passed(self, name: str) -> float:
        """When a part of that name last passed, in seconds; 0 if never."""
        return max(map(written, self.all_of(name)), default=0.0)

    def written_at(self, part: Part) -> float:
        """When the part last passed as it is now, in seconds; 0 if never."""
        return max(written(self.path(part.name, fingerprint)) for fingerprint in part.fingerprints)

    def begin_fresh(self, files: str) -> float:
        """When a run began that asks no earlier marks, over calls that have not ended it; now, if there is none."""
        path = self.path("fresh", files)
        if not path.exists():
            self.replace(path, "")
        return written(path)

    def end_fresh(self, files: str) -> None:
        self.path("fresh", files).unlink(missing_ok=True)

    def keep_turn(self, stage: str) -> None:
        """Notes that the stage has just been the first of those that need not run."""
        self.replace(self.path(f"turn.{stage}", "0"), "")

    def last_turn(self, stage: str) -> float:
        """When it was the first, in seconds; 0 if never."""
        return max(map(written, self.all_of(f"turn.{stage}")), default=0.0)

    def empty(self) -> bool:
        return not any(path.name != DURATIONS for path in self.folder.glob("*-*"))

    def prune(self) -> None:
        for name in {path.name.rpartition("-")[0] for path in self.folder.glob("*-*")}:
            for path in self.all_of(name)[:-KEPT]:
                path.unlink(missing_ok=True)

    def durations(self) -> dict[str, float]:
        """The seconds that each stage took when it last ran."""
        try:
            kept = json.loads((self.folder / DURATIONS).read_text())
            return {str(name): float(seconds) for name, seconds in kept.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def keep_duration(self, stage: str, seconds: float) -> None:
        self.replace(self.folder / DURATIONS, json.dumps(self.durations() | {stage: round(seconds, 1)}))


def written(path: pathlib.Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another run has just deleted it
        return 0.0
