"""tools/setup: what is installed, and what is said of how far it is."""

import contextlib
import importlib.metadata
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT
from tools.check import check, summary
from tools.check.result import Result
from tools.check.stages import Line

SETUP = ROOT / "tools/setup"
PREAMBLE = f"""
set -euo pipefail
say() {{ echo "== $*" >&2; }}
die() {{ echo "setup: $*" >&2; exit 1; }}
. {SETUP}/progress.sh
. {SETUP}/packages.sh
. {SETUP}/requirements.sh
. {SETUP}/libcurl.sh
progress_s=0
"""


def command(folder: pathlib.Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def bash(text: str, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Runs text in the folder, with the functions of the set-up and the folder's bin before other commands."""
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", PREAMBLE + text], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )


def machine(folder: pathlib.Path, installed: str, apt: str) -> None:
    """A machine with these packages, on which apt-get does this."""
    lines = "\\n".join(f"installed {name}" for name in installed.split())
    command(folder, "bin/dpkg-query", f'printf "{lines}\\n"')
    command(folder, "bin/sudo", 'exec "$@"')
    command(folder, "bin/apt-get", apt)
    (folder / "packages.txt").write_text("# A heading.\na\nb\nc\n")


def states(stderr: str) -> list[str]:
    """The reports of progress without seconds and repetitions."""
    reports = [line.strip().rsplit(" (", 1)[0] for line in stderr.splitlines() if line.startswith("   ")]
    return list(dict.fromkeys(reports))


def test_lists_name_each_package_once():
    names = [line for path in SETUP.glob("packages*.txt") for line in path.read_text().splitlines() if line[0] != "#"]
    assert len(names) == len(set(names))


def lines_of(pattern: str) -> dict[str, list[str]]:
    return {
        path.stem: [line for line in path.read_text().splitlines() if line[0] != "#"]
        for path in sorted(SETUP.glob(pattern))
    }


def test_requirements_are_named_once():
    pins = [line.split("==") for lines in lines_of("requirements*.in").values() for line in lines]
    assert all(len(pin) == 2 for pin in pins)
    assert len(pins) == len({name for name, _ in pins})


def test_every_requirement_has_a_hash():
    """Those in the lists, and what these need in turn, in one version in all lists."""
    asked, locked = lines_of("requirements*.in"), lines_of("requirements*.txt")
    assert asked.keys() == locked.keys()
    form = re.compile(r"([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}")
    versions: dict[str, set[str]] = {}
    for name, lines in locked.items():
        assert [line for line in lines if not form.fullmatch(line)] == []
        pins = [line.split()[0] for line in lines]
        assert set(asked[name]) <= set(pins), "run tools/setup/lock"
        for package, version in (pin.split("==") for pin in pins):
            versions.setdefault(package, set()).add(version)
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


def needs_of(package: str) -> set[str]:
    """What an installed package says that it needs here."""
    requirements = map(Requirement, importlib.metadata.requires(package) or [])
    return {
        canonicalize_name(each.name) for each in requirements if not each.marker or each.marker.evaluate({"extra": ""})
    }


@pytest.mark.parametrize("name", ["requirements", "requirements-build", "requirements-dev"])
def test_the_pins_are_what_the_lists_need(name):
    """No more and no less: pip refuses a package that a requirement needs and no list names."""
    found: set[str] = set()
    open_names = {line.split("==")[0] for line in lines_of(f"{name}.in")[name]}
    while open_names:
        found |= open_names
        open_names = {need for package in open_names for need in needs_of(package)} - found
    assert found == {line.split("==")[0] for line in lines_of(f"{name}.txt")[name]}, "run tools/setup/lock"


def test_what_is_installed_is_left_alone(tmp_path):
    machine(tmp_path, installed="a b c", apt="echo called >> calls")
    assert bash("install_packages packages.txt", tmp_path).returncode == 0
    assert not (tmp_path / "calls").exists()


def test_missing_packages_are_installed(tmp_path):
    machine(tmp_path, installed="b", apt='echo "$@" >> calls')
    done = bash("install_packages packages.txt", tmp_path)
    assert done.returncode == 0, done.stderr
    installs = [line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("install -y")]
    assert len(installs) == 1 and installs[0].endswith(" a c")


def test_old_lists_of_packages_are_not_used(tmp_path):
    """apt-get update ends well where a source does not answer, unless it is told otherwise."""
    machine(
        tmp_path,
        installed="b",
        apt="""
        echo "$@" >> calls
        case "$*" in update*--error-on=any*) echo 'E: Failed to fetch x'; exit 100 ;; esac""",
    )
    done = bash("install_packages packages.txt; echo went on >&2", tmp_path)
    assert done.returncode == 1
    assert "E: Failed to fetch x" in done.stderr
    assert "setup: the package lists could not be updated" in done.stderr and "Missing: a c" in done.stderr
    assert "went on" not in done.stderr
    assert [line for line in (tmp_path / "calls").read_text().splitlines() if "install" in line] == []


def test_apt_tells_how_far_it_is(tmp_path):
    machine(
        tmp_path,
        installed="a",
        apt="""
        case "$*" in
          update*) ;;
          *-s*) printf 'Inst b (1 Debian)\\nInst d (1 Debian)\\nInst c (1 Debian)\\nConf b\\n' ;;
          *)
            echo 'dlstatus:1:20.0:Retrieving file 1 of 3 (2s remaining)' >&3
            for package in b d c; do
              echo "Unpacking $package"
              echo "pmstatus:$package:30.0:Unpacking $package (amd64)" >&3
            done
            echo 'pmstatus:b:60.0:Installed b (amd64)' >&3
            ;;
        esac""",
    )
    done = bash("install_packages packages.txt", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "packages: Retrieving file 1 of 3 (2s remaining)" in states(done.stderr)
    assert states(done.stderr)[-1] == "packages: 3 of 3 unpacked, 1 set up"


def test_pip_tells_how_far_it_is(tmp_path):
    command(
        tmp_path,
        ".venv/bin/python",
        """
        echo 'Collecting x==1'
        echo 'Collecting dependency>=2 (from x==1)'
        echo 'Collecting y==3'
        echo 'Installing collected packages: x, dependency, y'
        until [ -e .venv/headrace-installing ]; do :; done
        mkdir .venv/lib/x-1.dist-info .venv/lib/y-3.dist-info
        touch -d '+1 second' .venv/lib/{x-1,y-3}.dist-info
        echo 'Successfully installed x-1 dependency-2 y-3'
        """,
    )
    (tmp_path / ".venv/lib/old-1.dist-info").mkdir(parents=True)
    (tmp_path / "requirements.txt").write_text("# A heading.\nx==1 --hash=sha256:0\ny==3 --hash=sha256:1\n")
    done = bash("install_requirements requirements.txt", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Python packages: collecting, 2 of 2 requirements" in states(done.stderr)
    assert states(done.stderr)[-1] == "Python packages: 2 of 3 installed"


def test_requirements_are_installed_when_a_list_changed(tmp_path):
    command(tmp_path, ".venv/bin/python", 'echo "$@" >> calls')
    (tmp_path / "base.txt").write_text("x==1\n")
    (tmp_path / "more.txt").write_text("y==1\n")

    def calls() -> int:
        assert bash("install_requirements base.txt more.txt", tmp_path).returncode == 0
        return len((tmp_path / "calls").read_text().splitlines())

    assert [calls(), calls()] == [1, 1]
    (tmp_path / "base.txt").write_text("x==2\n")
    assert [calls(), calls()] == [2, 2]
    for call in (tmp_path / "calls").read_text().splitlines():
        assert call.endswith("--require-hashes --only-binary=:all: --requirement=base.txt --requirement=more.txt")


def test_requirements_that_failed_are_tried_again(tmp_path):
    command(tmp_path, ".venv/bin/python", "echo no such version; exit 1")
    (tmp_path / "more.txt").write_text("y==1\n")
    for _ in range(2):
        done = bash("install_requirements more.txt", tmp_path)
        assert done.returncode == 1
        assert "no such version" in done.stderr


@pytest.mark.parametrize(("status", "shown"), [(0, False), (3, True)])
def test_output_is_shown_if_the_command_fails(tmp_path, status, shown):
    done = bash(f"with_progress true bash -c 'echo its output; exit {status}'", tmp_path)
    assert done.returncode == status
    assert ("its output" in done.stderr) == shown


def test_an_interrupt_ends_the_command(tmp_path):
    text = (
        PREAMBLE + "with_progress true bash -c 'trap \"touch interrupted; exit 1\" INT; echo > began; sleep 30 & wait'"
    )
    os.mkfifo(tmp_path / "began")
    process = subprocess.Popen(
        ["bash", "-c", text],
        cwd=tmp_path,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
        # A command in the background of a script ignores interrupts, and so do its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    (tmp_path / "began").read_text()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=10) != 0
    assert (tmp_path / "interrupted").exists()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def test_source_packages_come_from_where_packages_do(tmp_path):
    etc = tmp_path / "etc"
    (etc / "sources.list.d").mkdir(parents=True)
    (etc / "sources.list").write_text(
        "# deb http://old stable main\ndeb [signed-by=/k] http://a stable main\ndeb-src http://b stable main\n"
    )
    (etc / "sources.list.d/more.list").write_text("  deb http://c stable main\n")
    (etc / "sources.list.d/debian.sources").write_text(
        "Types: deb\nURIs: http://d\nSuites: bookworm\nComponents: main\n"
    )
    assert bash("write_source_lists new etc", tmp_path).returncode == 0
    parts = tmp_path / "new/parts"
    assert (parts / "sources.list").read_text() == "deb-src [signed-by=/k] http://a stable main\n"
    assert (parts / "more.list").read_text() == "deb-src http://c stable main\n"
    assert (parts / "debian.sources").read_text().startswith("Types: deb-src\nURIs: http://d\n")


def test_libcurl_is_built_once(tmp_path):
    build = """
    fetch_curl_source() { mkdir -p "$1"; echo 'Version: 7.88.1-1' > "$1/curl_1.dsc"; }
    make_libcurl() { mkdir "$2"; touch "$2/libcurl.a"; }
    export HEADRACE_LIBCURL=kept
    install_libcurl
    """
    first, second = bash(build, tmp_path), bash(build, tmp_path)
    assert first.stdout == second.stdout and first.stdout.startswith("kept/7.88.1-1-"), first.stderr
    assert "building libcurl" in first.stderr and second.stderr == ""


def test_libcurl_that_cannot_be_had_is_an_error(tmp_path):
    done = bash("fetch_curl_source() { return 1; }; HEADRACE_LIBCURL=kept install_libcurl; echo went on", tmp_path)
    assert done.returncode == 1 and "curl's source package could not be had" in done.stderr and done.stdout == ""


def test_an_option_that_does_not_exist_is_refused():
    done = subprocess.run([SETUP / "setup", "--no-such"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("setup: no such option: --no-such (there are --generate, ")


def test_what_took_its_time_is_told(tmp_path):
    code = "times_text; timed nvcc true; least_timed_s=0; timed libcurl true; timed 'the engine' true; times_text"
    done = bash(code, tmp_path)
    assert re.fullmatch(r"\nlibcurl \d+ s, the engine \d+ s\n", done.stdout)
    assert bash("timed libcurl false; echo went on", tmp_path).stdout == ""


def test_the_summary_has_the_times_of_the_set_up(tmp_path):
    assert check.set_up_times(tmp_path / "none") == ""
    (tmp_path / "times").write_text("Debian's packages 31 s, the engine 250 s\n")
    line = Line("set-up", Result(note=check.set_up_times(tmp_path / "times")), 281.0)
    assert summary.of_stage(line) == "    ok  set-up: 0 passed (Debian's packages 31 s, the engine 250 s), 281 s"


@pytest.fixture
def clone(tmp_path):
    """./test over a set-up and a Python that only say what they are given."""
    shutil.copy(ROOT / "test", tmp_path / "test")
    command(tmp_path, "tools/setup/setup", 'echo "set-up: $*"')
    command(tmp_path, ".venv/bin/python", 'shift 3; echo "check: $*"')
    return tmp_path


def answer_of(clone: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([clone / "test", *arguments], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("arguments", "set_up"),
    [
        ([], "--test"),
        (["--quick", "--exitfirst"], "--test"),
        (["--ci", "--deadline", "75"], "--test --sanitizers --cuda --far"),
        (["--deadline=7.5", "--fresh", "--all"], "--test --sanitizers --cuda --far"),
        (["--far"], "--test --far"),
    ],
)
def test_options_reach_the_set_up_and_the_checks(clone, arguments, set_up):
    assert answer_of(clone, *arguments).stdout == f"set-up: {set_up}\ncheck: {' '.join(arguments)}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--quik"], "unknown option --quik"),
        (["5"], "unknown option 5"),
        (["--quick", "--all"], "--quick and --all exclude each other"),
        (["--deadline"], "--deadline needs a number of minutes, not ''"),
        (["--deadline", "--ci"], "--deadline needs a number of minutes, not '--ci'"),
        (["--ci", "--deadline=1h"], "--deadline needs a number of minutes, not '1h'"),
    ],
)
def test_a_mistake_is_told_before_the_set_up(clone, arguments, message):
    done = answer_of(clone, *arguments)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(f"test: {message}\n")
    assert "--exitfirst ends after the first stage that fails" in done.stderr
