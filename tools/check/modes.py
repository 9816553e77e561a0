"""The ways to call ./test, and what each runs."""

import enum

from tools.check.parts import Level


class Mode(enum.Enum):
    """QUICK: what an edit is about. TEST: what a clone is worth. CI: what a change can reach. ALL: everything. FAR: far
    files, over real stores too. RAY: Ray, over several nodes too."""

    QUICK = "quick"
    TEST = "test"
    CI = "ci"
    ALL = "all"
    FAR = "far"
    RAY = "ray"

    @property
    def level(self) -> Level:
        return {Mode.CI: Level.FULL, Mode.FAR: Level.FULL, Mode.RAY: Level.FULL, Mode.ALL: Level.LONG}.get(
            self, Level.THINNED
        )

    @property
    def sanitizes(self) -> bool:
        return self in (Mode.CI, Mode.ALL)

    @property
    def deadline_minutes(self) -> float | None:
        return 75 if self is Mode.CI else None
