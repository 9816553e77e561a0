"""`ModuleFiles` tells a worker process that a user module was edited after it imported it."""

import time

from headrace._workers.module_globals import stamps_of_modules

__all__ = ["ModuleFiles"]


class ModuleFiles:
    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        self._looked = time.time_ns()

    def changed(self) -> bool:
        """Since it looked last. A module that it did not know was imported in the meantime, at a moment that nobody
        noted: a file that is newer than the last look counts as changed."""
        looked = time.time_ns()
        found = {file: (changed, size) for file, changed, size in stamps_of_modules()}
        changed = any(
            self._known[file] != stamp if file in self._known else stamp[0] > self._looked
            for file, stamp in found.items()
        )
        self._known, self._looked = found, looked
        return changed
