"""Plugins: operators built outside are like those of Headrace's own, and broken ones give errors that name them."""

import contextlib
import ctypes
import inspect
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import threading

import numpy as np
import pytest
from conftest import ROOT, run_python, state_after

import headrace as hr
from headrace import _engine
from headrace import vision as V
from headrace.__main__ import main
from headrace._kernels.kernel import Kernel

SOURCES = ROOT / "plugin/testing"


def build(source: str, library: pathlib.Path, *options: str) -> pathlib.Path:
    """By one line, against the header alone."""
    compiler = ["g++", "-std=c++20"] if source.endswith(".cc") else ["gcc"]
    command = [
        *compiler,
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        f"-I{hr.plugin_include()}",
        str(SOURCES / source),
        "-o",
        str(library),
    ]
    subprocess.run([*command, *options, "-lm"], check=True, timeout=120)
    return library


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    return {
        "myops": build("sample_plugin.c", folder / "libmyops.so"),
        "badops": build("faulty_plugin.cc", folder / "libbadops.so"),
    }


@pytest.fixture(scope="session")
def myops(libraries):
    return hr.load_plugin(libraries["myops"])


@pytest.fixture(scope="session")
def kinds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "kinds.cc").write_text(KINDS)
    return hr.load_plugin(compiled(folder / "kinds.cc", folder / "kinds.so"))


@pytest.fixture(scope="session")
def badops(libraries):
    return hr.load_plugin(libraries["badops"])


def floats(rows=40):
    return hr.Numpy({"x": np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)})


def column(dataset, name="x", **options):
    return [np.array(row[name]) for row in dataset.iterate(**options)]


def assert_equal(left, right):
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_class_is_like_those_of_headrace(myops, libraries, capsys):
    assert issubclass(myops.Scale, Kernel)
    assert (myops.__name__, myops.__version__, myops.__doc__) == ("headrace.plugins.myops", "1.2", "Kernels for tests.")
    assert myops.__file__ == str(libraries["myops"])
    assert myops.__all__ == ["Center", "Noise", "Range", "Scale", "Settings", "Words"]
    assert str(inspect.signature(myops.Scale)) == "(factor: 'float | Parameter' = 2.0) -> 'None'"
    assert inspect.cleandoc(myops.Scale.__doc__).splitlines() == [
        "Multiplies by a factor.",
        "",
        "Takes float32 of any shape and gives the same.",
        "",
        "Errors: NaN, as a DataError.",
        "",
        "Args:",
        "    factor: What each number is multiplied by (above 0).",
        "",
        "Example:",
        "    myops.Scale(0.5)",
    ]
    assert str(inspect.signature(myops.Noise)) == "(*, seed: 'int | None' = None, name: 'str | None' = None) -> 'None'"
    assert repr(pickle.loads(pickle.dumps(myops.Scale(3.0)))) == "Scale(factor=3.0)"
    assert main(["ops", "--plugin", str(libraries["myops"])]) == 0
    assert "operators of the plugin myops:\n  myops.Center" in capsys.readouterr().out
    assert main(["ops", "--plugin", str(libraries["myops"]), "myops.Scale"]) == 0
    assert capsys.readouterr().out.startswith(
        "myops.Scale (version 2)\n\nmyops.Scale(factor=2.0)\n\nMultiplies by a factor.\n"
    )


def test_rows_go_through_it(myops):
    pipeline = floats().map(myops.Scale(0.5), "x")
    assert pipeline.schema["x"].dtype == "float32" and tuple(pipeline.schema["x"].shape) == (3,)
    assert_equal(column(pipeline), list(np.arange(120, dtype=np.float32).reshape(40, 3) / 2))
    # Row-major, whatever the tensor before was.
    image = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3)
    flipped = hr.Numpy({"x": image}).map([V.RandomHorizontalFlip(1.0), myops.Scale()], "x")
    np.testing.assert_array_equal(column(flipped)[0], image[0, :, ::-1] * 2)
    np.testing.assert_array_equal(myops.Scale(4.0)(np.ones(2, np.float32)), [4, 4])


def test_a_batch_holds_its_results_without_a_copy(kinds):
    """The kernel writes where it was told to write."""
    rows = hr.Numpy({"x": np.zeros((4, 20_000), np.int64)})
    (batch,) = rows.map(kinds.Places(), "x").batch(4)
    assert batch["x"][:, 0].tolist() == [batch["x"].ctypes.data + 160_000 * row for row in range(4)]


def test_a_kernel_that_joins_the_rows_of_a_batch(myops):
    pipeline = floats(7).batch(3).map(myops.Center(), "x")
    rows = np.arange(21, dtype=np.float32).reshape(7, 3)
    assert_equal(column(pipeline), [rows[i : i + 3] - rows[i : i + 3].mean(0) for i in (0, 3, 6)])
    with pytest.raises(hr.GraphError, match=r"myops\.Center.*batch"):
        floats().map(myops.Center(), "x").schema  # noqa: B018
    # A row that is there so that ranks step alike stays out of it.
    last = list(pipeline.iterate(shard=(1, 2), even="pad"))[-1]
    assert last["_pad"].tolist() == [True]
    np.testing.assert_array_equal(last["x"], rows[:1])


def test_several_inputs_and_outputs(myops):
    pairs = hr.Numpy({"a": np.array([[1, 5], [7, -2]]), "b": np.array([3, 9])})
    rows = list(pairs.map(myops.Range(), ["a", "b"], output=["least", "most"]))
    assert [(int(row["least"]), int(row["most"])) for row in rows] == [(1, 5), (-2, 9)]
    with pytest.raises(hr.GraphError, match=r"myops\.Range makes 2 columns of 1"):
        pairs.map(myops.Range(), ["a"])


def test_texts(myops, tmp_path):
    (tmp_path / "a.txt").write_text("the wheel  turns\n\nÄhren\n")
    lines = hr.Text(str(tmp_path / "a.txt")).map(myops.Words(), "line", output="words")
    found = [list(row["words"]) for row in lines]
    assert found == [["the", "wheel", "turns"], ["Ähren"]] or found == [["the", "wheel", "turns"], [], ["Ähren"]]


def test_attributes_of_every_type(myops):
    def text(*given, **named):
        (row,) = hr.Range(1).map(myops.Settings(*given, **named), "value")
        return row["value"]

    assert text(True) == "1;None;up 2;3 4 ;0.5 ;a b ;float32 12;"
    everything = {"number": 9, "mode": "down", "size": 7, "reals": [1, 2.5], "names": ["ä"], "dtype": "int8"}
    assert text(False, **everything) == "0;9;down 4;7 7 ;1 2.5 ;ä ;int8 2;"
    with pytest.raises(hr.GraphError, match="number is 10; it must be at most 9") as caught:
        text(True, number=10)
    assert "test_plugins.py" in str(caught.value) and "myops.Settings" in str(caught.value)
    with pytest.raises(hr.GraphError, match="mode is 'upp'; did you mean \"up\""):
        text(True, mode="upp")
    with pytest.raises(TypeError, match="flag"):
        myops.Settings()


def test_its_own_errors_reach_the_loop(myops):
    with pytest.raises(hr.GraphError, match='column "value": takes float32'):
        hr.Range(3).map(myops.Scale(), "value").schema  # noqa: B018
    with pytest.raises(hr.GraphError, match="does not scale by 13") as refused:
        list(floats().map(myops.Scale(13.0), "x"))
    assert refused.value.operator == "map[1] myops.Scale"
    rows = np.zeros((6, 2), np.float32)
    rows[4, 1] = np.nan
    wrong = hr.Numpy({"x": rows}).map(myops.Scale(), "x")
    with pytest.raises(hr.DataError, match="holds NaN") as caught:
        list(wrong)
    assert caught.value.row == "epoch 0, key 4"
    assert len(column(wrong.on_error("skip"))) == 5


VARIANTS = [
    {"optimize": False},
    {"workers": 1},
    {"workers": 7},
    {"window": 1},
    {"memory": "64KiB"},
    {"executor": "pull"},
]


def test_random_numbers_are_the_rows_own(myops):
    """Neither workers nor order nor ranks nor restarts change a row, and Headrace's own kernels draw beside it."""
    pipeline = floats().shuffle(8).map(myops.Noise(), "x").batch(3)
    expected = column(pipeline, seed=5)
    assert len({batch.tobytes() for batch in expected}) == len(expected)
    for options in VARIANTS:
        assert_equal(column(pipeline, seed=5, **options), expected)
    assert any((a != b).any() for a, b in zip(column(pipeline, seed=6), expected, strict=True))
    assert any((a != b).any() for a, b in zip(column(pipeline, seed=5, epoch=1), expected, strict=True))
    rows = floats().map(myops.Noise(), "x")
    alone = column(rows, seed=5)
    for rank in range(3):
        assert_equal(column(rows, seed=5, shard=(rank, 3)), alone[rank::3])
    # A fixed seed of its own.
    fixed = floats().map(myops.Noise(seed=1), "x")
    assert_equal(column(fixed, seed=5), column(fixed, seed=6))


