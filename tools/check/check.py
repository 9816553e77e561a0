"""Runs the checks and tests that a change can reach and sums up; ./test calls it after the set-up.

Without an option: what shows that a clone works. All stages run, even after a failure, unless --exitfirst is given. What
passed before with the same fingerprint is not run again, and named at the end.
"""

import argparse
import pathlib
import signal
import sys
import time
from types import FrameType

from tools.check import bazel, build_cache, changes, limits, summary, suspects
from tools.check.deadline import ROOT, Deadline
from tools.check.groups import Groups
from tools.check.machine import facts
from tools.check.marks import Marks
from tools.check.modes import Mode
from tools.check.parts import Fingerprints
from tools.check.plan import Plan
from tools.check.result import Result
from tools.check.stages import Line, Run
from tools.check.tree import Tree

SUSPECTS = ROOT / ".cache/suspects.json"
SET_UP_TIMES = ROOT / ".venv/headrace-times"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="./test", description=__doc__)
    modes = made.add_mutually_exclusive_group()
    for mode, help_text in (
        (Mode.QUICK, "only what an edit is about: form, types, C++ and Python tests, a few cases of each kind"),
        (Mode.CI, "what a change can reach: all cases, sanitizers, fuzz tests, soak, wheel, PyTorch, Chromium"),
        (Mode.ALL, "everything, with more cases and longer; goes on where an earlier call stopped"),
        (Mode.FAR, "tests of far files, over Ceph, Swift and HDFS too, which are installed; says which could not be"),
        (Mode.RAY, "tests of Ray, over clusters of several nodes too, which is installed"),
    ):
        modes.add_argument(f"--{mode.value}", dest="mode", action="store_const", const=mode, help=help_text)
    made.set_defaults(mode=Mode.TEST)
    made.add_argument(
        "--fresh", action="store_true", help="run what passed before, too; with --all, over several calls"
    )
    made.add_argument("--exitfirst", action="store_true", help="end after the first stage that fails")
    made.add_argument("--deadline", type=float, metavar="MINUTES", help="75 with --ci, otherwise none")
    # The seconds that the set-up took.
    made.add_argument("--elapsed", type=float, default=0.0, help=argparse.SUPPRESS)
    return made


def outputs() -> pathlib.Path | None:
    """The folder of Bazel's outputs for this clone; None before the first build."""
    try:
        return bazel.info(Deadline(60), "output_path").resolve()
    except RuntimeError:
        return None


def make_room() -> int:
    """Makes the build cache small enough, and returns the bytes that it and the outputs then have."""
    folder = outputs()
    used = build_cache.size_of(folder) if folder else 0
    try:
        build_cache.bound(used)
    except OSError as error:
        print(f"what was compiled could not be made smaller: {error}")
    return used + build_cache.size_of(build_cache.FOLDER)


def limit_of(mode: Mode, changed: list[str], knows_nothing: bool) -> limits.Limit | None:
    if mode is Mode.TEST:
        return limits.TEST
    if knows_nothing or mode in (Mode.ALL, Mode.FAR, Mode.RAY):
        return None
    return limits.QUICK if mode is Mode.QUICK else limits.of_ci(changed)


def set_up_times(file: pathlib.Path) -> str:
    """What the set-up says of the time that its parts took."""
    return file.read_text().strip() if file.exists() else ""


def owed(run: Run, mode: Mode) -> list[str]:
    if run.owed:
        return [f"owed, and first in the next run: {', '.join(run.owed)}"]
    return ["everything has passed for these files"] if mode is Mode.ALL and not run.failures() else []


def main() -> int:
    options = parser().parse_args()
    mode: Mode = options.mode
    started = time.monotonic() - options.elapsed
    heed_signals()
    kept = make_room()
    if warning := build_cache.warning_of(build_cache.free_bytes(build_cache.FOLDER), kept):
        print(f"\033[1m{warning}\033[0m", flush=True)

    minutes = options.deadline if options.deadline is not None else mode.deadline_minutes
    deadline = Deadline(None if minutes is None else 60 * minutes - options.elapsed)
    tree, marks = Tree.of(ROOT), Marks()
    run = Run(
        marks,
        deadline,
        changes.commit_of(ROOT),
        changes.commits_of(ROOT),
        fresh=options.fresh,
        several=mode is Mode.ALL,
        exitfirst=options.exitfirst,
        files=tree.digest(["**"]),
    )
    changed = changes.changed_folders(marks, tree)
    plan = Plan(run, Groups.read(ROOT, tree), Fingerprints(tree, facts(ROOT)), mode, changes.touched_by_last(ROOT))
    if options.elapsed:
        run.lines.append(Line("set-up", Result(note=set_up_times(SET_UP_TIMES)), options.elapsed))
    try:
        run.perform(plan.stages())
    except KeyboardInterrupt:
        print(summary.text_of(run.lines, run.unchanged, ["interrupted; what has passed is not run again"]), flush=True)
        return 130

    marks.prune()
    if mode.sanitizes and not run.failures() and not run.owed:
        changes.keep_folders(marks, tree, run.commit)
    kept = make_room()
    suspects.write(SUSPECTS, [name for line in run.lines for name in line.result.suspects])
    notes = [f"left to ./test: {', '.join(plan.left)}"] if plan.left else []
    notes += ["ended at the first failure; later stages did not run"] if options.exitfirst and run.failures() else []
    notes += owed(run, mode)
    seconds = time.monotonic() - started
    notes.append(f"took {seconds / 60:.1f} minutes; Bazel's outputs and its cache have {kept / 1e9:.1f} GB")
    notes += filter(None, [limits.warning_of(limit_of(mode, changed, run.knows_nothing), seconds)])
    notes += filter(None, [limits.warning_of_bytes(kept)])
    print(summary.text_of(run.lines, run.unchanged, notes), flush=True)
    return 1 if run.failures() else 0


def heed_signals() -> None:
    """An interrupt and a termination both end the running command, and keep what has passed.

    A shell ignores interrupts for what it runs in the background, and that goes on to each command of a run, which a
    deadline would then wait for in vain.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, terminate)


def terminate(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
