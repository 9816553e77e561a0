"""`headrace check-plugin` of sources and formats: those that keep the rules pass, and each broken rule is found and named."""

import json
import pathlib
import struct

import numpy as np
import pytest
from checked_plugins import checked
from conftest import ROOT

import headrace as hr
from headrace.__main__ import main
from headrace._operators.conformance import dataset_checks
from headrace._operators.conformance.battery import BATTERIES
from tests import compiled_plugins, example_plugins
from tests.thinning import QUICK, one_in

BROKEN = pathlib.Path(__file__).with_name("broken_readers.cc")
SMALL = ["--memory", "4MiB", "--calls", "100"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> pathlib.Path:
    """With the sample that declarations of the broken plugin name."""
    folder = tmp_path_factory.mktemp("readers")
    records = b"".join(struct.pack("<iB3s", number * 7, number % 4, b"abc") for number in range(12))
    (folder / "numbers.bin").write_bytes(b"NUMBERS1" + records)
    (folder / "more").mkdir()
    (folder / "more/longer.bin").write_bytes(b"NUMBERS1" + records * 3)
    return folder


@pytest.fixture
def broken(folder, monkeypatch) -> pathlib.Path:
    monkeypatch.chdir(folder)
    return compiled_plugins.library_of("brokenreaders", BROKEN.read_text(), *(["-DFEW"] if QUICK else []))


OF_SOURCES = "columns, attributes, row count, no rows, positions, memory, errors, same bytes, pipelines, shards, states"
OF_FORMATS = (
    "columns, attributes, row borders, splits, resume, truncated, damaged, reads, memory, errors, same bytes, "
    "several files, pipelines, shards, states"
)


def test_the_examples_pass(capfd, tmp_path):
    """With files that a sample names in the place of the example's."""
    library = example_plugins.library_of("gauge")
    readings = np.zeros(9, np.dtype([("time", "<i8"), ("values", "<f4", (3,))]))
    (tmp_path / "a.gauge").write_bytes(b"GAUGE001" + readings.tobytes())
    sample = f"gauge.Readings({str(tmp_path / '*.gauge')!r}, channels=3, shuffle=True)"
    code, printed = checked(capfd, library, "--sample", sample, *SMALL)
    *lines, last = printed.splitlines()
    assert (code, last) == (0, "suite_gauge 1.0: 28 checks of 2 operators, all hold"), printed
    assert all(line.endswith("  ok") for line in lines)
    for operator, names in (("suite_gauge.Readings", OF_FORMATS), ("suite_gauge.Waves", OF_SOURCES)):
        assert [line[22:38].strip() for line in lines if line.startswith(operator)] == [*names.split(", "), "leaks"]


def test_every_kind_of_source_and_format_passes(capfd, broken):
    """Rows of every dtype and of any length, rows that are errors, and files that cannot be cut."""
    chosen = [option for name in ("RightTypes", "RightWhole") for option in ("--operator", name)]
    few = ["memory", "same bytes", "pipelines"] if QUICK else []
    code, printed = checked(capfd, broken, *chosen, *(option for name in few for option in ("--check", name)), *SMALL)
    checks = 6 if QUICK else 25
    assert code == 0 and printed.splitlines()[-1] == f"brokenreaders 1: {checks} checks of 2 operators, all hold", (
        printed
    )
    # They are not for files that cannot be cut.
    assert not any(name in printed for name in ("row borders", "splits", "resume"))


def test_a_source_that_is_not_deterministic_passes(capfd, broken):
    """Its rows are not compared."""
    code, printed = checked(capfd, broken, "--operator", "RightSensor", *SMALL)
    *lines, last = printed.splitlines()
    assert (code, last) == (0, "brokenreaders 1: 7 checks of 1 operator, all hold"), printed
    names = [line.split("  ", 1)[1].removesuffix("ok").strip() for line in lines]
    assert names == ["columns", "attributes", "row count", "positions", "memory", "errors", "leaks"]


def test_a_slow_source_has_its_time(capfd, broken):
    """As many calls are watched as there is time for; where that is too few, a word says so."""
    leaks = ["--operator", "RightSlow", "--check", "leaks", "--time-limit", "4", *SMALL]
    code, printed = checked(capfd, broken, *leaks)
    assert code == 0 and printed.splitlines()[-1] == "brokenreaders 1: 1 check of 1 operator, all hold", printed
    code, printed = checked(capfd, broken, *leaks, "--sample", "RightSlow(600)")
    assert code == 2 and "leaks           left out: a call of read() takes " in printed, printed


def test_a_check_that_takes_long_though_each_call_returns(capfd, broken):
    chosen = ["--operator", "RightSlow", "--check", "positions", "--sample", "RightSlow(700)"]
    code, printed = checked(capfd, broken, *chosen, "--time-limit", "3", *SMALL)
    assert code == 1 and "came:  the check took longer than 3 s; the last call was read()" in printed, printed
    assert "--time-limit gives more" in printed and "return" not in printed


# Of each broken operator a check that must find it, what was given and what came.
SOURCES = [
    ("OtherShape", "columns", "row 20 of 23", "read() gives int64 (2,) for output 0, and columns() says int64 (1,)"),
    ("ChangesColumns", "columns", "rows=23, size=1", "columns() changes its mind"),
    ("Silent", "columns", "row 5 of 23", "read() returned DataError and did not say why"),
    ("NoRows", "columns", "rows=0", "open() gives 0 rows"),
    ("RefusesFour", "attributes", "size=4", "open() gives GraphError: has no table 4"),
    ("LooksUp", "attributes", "which the declaration allows", "open() ended the process by SIGSEGV"),
    ("DividesByRows", "no rows", "rows=0", "open() ended the process by SIGFPE"),
    ("CountsOpens", "row count", "rows=23", "open() gives 24 rows, then 25, while others are open"),
    ("OtherFingerprint", "row count", "rows=23", "open() gives the fingerprint 1, then 2"),
    ("Streams", "positions", "row 0", "row 0 differs in ascending order: 1 of 8 bytes of output 0 differ"),
    ("SeeksBehind", "positions", "row", "differs in ascending order"),
    ("Overruns", "memory", "row 20 of 23", "read() wrote after output 0, which has 8 bytes: 1 or more"),
    ("Unwritten", "memory", "row 20", "read() leaves 8 of 8 bytes of output 0 as they were"),
    ("Ignores", "errors", "a host whose allocate() gives an error, call 1", "read() ended the process by SIGSEGV"),
    ("SharedBuffer", "same bytes", "row", "of 8 at once: 1 of 8 bytes of output 0 differ"),
    ("CountsThreads", "pipelines", "rows=23", "row 0 has other contents on one thread of the pool"),
    ("SeeksBehind", "shards", "rows=23", "rows are missing on 2 ranks, shuffle=False"),
    ("SeeksBehind", "states", "rows=23", "has other contents restored after"),
    ("Leaks", "leaks", "rows=23", "calls of read()"),
    ("Keeps", "leaks", "the same attributes", "calls of open() and destroy()"),
    ("KeepsFiles", "leaks", "the same attributes", "open files grow"),
]
FORMATS = [
    (
        "OtherType",
        "columns",
        "the row from byte 8 on",
        "next() gives int64 (1,) for output 0, and columns() says int32",
    ),
    ("NoSample", "columns", "the declaration's example", "it names no file"),
    ("RefusesFourths", "attributes", "size=4", "create() gives GraphError: has no table 4"),
    ("FindsNext", "row borders", "byte 16 of", "find() gives 24, and the first row from there on begins at byte 16"),
    ("OwnsByEnd", "splits", "splits that end at bytes 9, 104", "row 0 is bytes 16 to 24; alone the file has 8 to 16"),
    ("RunsOn", "splits", "splits that end at bytes 16, 104", "a row of bytes 16 to 24, and its split ends at 16"),
    ("AddsUp", "resume", "from byte", "differs: 1 of 4 bytes of output 0 differ"),
    ("Divides", "truncated", "of 104 bytes of", "open() ended the process by SIGFPE"),
    (
        "TrustsLength",
        "damaged",
        "changed to",
        "found no more memory: it asks for more memory than the file has any use for",
    ),
    ("SilentRows", "damaged", "changed to", "next() returned DataError and did not say why"),
    ("Aborts", "damaged", "changed to", "next() ended the process by SIGABRT"),
    ("ThrowsOther", "damaged", "changed to", "an error of damaged bytes is FunctionError: basic_string"),
    ("SpoilsNext", "damaged", "after damaged files", "the file as it was has other rows than before"),
    ("ReadsItself", "reads", "numbers.bin", "12 rows, and nothing of the file was read"),
    ("KeepsContents", "reads", "numbers.bin", "the same 12 rows of a file in which every bit is another one"),
    ("OverrunsRows", "memory", "the row from byte 8 on", "next() wrote after output 0, which has 4 bytes: 1 or more"),
    ("UnwrittenRows", "memory", "bytes 8 to 16", "next() leaves 4 of 4 bytes of output 0 as they were"),
    ("IgnoresErrors", "errors", "whose allocate() gives errors from call 1 on", "next() ended the process by SIGSEGV"),
    ("SharedPlace", "same bytes", "read by two readers that take turns", "row 1 is bytes 24 to 32"),
    ("OneHead", "several files", "size=1", "11 rows from 2 files, one of them empty, and there are 12"),
    ("CountsReaders", "pipelines", "size=1", "row 0 has other contents on one thread of the pool"),
    ("OwnsByEnd", "shards", "size=1", "rows are missing on 2 ranks"),
    ("AddsUp", "states", "size=1", "has other contents restored after"),
    ("LeaksRows", "leaks", "numbers.bin", "calls of open(), next() and close()"),
    ("KeepsReaders", "leaks", "numbers.bin", "calls of open(), next() and close()"),
    ("LeaksOnError", "leaks", "numbers.bin", "calls of a file cut off at byte 15"),
]


# Compiled with -DFEW.
FEW = ("SeeksBehind", "Keeps", "AddsUp", "Aborts", "LeaksOnError")
IN_PIPELINES = ("several files", "pipelines", "shards", "states")


def kinds_of_check() -> dict[str, list[str]]:
    """Those that call the operator, those that run pipelines, and the long one."""
    checks = list(dict.fromkeys(f"{OF_SOURCES}, {OF_FORMATS}".split(", ")))
    if QUICK:
        return {"all": [*checks, "leaks"]}
    return {
        "calls": [check for check in checks if check not in IN_PIPELINES],
        "pipelines": list(IN_PIPELINES),
        "leaks": ["leaks"],
    }


@pytest.mark.parametrize("checks", kinds_of_check().values(), ids=kinds_of_check())
@pytest.mark.parametrize(
    ("of_all", "right"), [(SOURCES, "RightSource"), (FORMATS, "RightFormat")], ids=["sources", "formats"]
)
def test_every_broken_operator_is_found_and_named(capfd, broken, of_all, right, checks):
    """And one that keeps the rules passes beside them."""
    found = [each for each in of_all if each[1] in checks and (not QUICK or each[0] in FEW)]
    chosen = [option for name in sorted({check for _, check, *_ in found}) for option in ("--check", name)]
    chosen += [option for name in sorted({right, *(name for name, *_ in found)}) for option in ("--operator", name)]
    code, printed = checked(capfd, broken, "--json", *chosen, *SMALL)
    report = json.loads(printed)
    failed = {(each["operator"], each["check"]): each for each in report["checks"] if not each["ok"]}
    assert code == 1 and report["failed"] == len(failed)
    for operator, check, given, came in found:
        answer = failed[f"brokenreaders.{operator}", check]
        assert given in answer["given"] and came in answer["came"] and answer["advice"], answer
        assert "fault of the check" not in answer["advice"]
    assert not [each for each in failed.values() if each["operator"] == f"brokenreaders.{right}"]


def test_each_check_finds_something():
    """All of them are tested by an operator that fails it."""
    for checks, found in ((OF_SOURCES, SOURCES), (OF_FORMATS, FORMATS)):
        assert {check for _, check, *_ in found} == {*checks.split(", "), "leaks"}


def test_the_page_says_what_each_check_does():
    """In a table for each kind of operator."""
    page = (ROOT / "docs/plugins.md").read_text()
    for kind, battery in BATTERIES.items():
        table = page.partition(f"Of {kind}s")[2].partition("\n\n| check |")[2].partition("\n\n")[0]
        named = [name for line in table.splitlines()[2:] for name in line.split("|")[1].strip().split(", ")]
        assert sorted(named) == sorted(battery.checks)


def test_a_check_that_is_for_others(capfd, broken):
    """Is named where it was asked for."""
    both = ["--operator", "RightWhole", "--operator", "RightSource"]
    code, printed = checked(capfd, broken, *both, "--check", "row count", "--check", "splits", *SMALL)
    assert code == 0 and [" ".join(line.split()) for line in printed.splitlines()] == [
        "brokenreaders.RightSource splits not for this operator",
        "brokenreaders.RightSource row count ok",
        "brokenreaders.RightWhole row count not for this operator",
        "brokenreaders.RightWhole splits not for this operator",
        "brokenreaders 1: 1 check of 1 operator, all hold, 3 left out",
    ]
    assert main(["check-plugin", str(broken), "--operator", "RightWhole", "--check", "no rows", "--json"]) == 2
    message = "nothing was checked: no rows of brokenreaders.RightWhole: not for this operator"
    assert message in capfd.readouterr().err


def test_the_ends_are_always_restored():
    """However little time is left."""

    class Hurried:
        seed, attributes, steps = 0, "", []

        def note(self, callback, given):
            self.steps += [int(given.rpartition(" ")[2])] if "up to row" in given else []

        def in_time(self, items):
            return iter(items[:1])

    subject = Hurried()
    dataset_checks._check_resume(subject, hr.Range(5), "")
    assert subject.steps == [0, 5, 1]


def test_a_format_that_does_not_return_is_named(capfd, broken):
    code, printed = checked(capfd, broken, "--operator", "Loops", "--check", "truncated", "--time-limit", "4", *SMALL)
    assert code == 1
    assert "came:  next() did not return within 4 s" in printed and "the first" in printed, printed


def test_a_sample_that_is_none(capfd, broken, tmp_path):
    (tmp_path / "empty.bin").touch()
    (tmp_path / "other.bin").write_bytes(b"NUMBERS1" + bytes(7))
    samples = (
        ("RightFormat('none.bin')", "none.bin", "none.bin: not found"),
        (f"RightFormat({str(tmp_path / 'empty.bin')!r})", "empty.bin", "all of its files are empty"),
        (f"RightFormat({str(tmp_path / 'other.bin')!r})", "other.bin", "next() gives DataError"),
        ("RightSource(0)", "rows=0", "open() gives 0 rows"),
    )
    for sample, given, came in one_in(3, samples):
        operator = sample.partition("(")[0]
        code, printed = checked(capfd, broken, "--sample", sample, "--operator", operator, *SMALL)
        assert code == 1 and "1 check of 1 operator, 1 failed" in printed
        assert given in printed and came in printed and "--sample" in printed