def test_resume_at_every_batch(myops):
    pipeline = floats().shuffle(8).map([myops.Noise(), myops.Scale()], "x").batch(3)
    expected = column(pipeline, seed=5)
    with pipeline.iterate(seed=5) as iterator:
        for at in range(len(expected)):
            assert_equal(column(pipeline, state=iterator.state()), expected[at:])
            next(iterator)


def test_the_numbers_are_philox(myops):
    """Uniform draws are uniform: the fourth part of the rows that is kept, by chi²."""
    rows = hr.Numpy({"x": np.zeros((4000, 1), np.float32)}).map(myops.Noise(), "x")
    kept = sum(float(row["x"][0]) == 0 for row in rows)
    assert (kept - 1000) ** 2 / 1000 + (kept - 1000) ** 2 / 3000 < 15  # p = 1e-4


def test_a_graph_names_the_plugin_that_it_needs(myops, libraries, tmp_path):
    saved = tmp_path / "graph.hrg"
    pipeline = floats(2).map(myops.Scale(3.0), "x")
    hr.Range(3).map(myops.Range(), "value", output=["a", "b"]).save(saved)
    again = hr.load(saved)
    assert [int(row["b"]) for row in again] == [0, 1, 2]
    (step,) = json.loads(pipeline.to_json())["nodes"][1]["steps"]
    assert (step["kernel"], step["version"]) == ("myops.Scale", 2)
    code = f"""
import headrace as hr
try:
    hr.load({str(saved)!r})
except hr.GraphError as error:
    print(error)
assert "myops" not in open("/proc/self/maps").read()
hr.load_plugin({str(libraries["myops"])!r})
print([int(row["b"]) for row in hr.load({str(saved)!r})])
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert "the plugin myops is not loaded; call hr.load_plugin() with the path of its library first" in done.stdout
    assert done.stdout.endswith("[0, 1, 2]\n")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            3,
            "holds version 3 of myops.Range; this Headrace knows versions up to 1: load a newer version of the plugin myops",
        ),
    ],
)
def test_a_graph_of_another_version_of_a_plugin(myops, tmp_path, version, message):
    graph = json.loads(hr.Range(3).map(myops.Range(), "value", output=["a", "b"]).to_json())
    graph["nodes"][1]["steps"][0]["version"] = version
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    with pytest.raises(hr.GraphError, match=message):
        hr.load(tmp_path / "graph.json")


def test_loading_again_gives_the_same_module(myops, libraries, tmp_path):
    assert hr.load_plugin(str(libraries["myops"])) is myops
    (tmp_path / "link.so").symlink_to(libraries["myops"])
    assert hr.load_plugin(tmp_path / "link.so") is myops
    copy = tmp_path / "copy.so"
    copy.write_bytes(libraries["myops"].read_bytes())
    with pytest.raises(hr.UnsupportedError, match="calls itself myops, and the plugin of that name is loaded from"):
        hr.load_plugin(copy)
    assert repr(myops.Scale(1.0)) == "Scale(factor=1.0)"


def test_what_is_no_plugin(tmp_path):
    with pytest.raises(hr.NotFoundError, match="there is no plugin .*/none.so"):
        hr.load_plugin(tmp_path / "none.so")
    with pytest.raises(hr.UnsupportedError, match="no regular file"):
        hr.load_plugin(tmp_path)
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(hr.UnsupportedError, match=r"text\.so cannot be loaded: .*(too short|invalid ELF header)"):
        hr.load_plugin(tmp_path / "text.so")
    with pytest.raises(hr.GraphError, match="load_plugin: path is 3; it must be a path"):
        hr.load_plugin(3)


MISDECLARED = {
    "NO_QUERY": "is no plugin of Headrace: it does not export headrace_plugin_query()",
    "NO_ABI": "is no plugin of Headrace: it does not export headrace_plugin_abi",
    "REFUSES": "cannot be used here: needs a mill",
    "GIVES_NONE": r"is wrong: its headrace_plugin_query\(\) gives no plugin and no error",
    "RETURNS=99": r"cannot be used here: headrace_plugin_query\(\) of the library returned 99, not a headrace_result",
    "ABI=0x20000": "needs version 2.0 of the interface; this Headrace has version 1.1: .* or upgrade Headrace",
    "ABI=0x10007": "needs version 1.7 of the interface",
    "ABI=0x0": "needs version 0.0 of the interface",
    "PLUGIN_SIZE=4096": "gives a headrace_plugin of 4096 bytes; it has 40 or more in the interface",
    "PLUGIN_SIZE=sizeof(longer) -DLATER=1": "sets a field of a headrace_plugin that this Headrace does not know: upgrade",
    "RESERVED=1": "sets the reserved field of headrace_plugin to 1",
    "KERNEL_RESERVED=1": "sets the reserved field of misops.Pass to 1",
    "PLUGIN_SIZE=8": "gives a headrace_plugin of 8 bytes",
    "KERNEL_SIZE=4096": "gives a headrace_kernel of 4096 bytes",
    "ATTRIBUTE_SIZE=0": "gives a headrace_attribute of 0 bytes",
    "NAME=0": "gives no name",
    'NAME="My ops"': 'calls itself "My ops"; names have small letters',
    'NAME="class"': 'calls itself "class"',
    'NAME="vision"': "calls itself vision, which is the name of a module of Headrace's",
    "VERSION=0": "gives no version of its own",
    'KERNEL="pass"': 'names a kernel "pass"; names have letters and digits, begin with a large letter',
    'KERNEL="None"': 'names a kernel "None"; .*, and are no words of Python\'s',
    'KERNEL="True"': 'names a kernel "True"',
    "KERNEL_VERSION=0": "gives version 0 of misops.Pass",
    "SUMMARY=0": "gives no summary of misops.Pass",
    'SUMMARY="\\xff"': "gives a summary of misops.Pass that is not UTF-8",
    "INPUTS=0": "says that misops.Pass takes 0 to 1 columns",
    "INPUTS=2": "says that misops.Pass takes 2 to 1 columns",
    "OUTPUTS=0": "says that misops.Pass gives 0 columns",
    "TRAITS=1024": "gives traits of misops.Pass that this Headrace does not know: 1024",
    'ATTRIBUTE="seed"': 'names an attribute of misops.Pass "seed"',
    "TRAITS=9": "gives misops.Pass HEADRACE_POINTWISE, which is for kernels of one column without other traits",
    "FLAGS=1024": "gives flags of the attribute mode of misops.Pass that this Headrace does not know: 1024",
    "TYPE=HEADRACE_ATTRIBUTE_INT -DBOUND=.minimum=1": "sets minimum or maximum of the attribute mode of misops.Pass",
    "BOUND=.integer_minimum=1": "sets integer_minimum or integer_maximum of the attribute mode of misops.Pass",
    "TYPE=HEADRACE_ATTRIBUTE_INT -DBOUND=.integer_maximum=INT64_MAX": "gives the bound 9223372036854775807 of the",
    'ATTRIBUTE="super"': 'names an attribute of misops.Pass "super"',
    'ATTRIBUTE="lambda"': 'names an attribute of misops.Pass "lambda"',
    "TYPE=99": "gives type 99 of the attribute mode of misops.Pass",
    "DOC=0": "gives no doc of the attribute mode of misops.Pass",
    'DEFAULT="3"': "is wrong: the declaration of misops.Pass: .*mode",
    'DEFAULT="__import__(1)"': "is wrong: the declaration of misops.Pass",
    "APPLY=0": r"gives no apply\(\) of misops.Pass",
    "SECOND=&kernel": "is wrong: the declaration of misops.Pass occurs twice",
}


def test_misdeclared_plugins_are_named_and_leave_nothing(tmp_path):
    for number, (macro, message) in enumerate(MISDECLARED.items()):
        macros = f"-D{macro}".split(" -D")
        options = [macros[0], *(f"-D{each}" for each in macros[1:])]
        library = build("misdeclared_plugin.c", tmp_path / f"mis{number}.so", "-w", "-O0", *options)
        with pytest.raises(hr.UnsupportedError, match=rf"the plugin {library} {message}"):
            hr.load_plugin(library)
    right = hr.load_plugin(build("misdeclared_plugin.c", tmp_path / "right.so"))
    assert [int(row["value"]) for row in hr.Range(3).map(right.Pass(), "value")] == [0, 1, 2]


def test_a_plugin_of_a_later_version_that_needs_nothing_new(tmp_path):
    """Its structures are longer, by zeros."""
    longer = build("misdeclared_plugin.c", tmp_path / "longer.so", "-DPLUGIN_SIZE=sizeof(longer)", '-DNAME="longerops"')
    assert hr.load_plugin(longer).__all__ == ["Pass"]


def test_choices_of_any_text(tmp_path):
    options = ["-DCHOICES=choices", '-DNAME="quotedops"']
    quoted = hr.load_plugin(build("misdeclared_plugin.c", tmp_path / "quoted.so", *options))
    kernel = quoted.Pass(mode='it\'s "slow"')
    assert [int(row["value"]) for row in hr.Range(2).map(kernel, "value")] == [0, 1]


def test_a_declaration_that_makes_no_class_names_its_file(tmp_path, monkeypatch):
    library = build("misdeclared_plugin.c", tmp_path / "odd.so", '-DNAME="oddops"')
    monkeypatch.setattr("headrace._operators.late_classes.class_text.kernel", lambda op: "class")
    with pytest.raises(hr.UnsupportedError, match=f"the plugin {library} declares what makes no class in Python"):
        hr.load_plugin(library)


def test_a_lack_of_memory_is_not_the_plugins_fault(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise hr.ResourceError("the machine has no more memory")

    library = build("misdeclared_plugin.c", tmp_path / "scarce.so", '-DNAME="scarceops"')
    with monkeypatch.context() as scarce:
        scarce.setattr("headrace._operators.late_classes.class_text.kernel", refuse)
        with pytest.raises(hr.ResourceError, match="no more memory"):
            hr.load_plugin(library)
    assert hr.load_plugin(library).__all__ == ["Pass"]


def test_a_library_that_has_changed_is_not_run_as_the_old_one(tmp_path):
    for name, macro in (("changedops", 'SUMMARY="Right."'), ("refusedops", "REFUSES")):
        library, later = tmp_path / f"{name}.so", tmp_path / "later.so"
        build("misdeclared_plugin.c", library, f"-D{macro}", f'-DNAME="{name}"')
        refused = macro == "REFUSES"
        with pytest.raises(hr.UnsupportedError, match="needs a mill") if refused else contextlib.nullcontext():
            hr.load_plugin(library)
        loaded = library.rename(tmp_path / "loaded.so")
        build("misdeclared_plugin.c", later, f'-DNAME="{name}"').replace(library)
        with pytest.raises(
            hr.UnsupportedError, match=f"{library} has changed since it was loaded; start a new process"
        ):
            hr.load_plugin(library)
        # Other tests of this process send the plugins that it has loaded.
        loaded.replace(library)


THREAD = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "headrace_plugin.h"
static void* Write(void* given) {
  while (write(atoi(getenv("WRITES")), "x", 1) == 1) continue;
  return given;
}
const uint32_t headrace_plugin_abi = HEADRACE_PLUGIN_ABI;
int32_t headrace_plugin_query(uint32_t host_abi, const headrace_host* host, headrace_call* call,
                              const headrace_plugin** plugin) {
  pthread_t thread;
  (void)host_abi, (void)plugin;
  if (pthread_create(&thread, NULL, Write, NULL) != 0) return HEADRACE_RESOURCE_ERROR;
  return host->fail(call, HEADRACE_UNSUPPORTED_ERROR, "began something");
}
"""


