"""What a run of `bazel test` found, read from its build events (--build_event_json_file)."""

import dataclasses
import json
import os
import pathlib
import urllib.parse
import xml.etree.ElementTree
from collections.abc import Iterable
from typing import Any

# Why a target that was to be built was not, where nothing is wrong with it.
INTERRUPTED = ("INCOMPLETE", "USER_INTERRUPTED")


@dataclasses.dataclass
class Outcome:
    """Of one target. A program without cases that passes counts as one."""

    built: bool = True
    passed: int = 0
    failed: int = 0
    # All its shards come from an earlier run.
    cached: bool = True
    seconds: float = 0.0
    tags: tuple[str, ...] = ()
    logs: list[pathlib.Path] = dataclasses.field(default_factory=list)

    @property
    def ran(self) -> bool:
        return self.passed + self.failed > 0


def cases_in(path: str | None) -> tuple[int, int]:
    """The cases that passed and that failed, from a program's XML."""
    try:
        root = xml.etree.ElementTree.parse(path or os.devnull).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return 0, 0
    good = bad = 0
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            bad += 1
        elif case.get("status", "run") == "run" and case.find("skipped") is None:
            good += 1
    return good, bad


def outputs_of(result: dict[str, Any]) -> dict[str, str]:
    return {
        output["name"]: urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
        for output in result.get("testActionOutput", [])
        if output.get("uri", "").startswith("file:")
    }


class Events:
    """Outcomes by label; a target that is tested in shards has one. `late`: the deadline ended the run."""

    def __init__(self, late: bool = False) -> None:
        self.late = late
        self.outcomes: dict[str, Outcome] = {}

    @classmethod
    def read(cls, path: pathlib.Path, late: bool = False) -> "Events":
        events = cls(late)
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                events.add(json.loads(line))
            except ValueError:  # the last line, when Bazel was ended
                break
        return events

    def add(self, event: dict[str, Any]) -> None:
        for kind, add in (
            ("targetConfigured", self.add_configured),
            ("targetCompleted", self.add_completed),
            ("testResult", self.add_result),
        ):
            if kind in event["id"]:
                add(event["id"][kind]["label"], event)

    def of(self, label: str) -> Outcome:
        return self.outcomes.setdefault(label, Outcome())

    def add_configured(self, label: str, event: dict[str, Any]) -> None:
        self.of(label).tags = tuple(event.get("configured", {}).get("tag", []))

    def add_completed(self, label: str, event: dict[str, Any]) -> None:
        if event.get("aborted", {}).get("reason") in INTERRUPTED:
            return
        self.of(label).built = bool(event.get("completed", {}).get("success"))

    def add_result(self, label: str, event: dict[str, Any]) -> None:
        result = event.get("testResult")
        if result is None:
            return
        outcome = self.of(label)
        remote = result.get("executionInfo", {}).get("cachedRemotely", False)
        outcome.cached = outcome.cached and bool(result.get("cachedLocally", False) or remote)
        outcome.seconds += int(result.get("testAttemptDurationMillis", 0)) / 1000
        outputs = outputs_of(result)
        if "test.log" in outputs:
            outcome.logs.append(pathlib.Path(outputs["test.log"]))
        good, bad = cases_in(outputs.get("test.xml"))
        if result["status"] in ("PASSED", "FLAKY"):
            outcome.passed += max(good, 1)
        else:
            # A crash or a time-out leaves no XML, or one without a failure.
            outcome.passed += good
            outcome.failed += max(bad, 1)

    def tests(self) -> dict[str, Outcome]:
        return {label: outcome for label, outcome in self.outcomes.items() if outcome.ran}

    def unbuilt(self) -> list[str]:
        return sorted(label for label, outcome in self.outcomes.items() if not outcome.built)

    def failing(self) -> list[str]:
        return sorted(label for label, outcome in self.outcomes.items() if outcome.failed)


def log_text(outcomes: Iterable[Outcome]) -> str:
    logs = (log for outcome in outcomes for log in outcome.logs)
    return "\n".join(log.read_text(errors="replace") for log in logs if log.exists())
