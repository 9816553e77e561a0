"""The stages of each mode, and what is in them."""

import dataclasses
import pathlib
import subprocess

import pytest

from tests.conftest import ROOT
from tools.check import bazel, changes, check, limits, plan
from tools.check.bazel_events import Events
from tools.check.cpp_tests import LEVEL_OPTIONS, CppTests
from tools.check.deadline import Deadline
from tools.check.groups import Groups
from tools.check.marks import Mark, Marks
from tools.check.modes import Mode
from tools.check.parts import Fingerprints, Level
from tools.check.result import Result
from tools.check.stages import Line, Run, Stage
from tools.check.tree import Tree

TREE = Tree.of(ROOT)
QUICK = [
    "clang-format",
    "ruff format",
    "ruff check",
    "mypy",
    "C++ tests",
    "rooms keep their visibility",
    "Python tests",
]
TEST = [*QUICK, "Python tests that wait for clocks"]
CI = [
    *TEST,
    "AddressSanitizer, other rooms",
    "ThreadSanitizer",
    "fuzz tests",
    "soak",
    "wheel",
    "Python tests with torch",
    "Python tests with browser",
    "Python tests with site",
    "Python tests with small_ray",
]
ALL = [
    *CI,
    "long C++ tests",
    "long Python tests",
    "files by themselves",
    "wheels of other Pythons",
    "wheel in bare Debian",
]
FAR = ["Python tests of far files", "Python tests with real stores"]
RAY = ["Python tests with small_ray", "Python tests with ray"]


@pytest.fixture
def marks(tmp_path: pathlib.Path) -> Marks:
    return Marks(tmp_path / "green")


def plan_of(marks: Marks, mode: Mode, edited: str = "", touched: tuple[str, ...] = ()) -> plan.Plan:
    """The plan after an edit of one file."""
    tree = Tree(TREE.hashes | ({edited: "edited"} if edited else {}))
    run = Run(marks, Deadline(), "abc123", 0)
    return plan.Plan(run, Groups.read(ROOT, tree), Fingerprints(tree, {}), mode, touched)


def parts_of(stages: list[Stage], name: str) -> list[str]:
    return [part.name for stage in stages if stage.name == name for part in stage.parts]


def due_after(marks: Marks, mode: Mode, edited: str = "") -> dict[str, list[str]]:
    """The parts of each stage that run after an edit of one file."""
    made = plan_of(marks, mode, edited)
    return {stage.name: [part.name for part in made.run.due(stage)] for stage in made.stages()}


def pass_everything(marks: Marks, mode: Mode) -> None:
    for stage in plan_of(marks, mode).stages():
        for part in stage.parts:
            marks.write(part, Mark("abc123", 1))


@pytest.mark.parametrize(
    ("mode", "names"),
    [(Mode.QUICK, QUICK), (Mode.TEST, TEST), (Mode.CI, CI), (Mode.ALL, ALL), (Mode.FAR, FAR), (Mode.RAY, RAY)],
)
def test_each_mode_has_its_stages(marks, mode, names):
    assert [stage.name for stage in plan_of(marks, mode).stages()] == names


def test_parts_have_one_name_each(marks):
    names = [part.name for stage in plan_of(marks, Mode.ALL).stages() for part in stage.parts]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("mode", "level"), [(Mode.QUICK, Level.THINNED), (Mode.TEST, Level.THINNED), (Mode.CI, Level.FULL)]
)
def test_each_mode_has_its_number_of_cases(marks, mode, level):
    stages = {stage.name: stage for stage in plan_of(marks, mode).stages()}
    for name in ("C++ tests", "Python tests"):
        assert {part.level for part in stages[name].parts} == {level}


@pytest.fixture
def tested(monkeypatch) -> list[tuple[list[str], list[str]]]:
    """The options and patterns of each `bazel test` from here on, all of which pass."""
    calls: list[tuple[list[str], list[str]]] = []

    def test(_deadline, _title, options, patterns) -> tuple[int, Events]:
        calls.append((options, patterns))
        return 0, Events()

    monkeypatch.setattr(bazel, "test", test)
    monkeypatch.setattr(plan, "query", lambda _, query: [query])
    return calls


def check_stage(marks: Marks, mode: Mode, name: str) -> Result:
    (stage,) = [stage for stage in plan_of(marks, mode).stages() if stage.name == name]
    return stage.check(stage.parts)


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        (Mode.QUICK, ["--test_env=HEADRACE_QUICK=1"]),
        (Mode.TEST, ["--test_env=HEADRACE_QUICK=1"]),
        (Mode.CI, []),
        (Mode.ALL, []),
    ],
)
def test_cpp_tests_are_told_how_many_rounds_to_run(marks, tested, mode, options):
    assert check_stage(marks, mode, "C++ tests").green == {"cpp": 0}
    assert tested == [(options, ["//..."])]


