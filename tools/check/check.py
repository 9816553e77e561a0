"""Runs every check and test of the repository and sums up; ./test calls it after the set-up.

All checks run, even after a failure. Tests of either language report their coverage by printing lines such as
`HEADRACE-COUNT schedules=10000 variants=8`; the numbers are added up by kind over everything that ran.
"""

import argparse
import collections
import dataclasses
import importlib.metadata
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import xml.etree.ElementTree

import build_cache
import fuzz

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = "2.13.0"
# Whose loops are tested, and who takes batches by DLPack, where they can be installed.
TORCH_LOOPS = ["lightning==2.6.6", "accelerate==1.15.0", "jax==0.10.2"]
CPP_ROOMS = ["core", "ir", "kernels", "io", "engine", "ops", "python", "tests", "benchmarks", "examples"]
# Targets with threads, and targets with manual memory management.
TSAN_ROOMS = ["core", "io", "engine", "ops"]
ASAN_ROOMS = ["core", "ir", "kernels", "io", "engine", "ops"]
# The rooms of the engine: each may depend on those before it.
ENGINE_ROOMS = ["operator", "plan", "cache", "exec", "report", "device"]
# A room, and targets that must not be visible to it.
FORBIDDEN = [
    ("core", "//engine/..."),
    ("io/files", "//io/records/..."),
    ("kernels", "//io/..."),
    ("ops", "//engine/exec/..."),
] + [(f"engine/{room}", f"//engine/{later}/...") for room, later in itertools.combinations(ENGINE_ROOMS, 2)]
# Seconds for each fuzz test.
FUZZ_SECONDS = 5
LONG_FUZZ_SECONDS = 300
SOAK_SECONDS = 30
LONG_SOAK_SECONDS = 600
# The number of slowest tests that are printed for each check.
SLOWEST = 10
ALWAYS_COUNTED = ["variants", "schedules", "fuzz"]
BAZEL = shlex.split(os.environ.get("HEADRACE_BAZEL", "bazel"))
COUNT_LINE = re.compile(r"HEADRACE-COUNT((?: [\w-]+=\d+)+)")


@dataclasses.dataclass
class Result:
    name: str
    passed: int = 0
    failed: int = 0
    note: str = ""
    seconds: float = 0.0


