"""Builds the fuzz tests with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and runs them.

A fuzz test is a target of the rule headrace_cc_fuzz_test, which --config=asan makes a libFuzzer binary. Its corpus is
in corpus/NAME beside it, an optional dictionary in corpus/NAME.dict. New inputs are kept in .fuzz/NAME, and inputs that
fail in .fuzz/failed/NAME.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

from tools.check import bazel
from tools.check.deadline import ROOT, SAY_S, Deadline, Passed

KEPT = ROOT / ".fuzz"
CONFIG = "--config=asan"
# An input that exceeds these limits is a failure like a crash. Sanitizers cost a factor of about ten.
SECONDS_AN_INPUT = 10
MEMORY_MB = 2048
LONGEST_INPUT = 16_384
# Function names come from binutils, which is installed anyway.
ENVIRONMENT = {
    **os.environ,
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:external_symbolizer_path=/usr/bin/addr2line",
    "UBSAN_OPTIONS": "print_stacktrace=1:external_symbolizer_path=/usr/bin/addr2line",
}
EXECUTIONS = re.compile(r"stat::number_of_executed_units:\s+(\d+)")


@dataclasses.dataclass(frozen=True)
class Target:
    """A fuzz test by its Bazel label: //room/folder:name."""

    label: str

    @property
    def name(self) -> str:
        return self.label.rpartition(":")[2]

    @property
    def package(self) -> pathlib.Path:
        return pathlib.Path(self.label.removeprefix("//").partition(":")[0])

    @property
    def corpus(self) -> pathlib.Path:
        return ROOT / self.package / "corpus" / self.name

    @property
    def dictionary(self) -> list[str]:
        path = self.corpus.with_suffix(".dict")
        return [f"-dict={path}"] if path.exists() else []


@dataclasses.dataclass(frozen=True)
class Outcome:
    target: Target
    executions: int
    # "" without a failure; else libFuzzer's output.
    failure: str


def find_targets(names: Sequence[str], deadline: Deadline) -> list[Target]:
    """All fuzz tests, or those of these names; ValueError for an unknown name."""
    found = bazel.query(deadline, "attr(tags, fuzz, kind(cc_test, //...))")
    targets = [Target(label) for label in found]
    unknown = set(names) - {target.name for target in targets}
    if unknown:
        known = ", ".join(target.name for target in targets)
        raise ValueError(f"no fuzz test {', '.join(sorted(unknown))} (there are: {known})")
    return [target for target in targets if not names or target.name in names]


def build(targets: Sequence[Target], deadline: Deadline) -> pathlib.Path:
    """Returns the folder of the binaries; RuntimeError if one does not build."""
    labels = [target.label for target in targets]
    if bazel.build(deadline, "fuzz tests", [CONFIG], labels):
        raise RuntimeError("a fuzz test does not build")
    return bazel.info(deadline, "bazel-bin", CONFIG)


def binary_of(folder: pathlib.Path, target: Target) -> pathlib.Path:
    return folder / target.package / target.name


def run(folder: pathlib.Path, target: Target, seconds: int, deadline: Deadline) -> Outcome:
    """Lets one fuzz test search for new inputs, starting from its corpus and from inputs of earlier runs."""
    found = KEPT / target.name
    failed = KEPT / "failed" / target.name
    for each in (found, failed, target.corpus):
        each.mkdir(parents=True, exist_ok=True)
    limits = [f"-timeout={SECONDS_AN_INPUT}", f"-rss_limit_mb={MEMORY_MB}", f"-max_len={LONGEST_INPUT}"]
    with tempfile.TemporaryDirectory() as workplace, tempfile.TemporaryFile() as output:
        code = deadline.run(
            [str(binary_of(folder, target)), *limits, *target.dictionary]
            + [f"-max_total_time={seconds}", f"-artifact_prefix={failed}/", "-print_final_stats=1"]
            + [str(found), str(target.corpus)],
            ENVIRONMENT,
            output,
            cwd=pathlib.Path(workplace),
        )
        output.seek(0)
        text = output.read().decode(errors="replace")
    executions = EXECUTIONS.search(text)
    return Outcome(target, int(executions.group(1)) if executions else 0, text if code else "")


def run_all(folder: pathlib.Path, targets: Sequence[Target], seconds: int, deadline: Deadline) -> Iterator[Outcome]:
    """One fuzz test per core at a time; gives out each as it ends.

    Raises deadline.Passed at the end if the deadline ended some, so that none is lost that ended before them.
    """
    late = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(run, folder, target, seconds, deadline) for target in targets}
        said = time.monotonic()
        while running:
            done, running = concurrent.futures.wait(running, SAY_S, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                try:
                    outcome = future.result()
                except Passed:
                    late = True
                    continue
                yield outcome
            if time.monotonic() - said >= SAY_S:
                said = time.monotonic()
                print(f"fuzz tests: {len(targets) - len(running)} of {len(targets)}", flush=True)
    if late:
        raise Passed


def report(outcome: Outcome) -> None:
    name = outcome.target.name
    if not outcome.failure:
        print(f"ok: {name}, {outcome.executions:,} inputs", flush=True)
        return
    print(outcome.failure)
    print(f"FAILED: {name}; its input is in {KEPT / 'failed' / name}; run it again with")
    print(f"    tools/fuzz --input FILE {name}", flush=True)


def merge(folder: pathlib.Path, target: Target) -> None:
    """Minimizes the checked-in corpus: of its files and new inputs, keeps the fewest and smallest with all coverage."""
    target.corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.corpus.parent) as scratch:
        merged = pathlib.Path(scratch, target.name)
        merged.mkdir(parents=True)
        sources = [path for path in (target.corpus, KEPT / target.name) if path.is_dir()]
        command = [
            str(binary_of(folder, target)),
            "-set_cover_merge=1",
            "-use_counters=0",
            f"-max_len={LONGEST_INPUT}",
            str(merged),
            *map(str, sources),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in target.corpus.iterdir():
            path.unlink()
        for path in merged.iterdir():
            path.rename(target.corpus / path.name)
    files = list(target.corpus.iterdir())
    print(f"{target.name}: {len(files)} files, {sum(path.stat().st_size for path in files):,} bytes", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="fuzz tests to run (all, unless said)")
    parser.add_argument("--minutes", type=float, default=1, help="of each fuzz test (1, unless said)")
    parser.add_argument(
        "--merge", action="store_true", help="put what was found into the checked-in corpus, at the end"
    )
    parser.add_argument("--input", metavar="FILE", help="only give this file to the one fuzz test that is named")
    options = parser.parse_args()
    if options.input and len(options.names) != 1:
        parser.error("--input needs the name of one fuzz test")

    deadline = Deadline()
    try:
        targets = find_targets(options.names, deadline)
    except ValueError as error:
        parser.error(str(error))
    folder = build(targets, deadline)
    if options.input:
        return subprocess.run([str(binary_of(folder, targets[0])), options.input], env=ENVIRONMENT).returncode
    outcomes = []
    for outcome in run_all(folder, targets, round(60 * options.minutes), deadline):
        report(outcome)
        outcomes.append(outcome)
    if options.merge:
        for target in targets:
            merge(folder, target)
    return int(any(outcome.failure for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