def test_a_refused_plugin_is_not_unloaded_beneath_its_threads(tmp_path):
    (tmp_path / "thread.c").write_text(THREAD)
    library = tmp_path / "thread.so"
    command = ["gcc", "-shared", "-fPIC", "-pthread", f"-I{hr.plugin_include()}", tmp_path / "thread.c", "-o", library]
    subprocess.run(command, check=True, timeout=60)
    code = f"""
import os
import headrace as hr
reads, writes = os.pipe()
os.environ["WRITES"] = str(writes)
try:
    hr.load_plugin({str(library)!r})
except hr.UnsupportedError as error:
    print(error)
left = 1 << 18  # more than a pipe holds: its thread goes on
while left > 0:
    left -= len(os.read(reads, 1 << 16))
print("runs")
os._exit(0 if not __import__("sys").stdout.flush() else 1)
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert "cannot be used here: began something" in done.stdout and "runs" in done.stdout


RULE = r".* \(a fault of the plugin badops, not of the pipeline\)"
FAULTS = {
    "throws": (hr.FunctionError, r"apply\(\) of badops.Bad threw std::out_of_range: row"),
    "throws int": (hr.FunctionError, r"apply\(\) of badops.Bad threw int"),
    "no memory": (hr.ResourceError, r"apply\(\) of badops.Bad found no more memory"),
    "returns 99": (hr.FunctionError, r"apply\(\) of badops.Bad returned 99, not a headrace_result" + RULE),
    "silent": (hr.DataError, r"apply\(\) of badops.Bad failed and did not say why"),
    "data": (hr.DataError, "cannot read it"),
    "not found": (hr.NotFoundError, "misses its model"),
    "graph": (hr.GraphError, "cannot work so"),
    "resource": (hr.ResourceError, "needs more"),
    "unsupported": (hr.UnsupportedError, "is not for this machine"),
    "function": (hr.FunctionError, "gave up"),
    "no output": (hr.FunctionError, r"apply\(\) of badops.Bad gives no output 0 and no error" + RULE),
    "draws": (hr.FunctionError, "its kernel does not declare HEADRACE_RANDOM" + RULE),
    "other dtype": (hr.FunctionError, r"gives float64 \(3,\) for output 0, and its infer\(\) says int64 \(3,\)" + RULE),
    "other shape": (hr.FunctionError, r"gives int64 \(4,\) for output 0, and its infer\(\) says int64 \(3,\)" + RULE),
    "negative": (hr.FunctionError, "gives an axis of length -1" + RULE),
    "axes": (hr.FunctionError, "gives 33 axes; 0 to 32 are possible" + RULE),
    "open": (hr.FunctionError, "gives a shape of more elements than any memory holds" + RULE),
    "output 5": (hr.FunctionError, "gives output 5; it declares 1, counted from 0" + RULE),
    "twice": (hr.FunctionError, "gives output 0 twice" + RULE),
    "create throws": (hr.ResourceError, r"create\(\) of badops.Bad found no more memory"),
    "infer throws": (hr.FunctionError, r"infer\(\) of badops.Bad threw std::runtime_error: no types today"),
    "infer allocates": (
        hr.FunctionError,
        r"calls allocate\(\), which is for apply\(\) and read\(\) alone, and for" + RULE,
    ),
    "infer dtype": (hr.FunctionError, r"infer\(\) of badops.Bad gives dtype 77" + RULE),
    "infer axes": (hr.FunctionError, r"infer\(\) of badops.Bad gives 33 axes" + RULE),
    "infer reserved": (hr.FunctionError, r"infer\(\) of badops.Bad sets the reserved field of a type to 1" + RULE),
    "infer changes": (
        hr.FunctionError,
        r"infer\(\) of badops.Bad said float64 \(3,\) before the run and int64 \(3,\) for this row" + RULE,
    ),
    "not text": (hr.DataError, r"cannot read \\xff\\xfe café"),
    "throws not text": (hr.FunctionError, r"threw std::out_of_range: row \\xff"),
    "long text": (hr.DataError, "x{4095}(?![xé])"),
    "fails and goes on": (hr.FunctionError, r"calls fail\(\) and returns HEADRACE_OK" + RULE),
    "no place for marks": (hr.FunctionError, r"gives fillers\(\) no place for marks or their number" + RULE),
    "empty axis": (hr.FunctionError, "gives a shape of more elements than any memory holds" + RULE),
    "infer length": (hr.FunctionError, r"infer\(\) of badops.Bad gives shape \(-2,\)" + RULE),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_plugin_that_breaks_a_rule_is_named(badops, fault):
    kind, message = FAULTS[fault]
    pipeline = hr.Range(20).map(badops.Bad(fault), "value")
    with pytest.raises(kind, match=message) as caught:
        list(pipeline)
    assert type(caught.value) is kind
    assert "badops.Bad" in str(caught.value) and "test_plugins.py" in str(caught.value)


def test_what_a_policy_leaves_out(badops):
    """Rows that fail by their own data, not a plugin that breaks its rules."""
    for fault, message in (("data", "cannot read it"), ("throws", "std::out_of_range: row"), ("function", "gave up")):
        with pytest.raises(hr.Error, match=f"(?s)left out.*{message}|{message}.*left out"):
            list(hr.Range(3).map(badops.Bad(fault), "value").on_error("skip", max_errors=1))
    with pytest.raises(hr.FunctionError, match="gives no output") as caught:
        list(hr.Range(3).map(badops.Bad("no output"), "value").on_error("skip"))
    assert "left out" not in str(caught.value)


DRAWN = {
    "no place": "gives no place for random numbers",
    "no identity": r"gives identity\(\) no place",
    "short identity": r"gives identity\(\) a structure of 8 bytes; set its struct_size by sizeof",
    "beyond strings": "gives string 0 from byte 0 to 4 of 3",
}


def test_a_plugin_that_gives_wrong_places_is_named(badops):
    for fault, message in DRAWN.items():
        with pytest.raises(hr.FunctionError, match=message + RULE):
            list(hr.Range(2).map(badops.Draws(fault), "value"))
    with pytest.raises(hr.FunctionError, match=r"gives int64 \(4,\) for a batch of 3 rows" + RULE):
        list(hr.Range(3).batch(3).map(badops.Rows(), "value"))


def test_the_header_is_c_and_cpp_and_needs_nothing(tmp_path):
    header = pathlib.Path(hr.plugin_include()) / "headrace_plugin.h"
    included = {line.split()[1] for line in header.read_text().splitlines() if line.startswith("#include")}
    # The last one for those who ask for it.
    assert included == {"<stddef.h>", "<stdint.h>", "<dlpack/dlpack.h>"}
    versions = "#if HEADRACE_PLUGIN_ABI < 0x10000\n#error\n#endif\n"
    numbers = subprocess.run(["gcc", "-E", "-include", header, "-"], input=versions, text=True, capture_output=True)
    assert numbers.returncode == 0, numbers.stderr
    for command in (["gcc", "-std=c99", "-pedantic", "-xc"], ["g++", "-std=c++11", "-xc++"]):
        subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(header)], check=True, timeout=60)


FROZEN = SOURCES / "headrace_plugin_1_0.h"


def layout_of(header: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Places and sizes of every field, and the numbers, that version 1.0 has, as a header has them."""
    text = re.sub(r"/\*.*?\*/", "", FROZEN.read_text(), flags=re.DOTALL)
    lines = []
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", text, flags=re.DOTALL):
        for declared in body.split(";"):
            field = re.search(r"\(\*(\w+)\)|(\w+)(?:\[\w+\])?\s*$", declared)
            if field:
                at = f"{name}, {field[1] or field[2]}"
                lines.append(
                    f'printf("{at} %zu %zu\\n", offsetof({at}), sizeof((({name}*)0)->{field[1] or field[2]}));'
                )
    lines += [
        f'printf("{each} %lld\\n", (long long){each});'
        for each in sorted(set(re.findall(r"HEADRACE_[A-Z0-9_]+(?= = \d)", text)))
    ]
    assert len(lines) > 100
    source, program = folder / "layout.c", folder / "layout"
    source.write_text(f'#include <stdio.h>\n#include "{header}"\nint main(void) {{\n' + "\n".join(lines) + "\n}\n")
    subprocess.run(["gcc", "-std=c99", source, "-o", program], check=True, timeout=60)
    printed = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60).stdout
    return printed.splitlines()


