"""`headrace check-plugin`: the conformance battery over every operator of a plugin."""

import argparse
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from typing import Any

from headrace._arguments import options as check
from headrace._arguments.counted import counted
from headrace._arguments.import_folder import import_path
from headrace._arguments.printed import say, say_text
from headrace._operators.conformance.declared_operator import arguments_of, operator_of
from headrace.errors import GraphError, ResourceError

HELP = "check that the operators of a plugin keep the rules of the interface"
DESCRIPTION = (
    "Runs every operator of a plugin through a battery of checks, each in a process of its own. Kernels: types, "
    "attributes, empty, odd and huge inputs, memory, threads, random numbers, errors and leaks. Sources: columns, "
    "attributes, the number of rows, rows read in any order and by many threads, memory, errors, shards, states and "
    "leaks. Formats: columns, attributes, where rows begin, any splits, files that are cut off or damaged, reads that "
    "fail, memory, several files, shards, states and leaks. Prints a line a check. Ends with code 0 if all hold, 1 if "
    "any fails, and 2 if the plugin cannot be loaded, an option is wrong or nothing was checked."
)
EPILOG = (
    "The attributes, and a format's file, are those of the example in an operator's declaration, or of --sample: "
    "--sample 'myops.Frames(\"small.frames\", depth=2)'. What neither gives has its default. Checks of a format read "
    "its smallest file hundreds of times: give one of a few rows."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.epilog = EPILOG
    command.add_argument("file", metavar="FILE", help="the shared library")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="decides the inputs (0)")
    command.add_argument(
        "--sample",
        action="append",
        default=[],
        metavar="CALL",
        help="of an operator, in the place of its declaration's example: its attributes, and a format's file; may be "
        "given for others, too",
    )
    command.add_argument("--time-limit", type=float, default=60, metavar="SECONDS", help="of one check (60)")
    command.add_argument(
        "--memory",
        default="1GiB",
        metavar="SIZE",
        help="for the huge input, or what a damaged file may take, a quarter of it (1GiB)",
    )
    command.add_argument(
        "--calls", type=int, default=2000, metavar="N", help="in a row, to look for leaks, and damaged files (2000)"
    )
    command.add_argument("--operator", action="append", metavar="NAME", help="only this one; may be given again")
    command.add_argument("--check", action="append", metavar="NAME", help="only this one; may be given again")
    command.add_argument("--json", action="store_true", help="print one JSON document instead of lines")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        given = _given(options)
        # Ends its processes however this one leaves.
        with contextlib.closing(_answers(given)) as answers:
            return _checked(options, given["path"], answers)
    except (GraphError, ResourceError) as error:
        say_text(f"headrace: {error}", sys.stderr)
        return 2


def _checked(options: argparse.Namespace, path: str, answers: Iterator[dict[str, Any]]) -> int:
    plugin = next(answers)["loaded"]
    if not plugin["ok"]:
        say_text(f"headrace: {plugin['came']}", sys.stderr)
        return 2
    all_answers = list(answers if options.json else _printed(answers, plugin))
    checks = [each for each in all_answers if "left_out" not in each]
    left_out = [each for each in all_answers if "left_out" in each]
    if not checks:
        say(f"headrace: check-plugin: nothing was checked: {_why_none(left_out)}", file=sys.stderr)
        return 2
    failed = sum(not each["ok"] for each in checks)
    if options.json:
        about = {"plugin": plugin["name"], "version": plugin["version"], "file": path, "failed": failed}
        say_text(json.dumps(about | {"checks": checks, "left_out": left_out}, indent=1))
    else:
        operators = len({each["operator"] for each in checks})
        said = f"{failed:,} failed" if failed else "all hold"
        said += f", {len(left_out):,} left out" if left_out else ""
        say(
            f"{plugin['name']} {plugin['version']}: {counted(len(checks), 'check')} of {counted(operators, 'operator')}, {said}"
        )
    return 1 if failed else 0


def _why_none(left_out: list[dict[str, Any]]) -> str:
    reasons = [f"{each['check']} of {each['operator']}: {each['left_out']}" for each in left_out]
    return "; ".join(reasons) or "the plugin has no operators"


def _given(options: argparse.Namespace) -> dict[str, Any]:
    of = "check-plugin"
    return {
        "path": os.path.abspath(check.local_path("FILE", options.file, of)),
        "seed": check.whole("--seed", options.seed, of=of),
        "seconds": check.seconds("--time-limit", options.time_limit, of),
        "memory": check.memory_bytes(options.memory, of, "--memory"),
        "calls": check.whole("--calls", options.calls, 1, of),
        "samples": dict(map(_sample, options.sample)),
        "operators": options.operator,
        "checks": options.check,
    }


def _sample(call: str) -> tuple[str, str]:
    """The operator and the call."""
    try:
        arguments_of(call)
        return operator_of(call), call
    except ValueError as error:
        raise GraphError(
            f"check-plugin: --sample is {call!r}: {error}; write a call of an operator with literal values, such as "
            "'myops.Frames(\"small.frames\", depth=2)'"
        ) from error


def _answers(given: dict[str, Any]) -> Generator[dict[str, Any], None, None]:
    """What the conductor writes, line by line. Its death takes the process of a check along."""
    start = (
        "import sys; sys.path[:] = filter(None, sys.path); import json; sys.path[:] = json.loads(sys.argv[1]); "
        "from headrace._operators.conformance.conductor import main; main(sys.argv[2])"
    )
    paths = json.dumps(import_path())
    command = [sys.executable, "-c", start, paths, json.dumps(given)]
    # Threads of NumPy's libraries would not survive a fork.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as conductor:
        assert conductor.stdout is not None
        try:
            yield from map(json.loads, conductor.stdout)
            ended = conductor.wait()
        finally:
            conductor.kill()
    if ended != 0:
        raise ResourceError(f"the process that runs the checks ended with code {ended}")


def _printed(answers: Iterator[dict[str, Any]], plugin: dict[str, Any]) -> Iterator[dict[str, Any]]:
    width = max((len(f"{plugin['name']}.{each['name']}") for each in plugin["operators"]), default=0)
    for each in answers:
        came = each.get("left_out") or ("ok" if each["ok"] else "FAILED")
        say(f"{each['operator']:{width}}  {each['check']:14}  {came}")
        if not each.get("ok", True):
            say(f"    given: {each['given']}", f"    came:  {each['came']}", f"    do:    {each['advice']}")
        yield each
