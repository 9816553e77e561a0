"""A chain: one pipeline read from its first row to its last by many processes, each going on from the state that another
left behind. What has been read is compared with one plain run row by row.

A chain lives in a folder. Whoever holds its lock works on it; a process that is killed lets the lock go, and the next one
goes on from the last state that was written whole.
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
# Gives the next row, or raises KeyboardInterrupt without having lost one.
Next = Callable[[hr.Iterator], dict[str, Any]]


class Difference(Exception):
    """A row, an error or an end is not what it must be."""


def digest(row: dict[str, Any]) -> str:
    return hashlib.blake2b(repr(frozen_row(row)).encode(), digest_size=12).hexdigest()


def failure_text(error: hr.Error) -> str:
    """Without the cause, which an error that Ctrl-C kept back does not have when it is repeated; the message names it."""
    return repr(dataclasses.replace(Failure.of(error), cause=""))


def write(path: pathlib.Path, contents: dict[str, Any]) -> None:
    """All or nothing, whenever the process is killed."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(json.dumps(contents))
    part.replace(path)


@contextlib.contextmanager
def locked(folder: pathlib.Path) -> Iterator[bool]:
    """Whether nobody else works there."""
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
        self._place = folder / "place.json"
        self.place: dict[str, Any] = {"generation": 0, "given": 0, "state": None}
        if self._place.exists():
            self.place = json.loads(self._place.read_text())
        self.drawn: Drawn = draw(self._number(), self._data)

    def _number(self) -> int:
        text = f"{self._seed} {self._folder.name} {self.place['generation']}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest())

    def _expected(self) -> dict[str, Any]:
        """Of one plain run: pulled, as written, with nothing kept."""
        path = self._folder / f"expected-{self.place['generation']}.json"
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
        state = base64.b64decode(self.place["state"]) if self.place["state"] else None
        options = way(rng, self._cache)
        steps = rng.choice([1, 3, 10, 1000])
        report: Report = {"legs": 1, "restores": int(state is not None), "rows": 0, "interrupts": 0}
        run = {name: value for name, value in self.drawn.run.items() if state is None or name != "epoch"}
        try:
            with self.drawn.build(self._cache).iterate(state=state, **options, **run) as iterator:
                if iterator.epoch == self.drawn.run["epoch"]:
                    self._read(iterator, steps, expected, next_row, report)
                else:  # interrupted behind the last row
                    self._end(self.place["given"], None, expected, report)
        except Difference as difference:
            raise Difference(f"{self.drawn.text}, {self.place}, run with {options}: {difference}") from None
        return report

    def _read(
        self, iterator: hr.Iterator, steps: int, expected: dict[str, Any], next_row: Next, report: Report
    ) -> None:
        rows, given = expected["rows"], self.place["given"]
        for _ in range(steps):
            try:
                row = next_row(iterator)
            except KeyboardInterrupt:
                report["interrupts"] += 1
                if steps % 2 == 0:
                    break
                continue  # the row that it kept back comes now
            except StopIteration:
                self._end(given, None, expected, report)
                return
            except hr.ResourceError:
                raise  # of the machine, not of the rows
            except hr.Error as error:
                self._end(given, failure_text(error), expected, report)
                return
            if given >= len(rows) or digest(row) != rows[given]:
                raise Difference(f"row {given} of {len(rows)} differs")
            given += 1
            report["rows"] += 1
        self.place |= {"given": given, "state": base64.b64encode(iterator.state()).decode()}
        write(self._place, self.place)

    def _end(self, given: int, failure: str | None, expected: dict[str, Any], report: Report) -> None:
        if given != len(expected["rows"]) or failure != expected["failure"]:
            raise Difference(
                f"ended after {given} rows with {failure}; expected {len(expected['rows'])} rows and {expected['failure']}"
            )
        self.place = {"generation": self.place["generation"] + 1, "given": 0, "state": None}
        write(self._place, self.place)
        report["chains"] = 1
