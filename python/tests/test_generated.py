"""The files generated from the declarations are up to date and complete."""

import functools
import importlib.util
import inspect
import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, values

import headrace as hr
import reference_pages
from headrace import _engine
from headrace import transforms as T
from headrace import vision as V
from headrace._graph.adapters import adapter_of, adapters
from headrace._kernels.target_rules import needed_target
from headrace._operators import class_text
from tests.front import front_of
from tests.mds_bytes import write_mds

ALL = json.loads(_engine.declarations())["operators"]
OPERATORS = [op for op in ALL if op["python_module"] != "internal"]
# What companions of kernels move.
TARGETS = ("boxes", "keypoints", "object_masks")
NAMES = [op["name"] for op in OPERATORS]


def in_python(op):
    name = op["python_name"] or op["name"]
    return getattr(front_of(op), name)


def test_the_files_are_fresh():
    done = subprocess.run(
        [sys.executable, str(ROOT / "python/generate.py"), "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, f"run python/generate.py\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("op", OPERATORS, ids=NAMES)
def test_every_operator_is_in_python_with_its_documentation(op):
    found = in_python(op)
    assert op["summary"] in found.__doc__
    parameters = inspect.signature(found).parameters
    assert all(
        str(parameter.annotation) != "inspect._empty" for name, parameter in parameters.items() if name != "self"
    )
    for attribute in op["attributes"]:
        # Range reads its arguments as Python's range does; a predicate may be either of two attributes.
        own = op["name"] in ("Range", "filter", "take_while")
        if attribute["name"] in parameters and attribute["default"] is not None and not own:
            assert parameters[attribute["name"]].default is not inspect.Parameter.empty


def test_arguments_that_are_no_attributes_have_an_adapter():
    adapted = [op for op in OPERATORS if op["python"]]
    for op in adapted:
        # A function is called on nothing.
        subject = [] if op["python_module"] == "functions" else [None]
        given = class_text.parameter_names(op["python"]["parameters"])
        inspect.signature(adapter_of(op["name"])).bind(*subject, **dict.fromkeys(given))
    assert {op["name"] for op in adapted} == set(adapters())


@functools.cache
def cpp_tests() -> str:
    rooms = ("kernels", "ops", "engine")
    return "".join(path.read_text() for room in rooms for path in sorted((ROOT / room).rglob("*_test.cc")))


@pytest.mark.parametrize("name", [op["name"] for op in json.loads(_engine.declarations())["operators"]])
def test_every_operator_has_a_test(name):
    # What moves targets as a kernel moves pixels is compared with it.
    of_pixels = next((op["name"] for op in ALL for role in TARGETS if op["companions"].get(role) == name), name)
    compared = ("kernels/testing/moves.cc", "kernels/vision/targets/crop_among_boxes_test.cc")
    tests = cpp_tests() if name == of_pixels else "".join((ROOT / each).read_text() for each in compared)
    assert f'"{of_pixels}"' in tests


@pytest.mark.parametrize("op", OPERATORS, ids=NAMES)
def test_every_example_is_python_that_runs(op, photos, tmp_path, monkeypatch):
    """Examples make a dataset or a kernel that survives a round trip through the graph."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").symlink_to(photos)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/a.txt").write_text("one\ntwo\n")
    ds = hr.ImageFolder("photos/")
    if op["name"] == "MindRecord":
        ds.write_mindrecord("train.mindrecord", files=2)
    if op["name"] == "Parquet":
        pytest.importorskip("pyarrow")
        ds.write_parquet("train-0.parquet")
    if op["name"] == "Npy":
        np.save("images.npy", np.arange(6).reshape(3, 2))
    if op["name"] == "Npz":
        np.savez("train.npz", image=np.arange(6).reshape(3, 2), label=np.arange(3))
    if op["name"] == "Mds":
        write_mds(tmp_path / "mds/train", {"image": "jpeg", "label": "int"}, [{"image": b"x", "label": 1}])
    if op["name"] == "unbatch":
        ds = ds.batch(2)
    if op["name"] == "bucket_by_length":
        ds = ds.map(lambda label: np.zeros(label), "label", "tokens")
    names = {"hr": hr, "V": V, "T": T, "np": np, "ds": ds}
    if "other" in op["example"]:
        names["other"] = ds.rename({"image": "image2", "label": "label2"}) if op["name"] == "zip" else ds
    made = eval(op["example"], names)
    while isinstance(made, (tuple, list)):  # parts
        made = made[0]
    if needed := needed_target(op["name"]):
        target, numbers = {"boxes": (hr.boxes("y"), 4), "keypoints": (hr.keypoints("y"), 2)}[needed]
        images = np.zeros((2, 4, 4, 3), np.uint8)
        made = hr.Numpy({"x": images, "y": np.zeros((2, 3, numbers))}).map(made, ["x", target])
    elif op["name"] in ("DetectionLabel", "JoinDetections", "SplitDetections"):
        columns = {"x": np.zeros((2, 12), np.float32), "y": np.zeros((2, 3, 5), np.float32)}
        columns |= {"boxes": np.zeros((2, 3, 4), np.float32)}
        read = {"DetectionLabel": ["x", "y"], "JoinDetections": ["boxes", "y"], "SplitDetections": ["x"]}[op["name"]]
        made = hr.Numpy(columns).map(made, read, [f"z{i}" for i in range(op["outputs"])])
    elif op["role"] == "kernel":
        many = op["inputs"]["most"] is None and len(op["sample"]["inputs"]) > 1
        made = hr.Numpy({"x": np.zeros((2, 4, 4, 3), np.uint8), "y": np.zeros((2, 4, 4, 3), np.uint8)}).map(
            # A chooser gives as many columns as it takes.
            made,
            ["x", "y"] if many else "x",
            [f"z{i}" for i in range(op["outputs"] or 1)],
        )
    graph = made._graph()
    for form in (
        _engine.Graph.parse(graph.serialize()),
        _engine.Graph.parse_text(graph.text()),
        _engine.Graph.parse_json(graph.json()),
    ):
        assert form.serialize() == graph.serialize()
        assert form.hash == graph.hash
    # A chooser that draws nothing is another way to write its kernels.
    assert op["name"] in graph.text() or (op["chooses"] and not op["traits"]["random"])


def test_a_kernel_of_several_outputs_says_how_many():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "python/generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    (cast,) = [op for op in OPERATORS if op["name"] == "TypeCast"]

    def classes(outputs):
        writer = generate.Writer({"modules": [], "operators": [cast | {"outputs": outputs}], "passes": []})
        return writer.kernels("transforms", "")

    assert "_unary = False" in classes(2) and "_outputs = 2" in classes(2)
    assert "_unary" not in classes(1) and "_outputs" not in classes(1)


def test_pages_of_sets_do_not_repeat_the_methods_of_datasets():
    page = (ROOT / "docs/reference/hr.datasets.Mnist.md").read_text()
    assert "[methods of datasets](../ops.md#dataset-methods-operators)" in page
    assert "## batch" not in page and "## Arguments" in page
    assert "\n## Dataset methods: operators\n" in (ROOT / "docs/ops.md").read_text()
    # What a set adds is there.
    assert "| `doubts` |" in (ROOT / "docs/reference/hr.datasets.Coco.md").read_text()


def test_a_page_shows_what_a_docstring_says():
    doc = (
        "Gives *rows* of `a_b`, as __len__ says. More.\n\n    hr.thing(1)\n\nAs docs/arrow.md says, `hr.Range`.\n\n"
        "Args:\n    size: A number | two,\n        at least 1.\n    options: Others.\n\nExample:\n    hr.thing(2)\n"
    )
    name = {"name": "hr.thing", "kind": "function", "call": "hr.thing(size, **options)", "doc": doc, "members": []}
    others = [reference_pages.Page("hr.Range", "Gives numbers.", ""), reference_pages.Page("hr.Thing", "A class.", "")]
    pages = [reference_pages.described(name, "Functions"), *others]
    files = reference_pages.files_of([reference_pages.Section("Functions", "", pages)], "")
    assert list(files) == ["docs/ops.md", "docs/reference/hr.thing.md", "docs/reference/hr.Range.md"]
    page = files["docs/reference/hr.thing.md"]
    for shown in (
        "# hr.thing\n",
        "```python\nhr.thing(size, **options)\n```",
        "Gives \\*rows\\* of `a_b`, as \\_\\_len\\_\\_ says.",
        "```python\nhr.thing(1)\n```",
        "As [arrow](../arrow.md) says, [`hr.Range`](hr.Range.md).",
        "| `size` | A number \\| two, at least 1. |\n| `options` | Others. |",
        "## Example\n\n```python\nhr.thing(2)\n```",
        "## hr.Thing\n",
    ):
        assert shown in page
    index = files["docs/ops.md"]
    assert '<a id="hrthing"></a>[`hr.thing`](reference/hr.thing.md) | Gives \\*rows\\* of `a_b`' in index
    assert "[`hr.Thing`](reference/hr.thing.md) | A class. |" in index


def test_wide_calls_have_a_line_for_each_argument():
    assert reference_pages.wrapped_call("f(a, b=(1, 2))") == "f(a, b=(1, 2))"
    wide = reference_pages.wrapped_call("""f(a, b=(1, 2), quote='",', *, c={"x": [1, 2]})""", width=20)
    assert wide.splitlines() == [
        "f(",
        "    a,",
        "    b=(1, 2),",
        "    quote='\",',",
        "    *,",
        '    c={"x": [1, 2]},',
        ")",
    ]


def test_names_that_are_not_there_fail_in_mypy(tmp_path):
    script = tmp_path / "user.py"
    script.write_text(
        "import headrace as hr\n"
        "from headrace import vision as V\n"
        "ds = hr.Range(3).batch(2, drop_remainder=True)\n"
        "wrong: int = V.Resize(3)\n"
        "hr.Range(3).batch('two')\n"
        "hr.Range(3).btach(2)\n"
        "for row in ds:\n"
        "    row['value']\n"
        "V.Rezise(3)\n"
        "hr.Rnage(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "", "--strict", str(script)],
        capture_output=True,
        text=True,
        timeout=250,
        env={"MYPYPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
    )
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "user.py:" in line and "error" in line}
    assert lines == {4, 5, 6, 9, 10}, done.stdout


def test_kernels_show_how_they_were_made():
    assert repr(V.HWC2CHW()) == "HWC2CHW()"
    assert values(hr.Range(2)) == [0, 1]
