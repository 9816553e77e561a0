"""`headrace doctor`: what a report of a fault has to say about the machine, as text or as JSON."""

import argparse
import json
from collections.abc import Iterator
from typing import Any

from headrace._arguments.printed import say, say_text
from headrace._commands.machine_report import machine_report

HELP = "print versions, CPU targets, libraries, GPUs and limits of this machine, to paste into a report of a fault"


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object, for programs")


def run(options: argparse.Namespace, version: str) -> int:
    report = machine_report(version)
    if options.json:
        say_text(json.dumps(report, indent=2))
        return 0
    for line in _lines(report):
        say(line)
    return 0


def _lines(report: dict[str, Any]) -> Iterator[str]:
    for number, (section, values) in enumerate(report.items()):
        if number:
            yield ""
        yield f"{section}:"
        for name, value in values.items():
            yield f"  {name}: {_shown(value)}"


def _shown(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(_shown, value)) or "none"
    return str(value)
