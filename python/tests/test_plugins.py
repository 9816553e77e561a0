"""Plugins: operators built outside are like those of Headrace's own, and broken ones give errors that name them."""

import inspect
import json
import pathlib
import pickle
import shutil
import subprocess

import numpy as np
import pytest
from conftest import ROOT, run_python

import headrace as hr
from headrace import vision as V
from headrace.__main__ import main
from headrace.kernel import Kernel

SOURCES = ROOT / "ops/plugin/testing"


def build(source: str, library: pathlib.Path, *options: str) -> pathlib.Path:
    """By one line, against the header alone."""
    compiler = ["g++", "-std=c++20"] if source.endswith(".cc") else ["gcc"]
    command = [*compiler, "-shared", "-fPIC", f"-I{hr.plugin_include()}", str(SOURCES / source), "-o", str(library)]
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
    assert str(inspect.signature(myops.Scale)) == "(factor: 'float' = 2.0) -> 'None'"
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
    assert "kernels of the plugin myops:\n  myops.Center" in capsys.readouterr().out
    assert main(["ops", "--plugin", str(libraries["myops"]), "myops.Scale"]) == 0
    assert capsys.readouterr().out.startswith("myops.Scale (version 2)\n\nMultiplies by a factor.\n")


def test_rows_go_through_it(myops):
    pipeline = floats().map(myops.Scale(0.5), "x")
    assert pipeline.schema["x"].dtype == "float32" and tuple(pipeline.schema["x"].shape) == (3,)
    assert_equal(column(pipeline), list(np.arange(120, dtype=np.float32).reshape(40, 3) / 2))
    # Row-major, whatever the tensor before was.
    picture = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3)
    flipped = hr.Numpy({"x": picture}).map([V.RandomHorizontalFlip(1.0), myops.Scale()], "x")
    np.testing.assert_array_equal(column(flipped)[0], picture[0, :, ::-1] * 2)
    np.testing.assert_array_equal(myops.Scale(4.0)(np.ones(2, np.float32)), [4, 4])


def test_a_batch_holds_its_results_without_a_copy(myops):
    (batch,) = floats(4).map(myops.Scale(), "x").batch(4)
    np.testing.assert_array_equal(batch["x"], np.arange(12, dtype=np.float32).reshape(4, 3) * 2)


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
    "REFUSES": "refuses this Headrace, whose interface for plugins has version 1.0",
    "ABI=0x20000": "was built for version 2.0 of the interface; this Headrace has version 1.0: .* or upgrade Headrace",
    "ABI=0x10007": "was built for version 1.7 of the interface",
    "ABI=0x0": "was built for version 0.0 of the interface",
    "PLUGIN_SIZE=4096": "gives a headrace_plugin of 4096 bytes; this Headrace knows those of 40 to 40",
    "PLUGIN_SIZE=8": "gives a headrace_plugin of 8 bytes",
    "KERNEL_SIZE=4096": "gives a headrace_kernel of 4096 bytes",
    "ATTRIBUTE_SIZE=0": "gives a headrace_attribute of 0 bytes",
    "NAME=0": "gives no name",
    'NAME="My ops"': 'calls itself "My ops"; names have small letters',
    'NAME="class"': 'calls itself "class"',
    'NAME="vision"': "calls itself vision, which is the name of a module of Headrace's",
    "VERSION=0": "gives no version of its own",
    'KERNEL="pass"': 'names a kernel "pass"; names have letters and digits, and begin with a large letter',
    "KERNEL_VERSION=0": "gives version 0 of misops.Pass",
    "SUMMARY=0": "gives no summary of misops.Pass",
    'SUMMARY="\\xff"': "gives a summary of misops.Pass that is not UTF-8",
    "INPUTS=0": "says that misops.Pass takes 0 to 1 columns",
    "INPUTS=2": "says that misops.Pass takes 2 to 1 columns",
    "OUTPUTS=0": "says that misops.Pass gives 0 columns",
    "TRAITS=1024": "gives traits of misops.Pass that this Headrace does not know: 1024",
    'ATTRIBUTE="seed"': 'names an attribute of misops.Pass "seed"',
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
        library = build("misdeclared_plugin.c", tmp_path / f"mis{number}.so", "-w", "-O0", f"-D{macro}")
        with pytest.raises(hr.UnsupportedError, match=rf"the plugin {library} {message}"):
            hr.load_plugin(library)
    right = hr.load_plugin(build("misdeclared_plugin.c", tmp_path / "right.so"))
    assert [int(row["value"]) for row in hr.Range(3).map(right.Pass(), "value")] == [0, 1, 2]