class Checks:
    def __init__(self) -> None:
        self.results: list[Result] = []
        # Seconds and name of each test that ran, by check.
        self.times: dict[str, list[tuple[float, str]]] = {}
        self.counts: collections.Counter[str] = collections.Counter({kind: 0 for kind in ALWAYS_COUNTED})

    def run(self, name: str, check) -> None:
        print(f"\033[1m== {name}\033[0m", flush=True)
        started = time.monotonic()
        try:
            result = check(name)
        except Exception as error:  # an exception fails this check, and the others still run
            print(f"{name}: {type(error).__name__}: {error}")
            result = Result(name, failed=1, note="the check itself broke")
        result.seconds = time.monotonic() - started
        self.results.append(result)

    def collect_counts(self, text: str) -> None:
        for line in COUNT_LINE.finditer(text):
            for pair in line.group(1).split():
                kind, number = pair.split("=")
                self.counts[kind] += int(number)

    def command(self, *command: str):
        """A check that passes when `command` exits with 0."""

        def check(name: str) -> Result:
            done = subprocess.run(command, cwd=ROOT)
            return Result(name, int(done.returncode == 0), int(done.returncode != 0))

        return check

    def command_beside(self, *command: str):
        """Starts `command`, which runs beside the next checks; the check waits for it, and passes when it exits with 0."""
        output = tempfile.TemporaryFile("w+")
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)

        def check(name: str) -> Result:
            failed = int(process.wait() != 0)
            with output:
                output.seek(0)
                print(output.read(), end="", flush=True)
            return Result(name, 1 - failed, failed)

        return check

    def clang_format(self, name: str) -> Result:
        files = [
            str(path.relative_to(ROOT))
            for room in CPP_ROOMS
            for suffix in ("h", "cc", "cu")
            for path in sorted((ROOT / room).rglob(f"*.{suffix}"))
        ]
        formatter = str(pathlib.Path(sys.executable).parent / "clang-format")
        done = subprocess.run([formatter, "--dry-run", "--Werror", *files], cwd=ROOT)
        return Result(name, int(done.returncode == 0), int(done.returncode != 0), f"{len(files)} files")

    def bazel(self, config: str | None, patterns: list[str], long: bool):
        def check(name: str) -> Result:
            result = Result(name)
            with tempfile.TemporaryDirectory() as folder:
                events = pathlib.Path(folder, "events.json")
                options = [f"--config={config}"] if config else []
                options += ["--test_env=HEADRACE_LONG=1"] if long else []
                done = subprocess.run(
                    [*BAZEL, "test", *options, "--keep_going", "--noshow_progress", "--ui_event_filters=-info"]
                    + [f"--build_event_json_file={events}", "--", *patterns],
                    cwd=ROOT,
                )
                targets, cached = self.read_events(events, result, self.times.setdefault(name, []))
            # Bazel also fails if a target does not build, or a BUILD file does not load.
            if done.returncode and not result.failed:
                result.failed = 1
            result.note = f"{targets} targets" + (
                f", {cached} of them unchanged since their last run" if cached else ""
            )
            return result

        return check

    def read_events(self, events: pathlib.Path, result: Result, times: list[tuple[float, str]]) -> tuple[int, int]:
        targets = cached = 0
        for line in events.read_text().splitlines() if events.exists() else []:
            event = json.loads(line)
            if "targetCompleted" in event["id"] and not event.get("completed", {}).get("success"):
                result.failed += 1
            if "testResult" not in event["id"] or "testResult" not in event:
                continue
            targets += 1
            outcome = event["testResult"]
            if outcome.get("cachedLocally") or outcome.get("executionInfo", {}).get("cachedRemotely"):
                cached += 1
            else:
                label = event["id"]["testResult"]["label"]
                times.append((int(outcome.get("testAttemptDurationMillis", 0)) / 1000, label))
            outputs = {
                output["name"]: urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
                for output in outcome.get("testActionOutput", [])
                if output.get("uri", "").startswith("file:")
            }
            if "test.log" in outputs:
                self.collect_counts(pathlib.Path(outputs["test.log"]).read_text(errors="replace"))
            good, bad = self.read_cases(outputs.get("test.xml"))
            if outcome["status"] in ("PASSED", "FLAKY"):
                result.passed += max(good, 1)
            else:
                # A crash or a time-out leaves no XML, or one without a failure.
                result.passed += good
                result.failed += max(bad, 1)
        return targets, cached

    def read_cases(self, xml_path: str | None) -> tuple[int, int]:
        try:
            root = xml.etree.ElementTree.parse(xml_path or os.devnull).getroot()
        except (OSError, xml.etree.ElementTree.ParseError):
            return 0, 0
        good = bad = 0
        for case in root.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                bad += 1
            elif case.get("status", "run") == "run" and case.find("skipped") is None:
                good += 1
        return good, bad

    def pytest(self, left_out: list[str], long: bool, quick: bool):
        """Divides the tests among processes, which take over tests from each other at the end.

        `left_out`: markers of tests that need what is not installed. `long` and `quick`: see tests/thinning.py.
        """
        # Both always, so that what the caller's environment says does not count.
        environment = os.environ | {"HEADRACE_LONG": str(int(long)), "HEADRACE_QUICK": str(int(quick))}
        # Without kept bytecode each process compiles all tests, and pytest rewrites their assertions.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        # One more than there are cores, because some tests wait.
        processes = len(os.sched_getaffinity(0)) + 1

        def check(name: str) -> Result:
            result = Result(name)
            skipped = 0
            times = self.times.setdefault(name, [])
            with tempfile.TemporaryDirectory() as temporary:
                report = pathlib.Path(temporary, "report.xml")
                command = [sys.executable, "-m", "pytest", "-q", f"-n{processes}", "--dist=worksteal"]
                command += [f"--junitxml={report}", "-o", "junit_logging=all"]
                command += ["-m", " and ".join(f"not {marker}" for marker in left_out)]
                done = subprocess.run(command, cwd=ROOT, env=environment)
                for case in self.cases_of(report):
                    times.append((float(case.get("time", 0)), f"{case.get('classname')}::{case.get('name')}"))
                    if case.find("failure") is not None or case.find("error") is not None:
                        result.failed += 1
                    elif case.find("skipped") is not None:
                        skipped += 1
                    else:
                        result.passed += 1
                    for text in case.iter("system-out"):
                        self.collect_counts(text.text or "")
            # Also when pytest does not get as far as the tests.
            if done.returncode and not result.failed:
                result.failed = 1
            result.note = f"{skipped} skipped" if skipped else ""
            return result

        return check

    def cases_of(self, report: pathlib.Path) -> list[xml.etree.ElementTree.Element]:
        return list(xml.etree.ElementTree.parse(report).getroot().iter("testcase")) if report.exists() else []

    def forbidden_dependencies(self, name: str) -> Result:
        """Passes if the build refuses targets that depend on a room which must not be visible to theirs."""
        libraries = self.libraries_of(sorted({wanted for _, wanted in FORBIDDEN}))
        with tempfile.TemporaryDirectory() as folder:
            targets = []
            for number, (room, wanted) in enumerate(FORBIDDEN):
                package = pathlib.Path(folder, room, f"forbidden{number}")
                package.mkdir(parents=True)
                (package / "BUILD").write_text(f'cc_library(name = "x", deps = ["{libraries[wanted]}"])\n')
                targets.append(f"//{room}/forbidden{number}:x")
            done = subprocess.run(
                [*BAZEL, "build", "--nobuild", "--keep_going", "--noshow_progress"]
                + [f"--package_path=%workspace%:{folder}", *targets],
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
        refused = 0
        for target, (_, wanted) in zip(targets, FORBIDDEN, strict=True):
            if f"target '{libraries[wanted]}' is not visible from target '{target}'" in done.stderr:
                refused += 1
            else:
                print(f"{target} may depend on {libraries[wanted]}")
        if refused < len(FORBIDDEN):
            print(done.stderr)
        return Result(name, refused, len(FORBIDDEN) - refused)

    def libraries_of(self, patterns: list[str]) -> dict[str, str]:
        """A library of each of the patterns, which end with `/...`."""
        everything = " + ".join(patterns)
        query = f"kind(cc_library, {everything}) except attr(testonly, 1, {everything})"
        found = subprocess.run(
            [*BAZEL, "query", "--noshow_progress", query], cwd=ROOT, capture_output=True, text=True
        ).stdout.split()
        return {
            pattern: next(label for label in sorted(found) if re.match(rf"{pattern.removesuffix('/...')}[/:]", label))
            for pattern in patterns
        }

    def fuzz(self, seconds: int):
        def check(name: str) -> Result:
            targets = fuzz.find_targets([])
            outcomes = fuzz.run_all(fuzz.build(targets), targets, seconds)
            for outcome in outcomes:
                fuzz.report(outcome)
                self.counts["fuzz"] += outcome.executions
            failed = sum(bool(outcome.failure) for outcome in outcomes)
            return Result(name, len(outcomes) - failed, failed, f"{seconds} seconds each")

        return check

    def soak(self, seconds: int):
        def check(name: str) -> Result:
            command = [sys.executable, "tools/soak/soak.py", f"--seconds={seconds}"]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            print(done.stdout, end="")
            self.collect_counts(done.stdout)
            return Result(name, int(done.returncode == 0), int(done.returncode != 0), f"{seconds} seconds")

        return check

    def wheel(self, name: str) -> Result:
        build = [*BAZEL, "build", "--noshow_progress", "--ui_event_filters=-info", "//python:wheel"]
        if subprocess.run(build, cwd=ROOT).returncode:
            return Result(name, failed=1, note="does not build")
        bin_folder = subprocess.run(
            [*BAZEL, "info", "-c", "opt", "bazel-bin"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()
        (wheel,) = pathlib.Path(bin_folder, "python").glob("headrace-*.whl")
        test = subprocess.run(
            [sys.executable, "tools/wheel/wheel_test.py", str(wheel), "examples/photos"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        print(test.stdout, end="")
        passed = len(re.findall(r"^ok: ", test.stdout, re.MULTILINE))
        failed = len(re.findall(r"^FAILED: ", test.stdout, re.MULTILINE))
        if test.returncode and not failed:
            failed = 1
        return Result(name, passed, failed, f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")

    def summary(self) -> int:
        passed = sum(result.passed for result in self.results)
        failed = sum(result.failed for result in self.results)
        for check, times in self.times.items():
            if times:
                print(f"\n\033[1m== slowest of {check}\033[0m")
            for seconds, test in sorted(times, reverse=True)[:SLOWEST]:
                print(f"{seconds:>8.1f} s  {test}")
        print("\n\033[1m== summary\033[0m")
        for result in self.results:
            state = "FAILED" if result.failed else "ok"
            numbers = f"{result.passed} passed" + (f", {result.failed} failed" if result.failed else "")
            note = f" ({result.note})" if result.note else ""
            print(f"{state:>6}  {result.name}: {numbers}{note}, {result.seconds:.0f} s")
        print(f"ran {passed + failed:,} tests; " + "; ".join(f"{kind}: {n:,}" for kind, n in self.counts.items()))
        print(f"{passed} passed, {failed} failed")
        return 1 if failed else 0


def installed(requirement: str) -> bool:
    name, version = requirement.split("==")
    try:
        return importlib.metadata.version(name).split("+")[0] == version
    except importlib.metadata.PackageNotFoundError:
        return False


def install_torch() -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    torch = f"torch=={TORCH}"
    if not installed(torch):
        subprocess.run([*pip, torch], check=True)
    if not all(installed(each) for each in TORCH_LOOPS) and subprocess.run([*pip, torch, *TORCH_LOOPS]).returncode:
        print(f"not installed, so their tests are skipped: {', '.join(TORCH_LOOPS)}")


def install_browser() -> None:
    if shutil.which("chromium"):
        return
    sudo = [] if os.getuid() == 0 else ["sudo"]
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    subprocess.run([*sudo, "apt-get", "update", "-q"])
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"]
    subprocess.run([*sudo, *environment, *install], check=True)


def make_room() -> None:
    try:
        build_cache.trim(build_cache.FOLDER, build_cache.LARGEST)
    except OSError as error:
        print(f"what was compiled could not be made smaller: {error}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="leave out the sanitizers, the fuzzers, the soak and the wheel, and run a few cases of each kind "
        "of the Python tests with many",
    )
    parser.add_argument(
        "--long",
        action="store_true",
        help="let each fuzzer run 5 minutes and the soak 10, draw more random graphs, and try every file operation "
        "in tests/test_faults.py",
    )
    parser.add_argument("--torch", action="store_true", help="install PyTorch and run the tests that need it")
    parser.add_argument("--browser", action="store_true", help="install Chromium and run the tests that need it")
    options = parser.parse_args()

    if options.torch:
        install_torch()
    if options.browser:
        install_browser()
    python = sys.executable
    checks = Checks()
    make_room()
    if warning := build_cache.warning_of(build_cache.free_bytes(build_cache.FOLDER)):
        print(f"\033[1m{warning}\033[0m", flush=True)
    # Takes one core for half a minute when nothing is known of an earlier run.
    mypy = checks.command_beside(python, "-m", "mypy")
    checks.run("clang-format", checks.clang_format)
    checks.run("ruff format", checks.command(python, "-m", "ruff", "format", "--check", "-q", "."))
    checks.run("ruff check", checks.command(python, "-m", "ruff", "check", "-q", "."))
    checks.run("bazel test", checks.bazel(None, ["//..."], options.long))
    checks.run("rooms keep their visibility", checks.forbidden_dependencies)
    checks.run("mypy", mypy)
    left_out = [need for need in ("torch", "browser") if not getattr(options, need)]
    checks.run("pytest", checks.pytest(left_out, options.long, options.quick))
    if not options.quick:
        checks.run(
            "bazel test under ThreadSanitizer",
            checks.bazel("tsan", [f"//{room}/..." for room in TSAN_ROOMS], options.long),
        )
        checks.run(
            "bazel test under AddressSanitizer",
            checks.bazel("asan", [f"//{room}/..." for room in ASAN_ROOMS], options.long),
        )
        checks.run("fuzz tests", checks.fuzz(LONG_FUZZ_SECONDS if options.long else FUZZ_SECONDS))
        checks.run("soak", checks.soak(LONG_SOAK_SECONDS if options.long else SOAK_SECONDS))
        checks.run("wheel", checks.wheel)
    make_room()
    return checks.summary()


if __name__ == "__main__":
    sys.exit(main())
