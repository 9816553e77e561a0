"""A plugin of pytest that writes what is collected and what has finished, line by line, while the tests run.

The file is named by HEADRACE_FINISHED. Its lines are JSON: {"collected": [ids]} and {"id": …, "outcome": …}.
"""

import json
import os
import pathlib
from typing import Any

import pytest

FILE = os.environ.get("HEADRACE_FINISHED", "")


class FinishedTests:
    def __init__(self, path: pathlib.Path) -> None:
        self.file = path.open("a")
        self.collected = False
        # Outcome, seconds and output of tests of which not all phases are over.
        self.open: dict[str, dict[str, Any]] = {}

    def write(self, **line: Any) -> None:
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def write_collected(self, ids: list[str]) -> None:
        if not self.collected:
            self.collected = True
            self.write(collected=ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self.write_collected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.write_collected(list(ids))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(id=report.nodeid, outcome="failed", seconds=0.0, output="")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        state = self.open.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0.0, "output": ""})
        state["seconds"] += report.duration
        if report.failed or (report.skipped and state["outcome"] == "passed"):
            state["outcome"] = report.outcome
        if report.when == "call":
            state["output"] = report.capstdout
        # A process that crashed leaves one report, of no phase.
        if report.when not in ("setup", "call"):
            self.write(id=report.nodeid, **self.open.pop(report.nodeid))


def pytest_configure(config: pytest.Config) -> None:
    if FILE and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FinishedTests(pathlib.Path(FILE)), "finished tests")