def test_what_version_1_0_has_stays(tmp_path):
    """The copy of the header of version 1.0 is never changed; a plugin that is built with it runs."""
    assert layout_of(pathlib.Path(hr.plugin_include()) / "headrace_plugin.h", tmp_path) == layout_of(FROZEN, tmp_path)
    shutil.copyfile(FROZEN, tmp_path / "headrace_plugin.h")
    library = tmp_path / "old.so"
    command = ["gcc", "-shared", "-fPIC", f"-I{tmp_path}", SOURCES / "sample_plugin.c", "-o", library, "-lm"]
    subprocess.run(command, check=True, timeout=60)
    done = run_python(f"""
import headrace as hr
old = hr.load_plugin({str(library)!r})
assert [int(row["b"]) for row in hr.Range(3).map(old.Range(), "value", output=["a", "b"])] == [0, 1, 2]
assert len(list(hr.Text({str(FROZEN)!r}).map(old.Words(), "line", output="words"))) > 100
assert len(list(hr.Range(9).map(old.Settings(True, size=4), "value"))) == 9
""")
    assert done.returncode == 0, done.stderr


DLPACK = """
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#include <stdint.h>
typedef enum { kDLCPU = 1 } DLDeviceType;
typedef struct { DLDeviceType device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
  void* data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape, *strides; uint64_t byte_offset;
} DLTensor;
#endif
"""
TO_DLPACK = """
int main(void) {
  static const int64_t shape[] = {2, 3}, strides[] = {3, 1};
  float data[6];
  headrace_tensor tensor = {sizeof(tensor), HEADRACE_FLOAT32, 2, 1, 0, 0, data, shape, strides, sizeof(data), NULL};
  DLTensor dl;
  if (!headrace_to_dlpack(&tensor, &dl) || dl.data != data || dl.ndim != 2 || dl.shape[1] != 3) return 1;
  if (dl.strides[0] != 3 || dl.dtype.code != 2 || dl.dtype.bits != 32 || dl.dtype.lanes != 1) return 2;
  if (dl.device.device_type != kDLCPU || dl.byte_offset != 0) return 3;
  tensor.dtype = HEADRACE_BOOL;
  if (!headrace_to_dlpack(&tensor, &dl) || dl.dtype.code != 6 || dl.dtype.bits != 8) return 4;
  tensor.dtype = HEADRACE_BFLOAT16;
  if (!headrace_to_dlpack(&tensor, &dl) || dl.dtype.code != 4 || dl.dtype.bits != 16) return 5;
  tensor.dtype = HEADRACE_UINT64;
  if (!headrace_to_dlpack(&tensor, &dl) || dl.dtype.code != 1 || dl.dtype.bits != 64) return 6;
  tensor.dtype = HEADRACE_STRING;
  return headrace_to_dlpack(&tensor, &dl);
}
"""


@pytest.mark.parametrize("language", ["gcc", "g++"])
def test_tensors_become_those_of_dlpack_in_any_order_of_headers(tmp_path, language):
    (tmp_path / "dlpack").mkdir()
    (tmp_path / "dlpack/dlpack.h").write_text(DLPACK)
    headers = ['#include "headrace_plugin.h"', '#include "dlpack/dlpack.h"']
    for number, order in enumerate((headers, headers[::-1])):
        source, program = tmp_path / f"order{number}.{'c' if language == 'gcc' else 'cc'}", tmp_path / f"order{number}"
        source.write_text("\n".join(["#define HEADRACE_WITH_DLPACK", "#include <stddef.h>", *order]) + TO_DLPACK)
        command = [language, "-Wall", "-Wextra", "-Werror", f"-I{hr.plugin_include()}", f"-I{tmp_path}", source]
        subprocess.run([*command, "-o", program], check=True, timeout=60)
        assert subprocess.run([program], timeout=60).returncode == 0


def test_plugins_are_loaded_while_pipelines_run(libraries):
    code = f"""
import threading
import headrace as hr
modules = []
threads = [threading.Thread(target=lambda: modules.append(hr.load_plugin({str(libraries["myops"])!r}))) for _ in range(8)]
for thread in threads:
    thread.start()
for _ in range(20):
    assert sum(int(row["value"]) for row in hr.Range(20)) == 190
for thread in threads:
    thread.join()
assert len(modules) == 8 and all(module is modules[0] for module in modules)
assert [int(r["a"]) for r in hr.Range(2).map(modules[0].Range(), "value", output=["a", "b"])] == [0, 1]
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr


VIGNETTE = ROOT / "examples/plugin/vignette.cc"


def compiled(source: pathlib.Path, library: pathlib.Path, *options: str) -> pathlib.Path:
    command = [
        "g++",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        f"-I{hr.plugin_include()}",
        *options,
    ]
    subprocess.run([*command, str(source), "-o", str(library)], check=True, timeout=120)
    return library


@pytest.fixture(scope="session")
def frames_library(tmp_path_factory):
    # A plugin stays loaded, and the examples of the documentation have one of the name "frames" in the same process.
    folder = tmp_path_factory.mktemp("frames")
    source = folder / VIGNETTE.name
    source.write_text(VIGNETTE.read_text().replace('HEADRACE_PLUGIN("frames"', 'HEADRACE_PLUGIN("tested_frames"'))
    return compiled(source, folder / "libframes.so")


def test_the_example_in_cpp(frames_library):
    frames = hr.load_plugin(frames_library)
    assert str(inspect.signature(frames.Vignette)) == "(strength: 'float | Parameter' = 0.5) -> 'None'"
    image = np.full((3, 3, 2), 200, np.uint8)
    expected = np.array([[0, 100, 0], [100, 200, 100], [0, 100, 0]], np.uint8)
    np.testing.assert_array_equal(frames.Vignette(1.0)(image), np.dstack([expected] * 2))
    (batch,) = hr.Numpy({"x": np.stack([image] * 2)}).map(frames.Vignette(1.0), "x").batch(2)
    np.testing.assert_array_equal(batch["x"][1, ..., 0], expected)
    with pytest.raises(hr.GraphError, match=r"needs uint8 \(H, W, C\)"):
        floats().map(frames.Vignette(), "x").schema  # noqa: B018
    with pytest.raises(hr.GraphError, match="strength is 7.*; it must be at most 1"):
        list(hr.Numpy({"x": image[None]}).map(frames.Vignette(7.0), "x"))


def test_a_plugin_in_cpp_exports_its_entry_alone(frames_library):
    listed = subprocess.run(["nm", "-D", "--defined-only", frames_library], check=True, capture_output=True, text=True)
    strong = [line.split()[1:] for line in listed.stdout.splitlines() if line.split()[1] not in ("W", "V")]
    assert strong == [["R", "headrace_plugin_abi"], ["T", "headrace_plugin_query"]]


CLASSES = """
#include "headrace_plugin.hpp"

using namespace headrace_plugin_cc;