def test_a_suspect_of_cpp_runs_again_with_as_many_rounds(monkeypatch):
    called = []
    monkeypatch.setattr(bazel, "test", lambda _, __, options, patterns: called.append(options) or (0, Events()))
    assert CppTests(Deadline(), "C++ tests", LEVEL_OPTIONS[Level.THINNED], "cpp").alone("//a:t")
    assert called == [["--test_env=HEADRACE_QUICK=1", "--nocache_test_results"]]


def test_a_long_run_has_the_cpp_tests_with_more_rounds(marks, tested):
    files = plan_of(marks, Mode.ALL).long_cpp_files()
    assert {"ops/registered/random_graphs_test.cc", "ops/registered/random_passes_test.cc"} <= set(files)
    assert "core/buffer_test.cc" not in files
    check_stage(marks, Mode.ALL, "long C++ tests")
    ((options, patterns),) = tested
    assert options[0] == "--test_env=HEADRACE_LONG=1" and "RandomGraphs.AreAsTheirModelEveryWay" in options[1]
    assert all(file.rpartition("/")[2] in patterns[0] for file in files)


@pytest.mark.parametrize("mode", [Mode.QUICK, Mode.TEST])
def test_cpp_tests_with_few_rounds_never_count_as_those_with_all(marks, mode):
    pass_everything(marks, mode)
    assert due_after(marks, mode)["C++ tests"] == []
    assert due_after(marks, Mode.CI)["C++ tests"] == due_after(marks, Mode.ALL)["C++ tests"] == ["cpp"]


def test_cpp_tests_with_all_rounds_count_for_few(marks):
    pass_everything(marks, Mode.CI)
    assert due_after(marks, Mode.TEST)["C++ tests"] == due_after(marks, Mode.ALL)["C++ tests"] == []


def test_what_must_run_is_what_shows_most(marks):
    must = [stage.name for stage in plan_of(marks, Mode.CI, touched=("core",)).stages() if stage.must]
    assert must == [*TEST, "AddressSanitizer, changed rooms"]


@pytest.mark.parametrize(
    ("edited", "due"),
    [
        ("", []),
        ("docs/new.md", ["docs"]),
        ("python/headrace/mx/new.py", ["surface", "names", "mx-augmentation", "mx", "docs", "repository"]),
    ],
)
def test_what_an_edit_does_not_reach_is_left_out(marks, edited, due):
    pass_everything(marks, Mode.CI)
    after = due_after(marks, Mode.CI, edited)
    assert after["Python tests"] == due and after["ThreadSanitizer"] == []
    assert due_after(marks, Mode.TEST, edited)["Python tests"] == due


def test_a_kernel_reaches_the_rooms_above(marks):
    pass_everything(marks, Mode.CI)
    due = due_after(marks, Mode.CI, "kernels/vision/new.cc")
    assert due["AddressSanitizer, changed rooms"] == ["asan.kernels"]
    assert due["AddressSanitizer, other rooms"] == ["asan.engine", "asan.ops", "asan.capi"]
    assert due["C++ tests"] == ["cpp"] and due["soak"] == ["soak"] and due["fuzz tests"] != []
    assert due["Python tests with torch"] == [] and due["mypy"] == []


def test_where_no_room_is_known_those_of_the_last_commit_changed(marks):
    marks.put("cpp", "0" * 32, Mark("a", 1))
    made = plan_of(marks, Mode.CI, touched=("docs", "io"))
    assert parts_of(made.stages(), "AddressSanitizer, changed rooms") == ["asan.io"]


def test_a_quick_run_has_what_the_edit_is_about(marks):
    pass_everything(marks, Mode.TEST)
    assert due_after(marks, Mode.QUICK, "core/tensor.h")["Python tests"] == ["surface", "variants"]
    assert {"mx", "mx-augmentation"} <= set(due_after(marks, Mode.QUICK, "python/headrace/mx/new.py")["Python tests"])


def test_a_quick_run_says_what_it_leaves_to_others(marks):
    pass_everything(marks, Mode.TEST)
    made = plan_of(marks, Mode.QUICK, "core/tensor.h")
    made.stages()
    assert "mx" in made.left and "surface" not in made.left


def test_more_cases_are_run_again_where_there_are_some(marks):
    pass_everything(marks, Mode.CI)
    due = due_after(marks, Mode.ALL)
    assert due["Python tests"] == due["wheel"] == []
    assert due["soak"] == ["soak"] and len(due["fuzz tests"]) > 10
    assert due["long Python tests"] == ["pipelines.long", "functions.long", "far.long"]


def test_each_fuzz_test_is_a_part(marks):
    stems = sorted(f"fuzz.{pathlib.Path(path).stem}" for path in TREE.matching(["**/*_fuzz.cc"]))
    assert sorted(parts_of(plan_of(marks, Mode.CI).stages(), "fuzz tests")) == stems