RULE = r".* \(a fault of the plugin badops, not of the pipeline\)"
FAULTS = {
    "throws": (hr.FunctionError, r"apply\(\) of badops.Bad threw std::out_of_range: row"),
    "throws int": (hr.FunctionError, r"apply\(\) of badops.Bad threw int"),
    "no memory": (hr.ResourceError, r"apply\(\) of badops.Bad found no more memory"),
    "returns 99": (hr.FunctionError, r"apply\(\) of badops.Bad returned 99, which is no headrace_result" + RULE),
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
    "infer allocates": (hr.FunctionError, r"calls allocate\(\), which is for apply\(\) alone" + RULE),
    "infer dtype": (hr.FunctionError, r"infer\(\) of badops.Bad gives dtype 77" + RULE),
    "infer axes": (hr.FunctionError, r"infer\(\) of badops.Bad gives 33 axes" + RULE),
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
    for fault in ("data", "throws", "function"):
        with pytest.raises(hr.Error, match="left out|no row|all"):
            list(hr.Range(3).map(badops.Bad(fault), "value").on_error("skip", max_errors=1))
    with pytest.raises(hr.FunctionError, match="gives no output") as caught:
        list(hr.Range(3).map(badops.Bad("no output"), "value").on_error("skip"))
    assert "left out" not in str(caught.value)


def test_the_header_is_c_and_cpp_and_needs_nothing(tmp_path):
    header = pathlib.Path(hr.plugin_include()) / "headrace_plugin.h"
    included = {line.split()[1] for line in header.read_text().splitlines() if line.startswith("#include")}
    assert included == {"<stddef.h>", "<stdint.h>"}
    for command in (["gcc", "-std=c99", "-pedantic", "-xc"], ["g++", "-std=c++11", "-xc++"]):
        subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(header)], check=True, timeout=60)


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
    command = ["g++", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f"-I{hr.plugin_include()}", *options]
    subprocess.run([*command, str(source), "-o", str(library)], check=True, timeout=120)
    return library


@pytest.fixture(scope="session")
def frames_library(tmp_path_factory):
    return compiled(VIGNETTE, tmp_path_factory.mktemp("frames") / "libframes.so")


def test_the_example_in_cpp(frames_library):
    frames = hr.load_plugin(frames_library)
    assert str(inspect.signature(frames.Vignette)) == "(strength: 'float' = 0.5) -> 'None'"
    picture = np.full((3, 3, 2), 200, np.uint8)
    expected = np.array([[0, 100, 0], [100, 200, 100], [0, 100, 0]], np.uint8)
    np.testing.assert_array_equal(frames.Vignette(1.0)(picture), np.dstack([expected] * 2))
    (batch,) = hr.Numpy({"x": np.stack([picture] * 2)}).map(frames.Vignette(1.0), "x").batch(2)
    np.testing.assert_array_equal(batch["x"][1, ..., 0], expected)
    with pytest.raises(hr.GraphError, match=r"needs uint8 \(H, W, C\)"):
        floats().map(frames.Vignette(), "x").schema  # noqa: B018
    with pytest.raises(hr.GraphError, match="strength is 7.*; it must be at most 1"):
        list(hr.Numpy({"x": picture[None]}).map(frames.Vignette(7.0), "x"))


def test_a_plugin_in_cpp_exports_its_entry_alone(frames_library):
    listed = subprocess.run(["nm", "-D", "--defined-only", frames_library], check=True, capture_output=True, text=True)
    strong = [line.split()[1:] for line in listed.stdout.splitlines() if line.split()[1] not in ("W", "V")]
    assert strong == [["T", "headrace_plugin_query"]]


CLASSES = """
#include "headrace_plugin.hpp"

using namespace headrace_plugin_cc;

struct Draws {
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
    assert list(rows[0]["t"]) == ["7", "7", "down", "a", "bc", "2"]
    drawn = np.array([row["x"] for row in rows])
    assert (0 <= drawn[:, 0]).all() and (drawn[:, 0] < 1).all() and len(np.unique(drawn[:, 1])) == 50
    again = list(hr.Range(50).map(two.Draws(seed=3, name="n"), "value", output=["x", "t"]).iterate(workers=1, window=1))
    assert list(again[0]["t"]) == ["3", "4", "up", "2"]
    with pytest.raises(hr.DataError, match="fails"):
        list(hr.Range(2).map(one.Draws(fails=True), "value", output=["x", "t"]))


@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
def test_the_example_builds_with_cmake(tmp_path):
    include = f"-DHEADRACE_INCLUDE={hr.plugin_include()}"
    for command in (
        ["cmake", "-S", str(VIGNETTE.parent), "-B", str(tmp_path), include],
        ["cmake", "--build", str(tmp_path)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "libframes.so").exists()
