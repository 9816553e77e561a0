"""Every declared operator is covered by the common tests: the comparison of variants, the docs, saving."""

import ast
import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import _engine
from headrace import transforms as T
from headrace._graph.declared import prefixes
from headrace._kernels.kernel import Kernel
from headrace._operators import class_text
from tests import pipelines
from tests.conftest import ROOT
from tests.pipelines import EPOCH, PIPELINES, SEED, arrow_table, with_kernels
from tests.running import assert_same, read_all

OPERATORS = {each["name"]: each for each in json.loads(_engine.declarations())["operators"]}


def operators_of(dataset: hr.Dataset) -> set[str]:
    nodes = dataset._graph().nodes
    return {node.op for node, _ in nodes} | {step.partition("(")[0] for node, _ in nodes for step in node.steps}


def test_every_operator_is_in_a_pipeline_that_runs_under_all_variants(data: pathlib.Path):
    found = set().union(*(operators_of(build(data)) for build in PIPELINES.values()))
    # Those of plugins, whose names have a dot, are in no registry before they are loaded.
    of_plugins = {name for name in found if "." in name}
    assert of_plugins == {"suite_frames.Vignette", "suite_gauge.Waves", "suite_gauge.Readings"}
    # Another way to write its kernels, which are in the graph in its place.
    lists = {name for name, each in OPERATORS.items() if each["chooses"] and not each["attributes"]}
    # What a run with a device writes in place of the steps that it does there.
    roles = ("draws", "marks")
    of_devices = {name for each in OPERATORS.values() for role, name in each["companions"].items() if role in roles}
    # Takes the values of requests, and has no rows to run over.
    of_requests = {name for name, each in OPERATORS.items() if is_of_requests(each)}
    assert of_requests == {"Input"}
    assert found - of_plugins | lists | of_devices | of_requests == set(OPERATORS)


def is_of_requests(operator: dict[str, Any]) -> bool:
    return operator["role"] == "source" and operator["python_module"] == "internal"


class Ends(Kernel):
    """Gives two columns of unequal sizes."""

    _unary = False
    _outputs = 2

    def __init__(self) -> None:
        super().__init__({})


def test_a_kernel_gets_a_column_for_each_output(monkeypatch):
    declared = OPERATORS["OneHot"] | {"name": "Ends", "outputs": 2, "sample": {"inputs": ["vector"], "attributes": {}}}
    monkeypatch.setattr(pipelines, "OPERATORS", [OPERATORS["Resize"], declared])
    monkeypatch.setattr(T, "Ends", Ends, raising=False)
    numbers = hr.Numpy({"a": np.zeros((2, 4), np.int32), "b": np.zeros((2, 4), np.int32)})
    (step,) = json.loads(with_kernels(numbers, "vector").to_json())["nodes"][1]["steps"]
    assert (step["kernel"], step["inputs"], step["outputs"]) == ("Ends", ["a"], ["Ends 0", "Ends 1"])


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_its_place_in_the_reference(name):
    operator = OPERATORS[name]
    if operator["python_module"] == "internal":
        return
    prefix = prefixes()[operator["python_module"]]
    shown = f"{prefix}{operator['python_name'] or name}"
    page = (ROOT / f"docs/reference/{shown}.md").read_text()
    assert page.startswith(f"# {shown}\n") and operator["example"] in page
    assert all(f"| `{argument.name}` |" in page for argument in class_text.arguments(operator))
    assert f"[`{shown}`](reference/{shown}.md)" in (ROOT / "docs/ops.md").read_text()


@pytest.mark.parametrize("name", [name for name, each in OPERATORS.items() if each["role"] != "kernel"])
def test_every_operator_has_a_test_of_its_own(name):
    """Of its name, in its room: PK in pk_test.cc, ImageFolder in image_folder_test.cc."""
    file_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    assert list((ROOT / "ops").rglob(f"{file_name}_test.cc"))


def loaded(dataset: hr.Dataset, path: pathlib.Path) -> hr.Dataset:
    names = dataset._graph().references
    bindings = [binding for each in _all(dataset) for binding in each._bindings]
    given = {name: given_again(binding) for name, binding in zip(names, bindings, strict=True)}
    return hr.load(path, references=given)


def given_again(binding: tuple[Any, ...]) -> Any:
    """What a user gives for it when a graph is loaded."""
    if binding[0] == "arrow":
        return arrow_table()
    if binding[0] == "arrays":
        return binding[1] | {name: hr.ragged(binding[1][name], splits) for name, splits in binding[2].items()}
    return binding[1]