@pytest.mark.parametrize(
    ("edited", "due"),
    [
        ("io/formats/tar/tar_format.cc", {"tar_format_fuzz", "wds_index_fuzz", "tar_row_fuzz", "plan_fuzz"}),
        ("io/formats/tar/corpus/tar_format_fuzz/new", {"tar_format_fuzz"}),
        ("io/formats/lmdb/lmdb_fuzz.cc", {"lmdb_fuzz"}),
    ],
)
def test_an_edit_is_fuzzed_where_it_is_linked(marks, edited, due):
    pass_everything(marks, Mode.ALL)
    after = {name.removeprefix("fuzz.") for name in due_after(marks, Mode.ALL, edited)["fuzz tests"]}
    assert due <= after and not after & {"crop_decoder_fuzz", "graph_text_fuzz", "xml_fuzz"}
    assert "/corpus/" not in edited and not edited.endswith("_fuzz.cc") or after == due


def test_long_fuzzing_goes_on_over_commits_that_do_not_reach_it(marks):
    pass_everything(marks, Mode.ALL)
    for edited in (
        "docs/faq.md",
        "python/headrace/errors.py",
        "io/formats/tar/tar_format_test.cc",
        "tests/pipelines.py",
    ):
        assert due_after(marks, Mode.ALL, edited)["fuzz tests"] == [], edited
    every = parts_of(plan_of(marks, Mode.ALL).stages(), "fuzz tests")
    assert due_after(marks, Mode.ALL, "core/tensor.h")["fuzz tests"] == every


@pytest.mark.parametrize("mode", [Mode.CI, Mode.ALL])
def test_fuzzing_goes_on_however_long_all_of_it_took(marks, mode):
    marks.keep_duration("fuzz tests", 18_000)
    made = plan_of(marks, mode)
    made.run.deadline = Deadline(600)
    ran: list[int] = []

    def check(due) -> Result:
        ran.append(len(due))
        return Result(len(due)).about(due)

    stage = next(stage for stage in made.stages() if stage.name == "fuzz tests")
    made.run.perform([dataclasses.replace(stage, check=check)])
    assert ran == [len(stage.parts)] and made.run.owed == []


def test_every_stage_of_a_plan_has_files(marks):
    files = plan_of(marks, Mode.ALL).python_tests().files
    assert all(files[name] for name in (*parts_of(plan_of(marks, Mode.ALL).stages(), "long Python tests"), "torch"))


@pytest.mark.parametrize(
    ("arguments", "mode"), [([], Mode.TEST), (["--quick"], Mode.QUICK), (["--ci"], Mode.CI), (["--all"], Mode.ALL)]
)
def test_an_option_chooses_the_mode(arguments, mode):
    assert check.parser().parse_args(arguments).mode is mode


def test_modes_exclude_each_other(capsys):
    with pytest.raises(SystemExit):
        check.parser().parse_args(["--quick", "--all"])


def test_the_limit_is_that_of_the_mode():
    assert check.limit_of(Mode.TEST, ["core"], knows_nothing=True) is limits.TEST
    assert check.limit_of(Mode.QUICK, ["core"], knows_nothing=False) is limits.QUICK
    assert check.limit_of(Mode.CI, ["kernels"], knows_nothing=False) is limits.CI_KERNEL
    assert check.limit_of(Mode.CI, ["kernels"], knows_nothing=True) is None
    assert check.limit_of(Mode.ALL, [], knows_nothing=False) is None


def test_what_is_owed_is_said_and_so_is_that_nothing_is(marks):
    run = Run(marks, Deadline(), "abc123", 0)
    assert check.owed(run, Mode.ALL) == ["everything has passed for these files"] and check.owed(run, Mode.CI) == []
    run.lines.append(Line("soak", Result(0, 1), 1.0))
    assert check.owed(run, Mode.ALL) == []
    run.owed = ["soak", "wheel"]
    assert check.owed(run, Mode.CI) == ["owed, and first in the next run: soak, wheel"]


def test_folders_that_changed_are_those_without_a_mark(marks):
    tree = Tree({"core/a.h": "1", "kernels/b.h": "1", "README.md": "1"})
    assert changes.changed_folders(marks, tree) == ["core", "kernels"]
    changes.keep_folders(marks, tree, "abc123")
    assert changes.changed_folders(marks, tree) == []
    assert changes.changed_folders(marks, Tree(tree.hashes | {"kernels/b.h": "2"})) == ["kernels"]


def test_git_tells_the_commit_and_what_it_touched(tmp_path):
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    for folder in ("core", "io"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.h").write_text("")
        git("add", ".")
        git("commit", "-q", "-m", folder)
    assert changes.touched_by_last(tmp_path) == ["io"] and changes.commits_of(tmp_path) == 2
    commit = changes.commit_of(tmp_path)
    (tmp_path / "core/a.h").write_text("int a;")
    assert changes.commit_of(tmp_path) == commit + "+"
    assert changes.commits_of(tmp_path / "..") == 0 and changes.touched_by_last(tmp_path / "..") == []