struct Draws {
  // One variable of all plugins, were it not hidden.
  inline static const std::string plugin = NAME;
  static Declaration Declared() {
    Declaration declaration("Draws", 1, "Random numbers and texts.");
    declaration.Random().Outputs(2);
    declaration.Ints("size", "A pair.").Default("(3, 4)").Lengths({2}).Broadcast().Minimum(1);
    declaration.Text("mode", "How.").Default("'up'").Choices({"up", "down"});
    declaration.Texts("names", "Some.").Default("None").Nullable();
    declaration.DType("dtype", "A type.").Default("'int8'");
    declaration.Bool("fails", "Whether to throw.").Default("False");
    return declaration;
  }
  static std::vector<Type> Infer(const Attributes&, const std::vector<Type>&) {
    return {{HEADRACE_FLOAT64, Shape{3}}, {HEADRACE_STRING, Shape{-1}}};
  }
  explicit Draws(const Attributes& given) : fails(given.Bool("fails")) {
    for (int64_t each : given.Ints("size")) texts.push_back(std::to_string(each));
    texts.push_back(given.Text("mode"));
    if (!given.IsNone("names")) for (const std::string& each : given.Texts("names")) texts.push_back(each);
    texts.push_back(std::to_string(given.DType("dtype")));
    texts.push_back(plugin);
  }
  void Apply(Row& row) const {
    if (fails) throw Error(HEADRACE_DATA_ERROR, "fails");
    double* numbers = row.Allocate<double>(0, {3});
    numbers[0] = row.Uniform();
    numbers[1] = row.Normal();
    numbers[2] = static_cast<double>(row.Below(6) + row.identity().key % 2);
    row.GiveStrings(1, HEADRACE_STRING, {static_cast<int64_t>(texts.size())}, texts);
  }
  bool fails;
  std::vector<std::string> texts;
};

HEADRACE_PLUGIN(NAME, "1", "", Draws)
"""


def test_classes_of_one_name_in_two_plugins(tmp_path):
    (tmp_path / "draws.cc").write_text(CLASSES)
    one, two = (
        hr.load_plugin(compiled(tmp_path / "draws.cc", tmp_path / f"{name}.so", f'-DNAME="{name}"'))
        for name in ("drawsone", "drawstwo")
    )
    assert (one.__name__, two.__name__) == ("headrace.plugins.drawsone", "headrace.plugins.drawstwo")
    rows = list(hr.Range(50).map(one.Draws(size=7, mode="down", names=["a", "bc"], seed=3), "value", output=["x", "t"]))
    assert list(rows[0]["t"]) == ["7", "7", "down", "a", "bc", "2", "drawsone"]
    drawn = np.array([row["x"] for row in rows])
    assert (0 <= drawn[:, 0]).all() and (drawn[:, 0] < 1).all() and len(np.unique(drawn[:, 1])) == 50
    again = list(hr.Range(50).map(two.Draws(seed=3, name="n"), "value", output=["x", "t"]).iterate(workers=1, window=1))
    assert list(again[0]["t"]) == ["3", "4", "up", "2", "drawstwo"]
    with pytest.raises(hr.DataError, match="fails"):
        list(hr.Range(2).map(one.Draws(fails=True), "value", output=["x", "t"]))


# Each kernel shows one thing.
KINDS = r"""
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <limits>

#include "headrace_plugin.hpp"

namespace kernels {

using namespace headrace_plugin_cc;

std::atomic<int64_t> inferences = 0, applications = 0;

// Gives the type that it takes.
struct Same {
  static std::vector<Type> Infer(const Attributes&, const std::vector<Type>& inputs) { return inputs; }
};

// How often infer() was called.
struct Counts : Same {
  static Declaration Declared() {
    Declaration declaration("Counts", 1, "Counts.");
    declaration.Int("size", "Any.").Default("1").Maximum(5).Minimum(-3.0);
    return declaration;
  }
  static std::vector<Type> Infer(const Attributes&, const std::vector<Type>& inputs) { return ++inferences, inputs; }
  explicit Counts(const Attributes&) {}
  void Apply(Row& row) const { *row.Allocate<int64_t>(0, row.shape(0)) = inferences; }
};

// The address of its own result.
struct Places : Same {
  static Declaration Declared() { return Declaration("Places", 1, "Places."); }
  explicit Places(const Attributes&) {}
  void Apply(Row& row) const {
    int64_t* to = row.Allocate<int64_t>(0, row.shape(0));
    *to = reinterpret_cast<int64_t>(to);
  }
};

// Adds 1, and says by a negative number in which call.
struct Adds : Same {
  static Declaration Declared() {
    Declaration declaration("Adds", 1, "Adds.");
    declaration.Pointwise();
    declaration.Bool("calls", "Whether to give the number of calls.").Default("False");
    return declaration;
  }
  explicit Adds(const Attributes& given) : calls(given.Bool("calls")) {}
  void Apply(Row& row) const {
    const int64_t call = ++applications, elements = row.elements(0);
    int64_t* to = row.Allocate<int64_t>(0, row.shape(0));
    for (int64_t i = 0; i < elements; ++i) to[i] = calls ? call : row.data<int64_t>(0)[i] + 1;
  }
  bool calls;
};

// Bytes that are neither 0 nor 1.
struct Odd {
  static Declaration Declared() { return Declaration("Odd", 1, "Whether numbers are odd or large."); }
  static std::vector<Type> Infer(const Attributes&, const std::vector<Type>& inputs) {
    return {{HEADRACE_BOOL, inputs[0].shape}};
  }
  explicit Odd(const Attributes&) {}
  void Apply(Row& row) const {
    auto* to = static_cast<uint8_t*>(row.Allocate(0, HEADRACE_BOOL, row.shape(0)));
    for (int64_t i = 0; i < row.elements(0); ++i) to[i] = static_cast<uint8_t>(row.data<int64_t>(0)[i] & 6);
  }
};

// Everything that a tensor says of itself; of texts the strings.
struct Says {
  static Declaration Declared() { return Declaration("Says", 1, "Says what it is given."); }
  static std::vector<Type> Infer(const Attributes&, const std::vector<Type>&) { return {{HEADRACE_STRING, Shape{}}}; }
  explicit Says(const Attributes&) {}
  void Apply(Row& row) const {
    const headrace_tensor& given = row.input(0);
    std::string text = std::to_string(given.dtype) + ":" + std::to_string(given.device_type) + ":";
    for (int32_t axis = 0; axis < given.axes; ++axis) {
      text += std::to_string(given.shape[axis]) + "/" + std::to_string(given.strides[axis]) + " ";
    }
    text += ":" + std::to_string(given.bytes) + ":" + std::to_string(reinterpret_cast<uintptr_t>(given.data) % 8);
    if (given.offsets != nullptr) {
      for (int64_t k = 0; k < row.elements(0); ++k) text += " " + row.string(0, k);
    }
    row.GiveStrings(0, HEADRACE_STRING, {}, {text + (row.stopped() ? " stopped" : "")});
  }
};

// Waits in infer() until a byte is in the file, for 20 seconds.
struct Waits : Same {
  static Declaration Declared() {
    Declaration declaration("Waits", 1, "Waits.");
    declaration.Text("file", "A pipe.");
    return declaration;
  }
  static std::vector<Type> Infer(const Attributes& given, const std::vector<Type>& inputs) {
    pollfd each = {open(given.Text("file").c_str(), O_RDONLY | O_NONBLOCK), POLLIN, 0};
    const int ready = poll(&each, 1, 20000);
    close(each.fd);
    if (ready != 1) throw Error(HEADRACE_GRAPH_ERROR, "waited in vain");
    return inputs;
  }
  explicit Waits(const Attributes&) {}
  void Apply(Row& row) const { row.GiveInput(0, 0); }
};

// Reads its attribute in a wrong way.
struct Misreads : Same {
  static Declaration Declared() {
    Declaration declaration("Misreads", 1, "Misreads.");
    declaration.Float("size", "Any.").Default("None").Nullable();
    declaration.Bool("as_integer", "How.").Default("False");
    return declaration;
  }
  explicit Misreads(const Attributes& given) { given.Bool("as_integer") ? void(given.Int("size")) : void(given.Float("size")); }
  void Apply(Row& row) const { row.GiveInput(0, 0); }
};

HEADRACE_PLUGIN("kinds", "1", "", Counts, Places, Adds, Odd, Says, Waits, Misreads)

}  // namespace kernels
"""


def test_inference_is_remembered(kinds):
    """Before rows once for each attribute and type, and once for the type of the rows."""
    pipeline = hr.Range(500).map(kinds.Counts(), "value").batch(10)
    for _ in range(3):
        assert pipeline.schema["value"].dtype == "int64"
    assert max(int(batch["value"].max()) for batch in pipeline) <= 20  # once for each worker at most


def test_inference_does_not_hold_up_other_threads(kinds, tmp_path):
    """It waits for what a thread writes that needs Python's lock to go on, once the pipe is opened for reading."""
    for number, use in enumerate((lambda dataset: dataset.schema, list)):
        pipe = tmp_path / f"pipe{number}"
        os.mkfifo(pipe)
        opened = []

        def write(pipe=pipe, opened=opened):
            opened.append(os.open(pipe, os.O_WRONLY))
            os.write(opened[0], b"x")

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        use(hr.Range(2).map(kinds.Waits(str(pipe)), "value"))
        writer.join()
        os.close(opened[0])