def _all(dataset: hr.Dataset) -> list[hr.Dataset]:
    from headrace._datasets.base import ordered

    return ordered(dataset)[1]


@pytest.mark.parametrize("form", ["binary", "json"])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_saved_pipeline_gives_the_same(name, form, data: pathlib.Path, tmp_path: pathlib.Path):
    dataset = PIPELINES[name](data)
    if form == "binary":
        dataset.save(tmp_path / "graph")
    else:
        (tmp_path / "graph").write_text(dataset.to_json())
    again = loaded(dataset, tmp_path / "graph")
    assert again._graph().hash == dataset._graph().hash
    assert again.schema == dataset.schema
    assert_same(read_all(dataset, seed=SEED, epoch=EPOCH), read_all(again, seed=SEED, epoch=EPOCH))
    # A state fits both, because they are the same graph.
    with dataset.iterate(seed=SEED) as iterator:
        state = iterator.state()
    assert_same(read_all(dataset, state=state), read_all(again, state=state))
    print("HEADRACE-COUNT variants=1")


# Python's adapters, and what they read tables with, are found by the operator's name; so are the sources that named sets
# stand on, and the formats that are opened by what they are. Two tables are about names: of other libraries, and of what
# foreign files are not. Torchvision has transforms of the same names.
OF_OPERATORS = (
    *("_formats", "_parquet", "_sets", "_datasets/huggingface.py"),
    *("_datasets/adapters", "_datasets/fields", "_datasets/sampler.py", "_kernels/chooser_adapters.py"),
    *("_arguments/other_libraries.py", "_runs/foreign_files.py"),
    "_inference/processors/torchvision.py",
)
# Names of other things, too: how far a stage reads ahead, what `hr.mask` gives, and the engine's files that Python reads.
COMMON = {"window", "Mask", "ReadFile"}
GENERATED = "Generated by python/generate.py"


def named_in_cpp(code: str) -> set[str]:
    """The operators that are named by literals, alone or as the beginning or end of a name that is put together."""
    code = "\n".join(line.partition("//")[0] for line in code.splitlines())
    # Attributes may have the names of operators, those of Python's objects too; passes name what they insert, once.
    code = re.sub(r'(name\(\) == |attr\(|constexpr \S+ k\w+Op = )"\w+"', "", code)
    return {name for name in re.findall(r'"(\w+)"', code) if name in OPERATORS or is_suffix(name)} - COMMON


def named_in_python(code: str) -> set[str]:
    """Classes of operators so too; methods have names of common words. A text may speak of `V.Decode()`."""
    texts = {node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)}
    names = {text for text in texts if isinstance(text, str) and text[:1].isupper()}
    return {name for name in names if name in OPERATORS or is_suffix(name)} - COMMON


def is_suffix(text: str) -> bool:
    """Whether a companion's name is a kernel's and this."""
    return text in SUFFIXES


SUFFIXES = {
    companion.removeprefix(name)
    for name, each in OPERATORS.items()
    for companion in each["companions"].values()
    if companion.startswith(name)
}


def test_only_an_operators_own_file_knows_its_name():
    """The engine and the front depend on what operators declare, which any could, never on names."""
    found = []
    for folder in ("engine", "ir", "python/binding"):
        for path in sorted((ROOT / folder).rglob("*")):
            own = "row_ops" in path.parts
            if own or path.suffix not in (".cc", ".h") or path.stem.endswith("_test") or "testing" in path.parts:
                continue
            found += [f"{path.relative_to(ROOT)}: {name}" for name in sorted(named_in_cpp(path.read_text()))]
    package = ROOT / "python/headrace"
    for path in sorted(package.rglob("*.py")):
        code = path.read_text()
        if GENERATED in code[:400] or str(path.relative_to(package)).startswith(OF_OPERATORS):
            continue
        found += [f"{path.relative_to(ROOT)}: {name}" for name in sorted(named_in_python(code))]
    assert found == []


def test_names_of_operators_are_seen():
    assert SUFFIXES == {"Box", "OfBoxes", "OfKeypoints", "OfMasks", "Plan", "Taps"}
    assert named_in_cpp('step.kernel() == "Resize" || Cat(kernel, "Taps");  // "MixUp"') == {"Resize", "Taps"}
    assert named_in_python('f"{kernel}OfBoxes" in ("Decode", "write V.Resize()")') == {"OfBoxes", "Decode"}
