"""A chain: one pipeline read from its first row to its last by many processes, each resuming from the state of
another. Its rows are compared with those of one plain run.

A chain is stored in a folder. The process that holds the folder's lock works on it; a killed process releases the lock,
and the next one resumes from the last complete state.
"""

import base64
import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import headrace as hr
from tests.running import Failure, frozen_row
from tools.soak.drawn import Drawn, draw, way

Report = dict[str, Any]
# Returns the next row, or raises KeyboardInterrupt without losing one.
Next = Callable[[hr.Iterator], dict[str, Any]]


class Difference(Exception):
    """A row, an error or an end differs from the expected one."""


def digest(row: dict[str, Any]) -> str:
    return hashlib.blake2b(repr(frozen_row(row)).encode(), digest_size=12).hexdigest()


def failure_text(error: hr.Error) -> str:
    """Without the cause, which is missing if an error is repeated after Ctrl-C; the message names it."""
    return repr(dataclasses.replace(Failure.of(error), cause=""))


def write(path: pathlib.Path, contents: dict[str, Any]) -> None:
    """Writes all or nothing, whenever the process is killed."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(json.dumps(contents))
    part.replace(path)


@contextlib.contextmanager
def locked(folder: pathlib.Path) -> Iterator[bool]:
    """Whether no other process works there."""
    with (folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


class Chain:
    def __init__(self, root: pathlib.Path, folder: pathlib.Path, seed: int) -> None:
        self._data, self._cache = root / "data", root / "cache"
        self._folder = folder
        self._seed = seed
        self._progress_file = folder / "progress.json"
        self.progress: dict[str, Any] = {"generation": 0, "given": 0, "state": None}
        if self._progress_file.exists():
            self.progress = json.loads(self._progress_file.read_text())
        self.drawn: Drawn = draw(self._number(), self._data)

    def _number(self) -> int:
        text = f"{self._seed} {self._folder.name} {self.progress['generation']}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest())

    def _expected(self) -> dict[str, Any]:
        """The rows of one plain run: pulled, not optimized, without caches."""
        path = self._folder / f"expected-{self.progress['generation']}.json"
        if path.exists():
            found: dict[str, Any] = json.loads(path.read_text())
            return found
        rows: list[str] = []
        failure = None
        with self.drawn.build(None).iterate(executor="pull", optimize=False, **self.drawn.run) as iterator:
            try:
                for row in iterator:
                    rows.append(digest(row))
            except hr.ResourceError:
                raise
            except hr.Error as error:
                failure = failure_text(error)
        expected = {"rows": rows, "failure": failure}
        write(path, expected)
        for old in self._folder.glob("expected-*.json"):
            if old != path:
                old.unlink()
        return expected

    def leg(self, rng: random.Random, next_row: Next) -> Report:
        """Reads some rows and leaves a state behind."""
        expected = self._expected()
        state = base64.b64decode(self.progress["state"]) if self.progress["state"] else None
        options = way(rng, self._cache)
        steps = rng.choice([1, 3, 10, 1000])
        report: Report = {"legs": 1, "restores": int(state is not None), "rows": 0, "interrupts": 0}
        run = {name: value for name, value in self.drawn.run.items() if state is None or name != "epoch"}
        try:
            with self.drawn.build(self._cache).iterate(state=state, **options, **run) as iterator:
                if iterator.epoch == self.drawn.run["epoch"]:
                    self._read(iterator, steps, expected, next_row, report)
                else:  # interrupted after the last row
                    self._end(self.progress["given"], None, expected, report)
        except Difference as difference:
            raise Difference(f"{self.drawn.text}, {self.progress}, run with {options}: {difference}") from None
        return report

    def _read(
        self, iterator: hr.Iterator, steps: int, expected: dict[str, Any], next_row: Next, report: Report
    ) -> None:
        rows, given = expected["rows"], self.progress["given"]
        for _ in range(steps):
            try:
                row = next_row(iterator)
            except KeyboardInterrupt:
                report["interrupts"] += 1
                if steps % 2 == 0:
                    break
                continue  # the row of the interrupted call comes now
            except StopIteration:
                self._end(given, None, expected, report)
                return
            except hr.ResourceError:
                raise  # an error of the machine, not of a row
            except hr.ClosedError:
                if report["interrupts"] == 0:
                    raise
                break  # a function of the pipeline was interrupted, which ended the run
            except hr.Error as error:
                self._end(given, failure_text(error), expected, report)
                return
            if given >= len(rows) or digest(row) != rows[given]:
                raise Difference(f"row {given} of {len(rows)} differs")
            given += 1
            report["rows"] += 1
        self.progress |= {"given": given, "state": base64.b64encode(iterator.state()).decode()}
        write(self._progress_file, self.progress)

    def _end(self, given: int, failure: str | None, expected: dict[str, Any], report: Report) -> None:
        if given != len(expected["rows"]) or failure != expected["failure"]:
            raise Difference(
                f"ended after {given} rows with {failure}; expected {len(expected['rows'])} rows and {expected['failure']}"
            )
        self.progress = {"generation": self.progress["generation"] + 1, "given": 0, "state": None}
        write(self._progress_file, self.progress)
        report["chains"] = 1