def test_a_pointwise_kernel_takes_many_rows_a_call(kinds):
    assert [int(row["value"]) for row in hr.Range(300).map(kinds.Adds(), "value")] == list(range(1, 301))
    # In groups: how many rows the engine takes together by itself depends on what it measures.
    numbered = hr.Range(300).map(kinds.Adds(calls=True), "value").iterate(group=50)
    calls = {int(value) for row in numbered for value in np.ravel(row["value"])}
    assert len(calls) <= 6
    pairs = np.arange(60).reshape(20, 3)
    assert_equal(column(hr.Numpy({"x": pairs}).map(kinds.Adds(), "x").batch(4)), list((pairs + 1).reshape(5, 4, 3)))


def test_bools_are_0_or_1(kinds):
    rows = [row["value"] for row in hr.Range(8).map(kinds.Odd(), "value")]
    assert [int(np.asarray(row).view(np.uint8)) for row in rows] == [0, 0, 1, 1, 1, 1, 1, 1]


def test_what_a_tensor_says(kinds, tmp_path):
    def said(array):
        (row,) = hr.Numpy({"x": array[None]}).map(kinds.Says(), "x")
        return row["x"]

    assert said(np.zeros((2, 3), np.float16)).startswith("10:1:2/3 3/1 :12:")
    assert said(np.zeros((2, 0, 3), np.float32)).startswith("12:1:2/3 0/3 3/1 :0:")
    assert said(np.zeros((), np.uint16)).startswith("7:1::2:")
    # Aligned, though the array is not.
    odd = np.frombuffer(b"x" + np.arange(6).tobytes(), np.uint8)[1:].view(np.int64)
    assert odd.ctypes.data % 8 == 1
    (row,) = hr.Numpy({"x": odd.reshape(1, 6)}).map(kinds.Says(), "x")
    assert row["x"] == "5:1:6/1 :48:0"
    (tmp_path / "a.txt").write_text("ä b")
    (row,) = hr.Text(str(tmp_path / "a.txt")).map(kinds.Says(), "line")
    assert row["line"].startswith("15:1::4:") and row["line"].endswith(" ä b")


def test_a_kernel_in_cpp_that_misreads_its_attributes(kinds):
    with pytest.raises(hr.FunctionError, match="asks for an attribute as another type than it declares: size"):
        list(hr.Range(1).map(kinds.Misreads(1.0, as_integer=True), "value"))
    with pytest.raises(hr.FunctionError, match="asks for the value of an attribute that is None: size"):
        list(hr.Range(1).map(kinds.Misreads(), "value"))
    with pytest.raises(hr.GraphError, match="size is 6; it must be at most 5"):
        hr.Range(1).map(kinds.Counts(6), "value").schema  # noqa: B018


ONE_KERNEL = """
#include "headrace_plugin.hpp"
using namespace headrace_plugin_cc;
struct One {
  static Declaration Declared() { BODY }
  static std::vector<Type> Infer(const Attributes&, const std::vector<Type>& inputs) { return inputs; }
  explicit One(const Attributes&) {}
  void Apply(Row& row) const { row.GiveInput(0, 0); }
};
HEADRACE_PLUGIN("oneops", "1", "", One)
"""


def test_a_declaration_is_not_copied(tmp_path):
    """A copy would point into the temporary one."""
    (tmp_path / "one.cc").write_text(ONE_KERNEL)
    body = '-DBODY=return Declaration("One", 1, "One.").Float("x", "X.").Default("1.0");'
    command = ["g++", "-fsyntax-only", f"-I{hr.plugin_include()}", body, tmp_path / "one.cc"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "deleted function" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('Declaration one("One", 1, "One."); one.Default("1"); return one;', "of an attribute before it has one"),
        ('Declaration one("One", 1, "One."); one.Int("x", "X.").Minimum(0.5); return one;', "bounds whole numbers by"),
        ('throw std::runtime_error("needs a mill");', "needs a mill"),
        ("throw 3;", "threw what is no std::exception"),
    ],
)
def test_an_exception_of_a_declaration_refuses_the_plugin(tmp_path, body, message):
    (tmp_path / "one.cc").write_text(ONE_KERNEL)
    library = compiled(tmp_path / "one.cc", tmp_path / "one.so", f"-DBODY={body}")
    with pytest.raises(hr.UnsupportedError, match=f"one.so cannot be used here: .*{message}"):
        hr.load_plugin(library)


def test_kernels_reach_worker_processes(myops):
    half = myops.Scale(0.5)

    def halved(row):
        assert myops.Scale(2.0)(np.ones(1, np.float32)) == [2]
        return half(row)

    pipeline = floats(6).map(halved, "x", types={"x": ("float32", (3,))}, processes=1)
    assert_equal(column(pipeline), list(np.arange(18, dtype=np.float32).reshape(6, 3) / 2))


def test_a_pickled_kernel_names_its_plugin(myops):
    code = f"import pickle\nimport headrace\npickle.loads({pickle.dumps(myops.Scale(3.0))!r})"
    done = run_python(code)
    assert "the plugin myops is not loaded; call hr.load_plugin() with the path of its library first" in done.stderr
    assert "UnsupportedError" in done.stderr


@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
def test_the_example_builds_with_cmake(tmp_path):
    include = f"-DHEADRACE_INCLUDE={hr.plugin_include()}"
    for command in (
        ["cmake", "-S", str(VIGNETTE.parent), "-B", str(tmp_path), include],
        ["cmake", "--build", str(tmp_path)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "libframes.so").exists() and (tmp_path / "libgauge.so").exists()


# ---- Sources and formats ----


@pytest.fixture(scope="session")
def reading_library(tmp_path_factory):
    return compiled(SOURCES / "reading_plugin.cc", tmp_path_factory.mktemp("reading") / "libreadops.so")


@pytest.fixture(scope="session")
def readops(reading_library):
    return hr.load_plugin(reading_library)


@pytest.fixture
def frames(tmp_path):
    """Four files of frames, and the records that they hold."""
    records = [[b"%d-%d%s" % (file, i, b"x" * (i * i % 23)) for i in range(n)] for file, n in enumerate((40, 0, 1, 60))]
    for file, each in enumerate(records):
        framed = b"".join(b"FRAM" + len(record).to_bytes(4, "little") + record for record in each)
        (tmp_path / f"{file}.frames").write_bytes(framed)
    return str(tmp_path / "*.frames"), [record for each in records for record in each]


def test_a_source_is_a_class_like_those_of_headrace(readops, reading_library, capsys):
    assert issubclass(readops.Squares, hr.Dataset) and issubclass(readops.Frames, hr.Dataset)
    assert readops.__all__ == ["Frames", "Squares", "Sums"]
    assert str(inspect.signature(readops.Squares)) == (
        "(rows: 'int', real_rows: 'int | None' = None, fault: 'str' = '', log: 'str' = '', "
        "shuffle: 'bool' = False, *, seed: 'int | None' = None, name: 'str | None' = None) -> 'None'"
    )
    documented = inspect.cleandoc(readops.Squares.__doc__)
    assert documented.startswith("Gives squares of whole numbers.\n\nColumns: `number` (int64), `square`")
    assert "rows: How many (at least 0)." in documented and documented.endswith("Example:\n    readops.Squares(10)")
    assert str(inspect.signature(readops.Frames)) == (
        "(patterns: 'str | PathLike[str] | Sequence[str | PathLike[str]]', fault: 'str' = '', shuffle: 'bool' = False, "
        "window: 'int' = 16384, interleave: 'int | None' = None, "
        "sharding: \"Literal['rows', 'splits', 'contiguous'] | None\" = None, split_bytes: 'int | None' = None, *, "
        "seed: 'int | None' = None, name: 'str | None' = None) -> 'None'"
    )
    assert "window: With `shuffle`: rows are then mixed" in " ".join(readops.Frames.__doc__.split())
    assert "split_bytes" not in inspect.signature(readops.Sums).parameters
    assert main(["ops", "--plugin", str(reading_library)]) == 0
    assert "operators of the plugin readops:\n  readops.Frames" in capsys.readouterr().out
    assert main(["ops", "--plugin", str(reading_library), "readops.Squares"]) == 0
    assert capsys.readouterr().out.startswith("readops.Squares (version 3)\n\nreadops.Squares(rows, real_rows=None, ")
    with pytest.raises(hr.GraphError, match="rows is -1; it must be at least 0"):
        readops.Squares(-1).schema  # noqa: B018


def numbers(dataset, **options):
    return [int(row["number"]) for row in dataset.iterate(**options)]


def test_a_source_has_random_access(readops):
    squares = readops.Squares(100)
    assert len(squares) == 100
    assert {name: (str(c.dtype), tuple(c.shape)) for name, c in squares.schema.items()} == {
        "number": ("int64", ()),
        "square": ("float32", (1,)),
        "text": ("string", ()),
    }
    rows = list(squares)
    assert [(int(row["number"]), float(row["square"][0]), row["text"]) for row in rows] == [
        (i, i * i, "x" * (i % 5)) for i in range(100)
    ]
    shuffled = readops.Squares(100, shuffle=True, seed=3)
    assert numbers(shuffled) != numbers(shuffled, epoch=1)
    assert sorted(numbers(shuffled)) == list(range(100))
    for options in VARIANTS:
        assert numbers(shuffled, **options) == numbers(shuffled)
    assert sorted(sum((numbers(shuffled, shard=(rank, 3)) for rank in range(3)), [])) == list(range(100))
    (train, test) = squares.split([0.8, 0.2])
    assert sorted(numbers(train) + numbers(test)) == list(range(100)) and len(train) == 80


def test_a_source_goes_on_from_every_step(readops):
    pipeline = readops.Squares(40, shuffle=True).batch(7)
    expected = column(pipeline, "number", seed=5)
    with pipeline.iterate(seed=5) as iterator:
        for at in range(len(expected)):
            assert_equal(column(pipeline, "number", state=iterator.state()), expected[at:])
            next(iterator)
        state = iterator.state()
    # The rows are others now.
    with pytest.raises(hr.StateError, match=r"readops\.Squares"):
        list(readops.Squares(41, shuffle=True).batch(7).iterate(state=state))


def test_a_state_reads_no_row_before_it(readops, tmp_path):
    log = tmp_path / "log"
    # Rows travel alone, because one message holds rows of two batches, and is read again for the second.
    pipeline = readops.Squares(40, log=str(log)).batch(5).options(disabled_passes=["group_rows"])
    state = state_after(pipeline, 4)
    log.unlink()
    assert len(list(pipeline.iterate(state=state))) == 4
    assert sorted(set(log.read_bytes())) == list(range(20, 40))


COLUMN_FAULTS = {
    "no column": r"columns\(\) of readops.Squares gives no column and no error",
    "columns throws": "no columns today",
    "column twice": r"columns\(\) of readops.Squares gives column number twice",
    "column dtype": "gives column number dtype 77, not a headrace_dtype",
    "column length": r"gives column number shape \(-2,\); lengths are -1 \(not known\) or more",
    "column name": "names a column by no text in UTF-8",
}


@pytest.mark.parametrize("fault", COLUMN_FAULTS)
def test_faulty_columns_are_named_before_anything_runs(readops, fault):
    with pytest.raises(hr.Error, match=COLUMN_FAULTS[fault]) as caught:
        readops.Squares(4, fault=fault).schema  # noqa: B018
    assert "readops.Squares" in str(caught.value) and "test_plugins.py" in str(caught.value)


READ_FAULTS = {
    "throws": (hr.FunctionError, "row"),
    "not found": (hr.NotFoundError, "misses a file"),
    "no output": (hr.FunctionError, r"read\(\) of readops.Squares gives no output 0 and no error"),
    "dtype": (hr.FunctionError, r"gives float64 \(1,\) for output 1, and its columns\(\) says float32 \(1,\)"),
    "shape": (hr.FunctionError, r"gives int64 \(2,\) for output 0, and its columns\(\) says int64 \(\)"),
    "too many": (hr.FunctionError, r"open\(\) of readops.Squares gives 18446744073709551615 rows; 0 to 2\^63 - 1 are"),
}


@pytest.mark.parametrize("fault", READ_FAULTS)
def test_faulty_rows_are_named(readops, fault):
    kind, message = READ_FAULTS[fault]
    with pytest.raises(kind, match=message) as caught:
        list(readops.Squares(10, fault=fault))
    assert "readops.Squares" in str(caught.value)
    if fault not in ("shape", "too many"):
        assert caught.value.row == "epoch 0, position 3"


def test_a_rows_own_failure_is_left_out(readops):
    for fault in ("throws", "not found"):
        pipeline = readops.Squares(10, fault=fault).on_error("skip")
        assert numbers(pipeline) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    with pytest.raises(hr.FunctionError, match="a fault of the plugin readops, not of the pipeline"):
        numbers(readops.Squares(10, fault="no output").on_error("skip"))
    with pytest.raises(hr.GraphError, match="does not count to 13"):
        list(readops.Squares(13))


def records_of(dataset, **options):
    return [bytes(row["record"]) for row in dataset.iterate(**options)]


def test_a_format_reads_files_in_splits(readops, frames):
    pattern, records = frames
    assert records_of(readops.Frames(pattern)) == records
    shuffled = readops.Frames(pattern, shuffle=True, window=8, split_bytes=100, seed=4)
    first = records_of(shuffled)
    assert sorted(first) == sorted(records) and first != records and first != records_of(shuffled, epoch=1)
    for options in VARIANTS:
        assert records_of(shuffled, **options) == first
    for sharding in ("rows", "splits", "contiguous"):
        for world in (2, 5):
            part = readops.Frames(pattern, sharding=sharding, split_bytes=100)
            dealt = [records_of(part, shard=(rank, world)) for rank in range(world)]
            assert sorted(sum(dealt, [])) == sorted(records)
            assert all(dealt[:2])


def test_a_format_goes_on_from_every_step(readops, frames):
    pattern, _ = frames
    for shuffle, interleave in ((False, 1), (True, 3)):
        source = readops.Frames(pattern, shuffle=shuffle, window=6, interleave=interleave, split_bytes=150)
        pipeline = source.map(len, "record", types={"record": ("int64", ())}).batch(4)
        for shard in ((0, 1), (1, 2)):
            expected = column(pipeline, "record", seed=5, shard=shard)
            with pipeline.iterate(seed=5, shard=shard) as iterator:
                for at in range(len(expected)):
                    assert_equal(column(pipeline, "record", state=iterator.state(), shard=shard), expected[at:])
                    next(iterator)


def test_a_format_names_the_file_and_the_byte(readops, tmp_path):
    def frame(record):
        return b"FRAM" + len(record).to_bytes(4, "little") + record

    path = tmp_path / "a.frames"
    path.write_bytes(frame(b"one") + frame(b"!two") + frame(b"six"))
    with pytest.raises(hr.DataError, match="is damaged") as caught:
        list(readops.Frames(str(path)))
    assert caught.value.file == f"{path}, byte 11" and "readops.Frames" in str(caught.value)
    assert records_of(readops.Frames(str(path)).on_error("skip")) == [b"one", b"six"]
    # A length that reaches beyond the file: the reader cannot go on.
    path.write_bytes(frame(b"one") + b"FRAM" + b"\xff\xff\xff\xffend")
    for policy in ("raise", "skip"):
        with pytest.raises(hr.DataError, match="needs 4294967295 bytes from byte 19 on, and the file has 22") as caught:
            list(readops.Frames(str(path)).on_error(policy))
        assert caught.value.file == f"{path}, byte 11"
    with pytest.raises(hr.NotFoundError, match="none"):
        list(readops.Frames(str(tmp_path / "none*")))
    with pytest.raises(hr.GraphError, match="cannot work so"):
        list(readops.Frames(str(path), fault="create"))


def test_a_format_that_cannot_be_cut(readops, tmp_path):
    for file in range(3):
        (tmp_path / f"{file}.sums").write_bytes(bytes(range(file, 40)))
    pipeline = readops.Sums(str(tmp_path / "*.sums"))
    expected = [int(value) for file in range(3) for value in np.cumsum(np.arange(file, 40))]
    assert [int(row["sum"]) for row in pipeline] == expected
    with pipeline.iterate() as iterator:
        for at in range(0, len(expected), 10):
            assert [int(row["sum"]) for row in pipeline.iterate(state=iterator.state())] == expected[at:]
            for _ in range(10):
                next(iterator, None)
    splits = readops.Sums(str(tmp_path / "*.sums"), sharding="splits")
    assert [len(list(splits.iterate(shard=(rank, 4)))) for rank in range(4)] == [40, 39, 38, 0]


def test_a_graph_names_the_plugin_of_its_source(readops, reading_library, frames, tmp_path):
    pattern, records = frames
    saved = tmp_path / "graph.hrg"
    readops.Frames(pattern, fault="").take(3).save(saved)
    assert records_of(hr.load(saved)) == records[:3]
    node = json.loads(readops.Squares(3).to_json())["nodes"][0]
    assert (node["op"], node["version"]) == ("readops.Squares", 3)
    code = f"""
import headrace as hr
try:
    hr.load({str(saved)!r})
except hr.GraphError as error:
    print(error)
hr.load_plugin({str(reading_library)!r})
print(len(list(hr.load({str(saved)!r}))))
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert "the plugin readops is not loaded; call hr.load_plugin() with the path of its library first" in done.stdout
    assert done.stdout.endswith("\n3\n")


MISDECLARED_SOURCE = r"""
#include "headrace_plugin.h"
#ifndef COLUMNS
#define COLUMNS Columns
#endif
#ifndef OPEN
#define OPEN Open
#endif
#ifndef READ
#define READ Read
#endif
#ifndef FORMAT_OPEN
#define FORMAT_OPEN OpenReader
#endif
#ifndef NEXT
#define NEXT Next
#endif
#ifndef SIZE
#define SIZE sizeof(headrace_source)
#endif
#ifndef FORMAT_SIZE
#define FORMAT_SIZE sizeof(headrace_format)
#endif
#ifndef ATTRIBUTE
#define ATTRIBUTE "mode"
#endif
#ifndef NAME
#define NAME "Rows"
#endif
#ifndef FORMAT_NAME
#define FORMAT_NAME "Files"
#endif
#ifndef TRAITS
#define TRAITS 0
#endif
#ifndef FORMAT_TRAITS
#define FORMAT_TRAITS 0
#endif
#ifndef PLUGIN
#define PLUGIN "missources"
#endif
static const headrace_host* host;
static int32_t Columns(headrace_call* call, const headrace_value* const* values) {
  (void)values;
  return host->add_column(call, "x", HEADRACE_INT64, 0, NULL);
}
static int32_t Open(headrace_call* call, const headrace_value* const* values, void** state, headrace_rows* rows) {
  (void)call, (void)values, (void)state;
  rows->count = 3;
  return HEADRACE_OK;
}
static int32_t Read(headrace_call* call, const void* state, uint64_t row) {
  void* memory = NULL;
  (void)state;
  const int32_t result = host->allocate(call, 0, HEADRACE_INT64, 0, NULL, &memory);
  if (result == HEADRACE_OK) *(int64_t*)memory = (int64_t)row;
  return result;
}
static int32_t OpenReader(headrace_call* call, const void* state, headrace_file* file, int64_t begin, int64_t end,
                          void** reader) {
  (void)call, (void)state, (void)file, (void)begin, (void)end, (void)reader;
  return HEADRACE_OK;
}
static int32_t Next(headrace_call* call, void* reader, headrace_file* file) {
  (void)call, (void)reader, (void)file;
  return HEADRACE_OK;
}
static const headrace_attribute attribute = {.struct_size = sizeof(headrace_attribute),
                                             .type = HEADRACE_ATTRIBUTE_TEXT, .name = ATTRIBUTE, .doc = "How.",
                                             .default_value = "''"};
static const headrace_attribute* const attributes[] = {&attribute, NULL};
static const headrace_source source = {.struct_size = SIZE, .version = 1, .name = NAME, .summary = "Rows.",
                                       .traits = TRAITS, .attributes = attributes, .columns = COLUMNS, .open = OPEN,
                                       .read = READ};
static const headrace_format format = {.struct_size = FORMAT_SIZE, .version = 1, .name = FORMAT_NAME,
                                       .summary = "Files.", .traits = FORMAT_TRAITS, .attributes = attributes,
                                       .columns = Columns, .open = FORMAT_OPEN, .next = NEXT};
static const headrace_source* const sources[] = {&source, NULL};
static const headrace_format* const formats[] = {&format, NULL};
static const headrace_plugin plugin = {.struct_size = sizeof(headrace_plugin), .name = PLUGIN, .version = "1",
                                       .sources = sources, .formats = formats};
const uint32_t headrace_plugin_abi = HEADRACE_PLUGIN_ABI;
int32_t headrace_plugin_query(uint32_t host_abi, const headrace_host* given, headrace_call* call,
                              const headrace_plugin** result) {
  (void)host_abi, (void)call;
  host = given;
  *result = &plugin;
  return HEADRACE_OK;
}
"""

MISDECLARED_SOURCES = {
    "COLUMNS=0": r"gives no columns\(\) of missources.Rows",
    "OPEN=0": r"gives no open\(\) of missources.Rows",
    "READ=0": r"gives no read\(\) of missources.Rows",
    "FORMAT_OPEN=0": r"gives no open\(\) of missources.Files",
    "NEXT=0": r"gives no next\(\) of missources.Files",
    "SIZE=8": "gives a headrace_source of 8 bytes; it has 88 or more in the interface",
    "FORMAT_SIZE=4096": "gives a headrace_format of 4096 bytes; it has 112 or more",
    'NAME="rows"': 'names a source "rows"; names have letters and digits, begin with a large letter',
    'FORMAT_NAME="Rows"': "is wrong: the declaration of missources.Rows occurs twice",
    "TRAITS=1": "gives traits of missources.Rows that this Headrace does not know: 1",
    "FORMAT_TRAITS=2": "gives traits of missources.Files that this Headrace does not know: 2",
    'ATTRIBUTE="shuffle"': 'names an attribute of missources.Rows "shuffle"; .* nor seed, name, shuffle',
    'ATTRIBUTE="window"': 'names an attribute of missources.Files "window"; .* window, interleave',
}


def test_misdeclared_sources_and_formats_are_named(tmp_path):
    (tmp_path / "source.c").write_text(MISDECLARED_SOURCE)

    def built(name, *options):
        command = ["gcc", "-w", "-shared", "-fPIC", f"-I{hr.plugin_include()}", *options]
        subprocess.run([*command, tmp_path / "source.c", "-o", tmp_path / name], check=True, timeout=60)
        return tmp_path / name

    for number, (macro, message) in enumerate(MISDECLARED_SOURCES.items()):
        library = built(f"mis{number}.so", f"-D{macro}")
        with pytest.raises(hr.UnsupportedError, match=rf"the plugin {library} {message}"):
            hr.load_plugin(library)
    right = hr.load_plugin(built("right.so"))
    assert [int(row["x"]) for row in right.Rows()] == [0, 1, 2]
    (tmp_path / "a.bin").write_bytes(b"abc")
    assert list(right.Files(str(tmp_path / "a.bin"))) == []
    built("waits.so", "-DTRAITS=HEADRACE_WAITS|HEADRACE_NOT_DETERMINISTIC", '-DPLUGIN="waitops"')
    assert [int(row["x"]) for row in hr.load_plugin(tmp_path / "waits.so").Rows()] == [0, 1, 2]
    declared = {op["name"]: op["traits"] for op in json.loads(_engine.declarations())["operators"]}
    assert declared["waitops.Rows"]["file_io"] and not declared["waitops.Rows"]["deterministic"]
    assert declared["missources.Rows"]["deterministic"] and not declared["missources.Rows"]["file_io"]
    # A parameter of any name that is not taken.
    named = hr.load_plugin(built("named.so", '-DATTRIBUTE="hosted"', '-DPLUGIN="hostedops"'))
    assert list(named.Files(str(tmp_path / "a.bin"), hosted="x", shuffle=True)) == []


GAUGE = ROOT / "examples/plugin/gauge.cc"


@pytest.fixture(scope="session")
def gauge_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gauge")
    source = folder / GAUGE.name
    source.write_text(GAUGE.read_text().replace('HEADRACE_PLUGIN("gauge"', 'HEADRACE_PLUGIN("tested_gauge"'))
    return compiled(source, folder / "libgauge.so")


def test_the_example_of_a_source_and_a_format(gauge_library, tmp_path):
    gauge = hr.load_plugin(gauge_library)
    (batch,) = gauge.Waves(4, length=8).batch(4)
    expected = np.sin(2 * np.pi * np.arange(1, 5)[:, None] * np.arange(8) / 8)
    np.testing.assert_allclose(batch["wave"], expected, atol=1e-6)
    readings = np.zeros(1000, np.dtype([("time", "<i8"), ("values", "<f4", (2,))]))
    readings["time"] = np.arange(1000)
    readings["values"] = np.arange(2000).reshape(1000, 2)
    (tmp_path / "a.gauge").write_bytes(b"GAUGE001" + readings.tobytes())
    source = gauge.Readings(str(tmp_path / "*.gauge"), channels=2, sharding="splits", split_bytes=1001)
    rows = [row for rank in range(3) for row in source.iterate(shard=(rank, 3))]
    assert sorted(int(row["time"]) for row in rows) == list(range(1000))
    assert all(list(row["values"]) == [2 * row["time"], 2 * row["time"] + 1] for row in rows)
    readings["values"][7, 1] = np.nan
    (tmp_path / "a.gauge").write_bytes(b"GAUGE001" + readings.tobytes())
    with pytest.raises(hr.DataError, match="holds a value that is not finite") as caught:
        list(source)
    assert caught.value.file.endswith(f"a.gauge, byte {8 + 7 * 16}")
    assert len(list(source.on_error("skip"))) == 999
    (tmp_path / "a.gauge").write_bytes(b"OTHER001" + readings.tobytes())
    with pytest.raises(hr.DataError, match="finds no GAUGE001 at its beginning"):
        list(source)


def test_a_plugin_of_kernels_alone_needs_the_first_version(frames_library, gauge_library):
    """So that it runs with an earlier Headrace, too."""
    needed = [
        ctypes.c_uint32.in_dll(ctypes.CDLL(str(library)), "headrace_plugin_abi").value
        for library in (frames_library, gauge_library)
    ]
    assert needed == [0x10000, 0x10001]
