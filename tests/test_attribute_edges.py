"""Every attribute of every kernel at its edges, on images of several kinds, called and through saved graphs: a result or an
error of ours, never a crash."""

import ast
import io
import json
import pathlib
from typing import Any

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from headrace import _engine
from tests.front import kernel_of
from tests.pipelines import OPERATORS
from tests.thinning import one_in

LISTS = ("ints", "floats", "strings")
# A bound beyond it is tried from outside alone: an image of such a side takes all memory.
LARGE = 2048
# Long enough for what has one number a channel, and short enough to take no time.
MANY = 5


def ends(attribute: dict[str, Any]) -> list[Any]:
    """Numbers at its bounds and beyond."""
    whole = attribute["type"] in ("int", "ints")
    low, high = attribute["minimum"], attribute["maximum"]
    found = [0, 1, -1] if whole else [0.0, 1.0, -1.0, 1e-300, float("nan"), float("inf")]
    for bound in (low, high):
        if bound is not None and abs(bound) < 2**62:
            step = 1 if whole else 1e-6
            within = [bound - step, bound, bound + step] if abs(bound) <= LARGE else []
            found += [type(found[0])(each) for each in (*within, bound + step if bound > 0 else bound - step)]
    return found


def edges(attribute: dict[str, Any]) -> list[Any]:
    if attribute["type"] in ("int", "float"):
        return [*ends(attribute), None]
    if attribute["type"] == "bool":
        return [False, True, None]
    if attribute["type"] == "string":
        return [*attribute["choices"], "", "?", None]
    if attribute["type"] not in LISTS:
        return [None]
    elements: list[Any] = ["", "a"] if attribute["type"] == "strings" else ends(attribute)
    lengths = {0, 1, 2, 3, 4, MANY, *attribute["lengths"]}
    if attribute["length"] is not None:
        least, most = attribute["length"]
        lengths |= {max(0, least - 1), least} | ({most, most + 1} if most is not None and most <= 1000 else set())
    return [[element] * length for length in sorted(lengths) for element in elements[: 2 if length > 1 else None]] + [
        None
    ]


def images() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = [(9, 7, 3), (1, 1, 3), (9, 7), (3, 9, 7), (9, 7, 4), (9, 7, 1), (0, 7, 3), (4, 5, 0), (5,), ()]
    bytes_ = [rng.integers(0, 256, shape).astype(np.uint8) for shape in shapes]
    return [*bytes_, *(image.astype(np.float32) for image in bytes_[:4]), np.zeros((9, 7, 3), np.uint16)]


def encoded() -> list[Any]:
    files = []
    for mode in ("RGB", "L", "RGBA"):
        target = io.BytesIO()
        PIL.Image.fromarray(np.zeros((9, 7, 3), np.uint8)).convert(mode).save(target, "PNG")
        files.append(target.getvalue())
    return [*files, b""]


INPUTS: dict[str, list[Any]] = {
    "image": images(),
    "encoded": encoded(),
    "vector": [np.arange(4, dtype=np.int32), np.zeros((0,), np.int32), np.float32(3), np.zeros((2, 3, 2), np.uint8)],
}
# Each kernel that takes one column, with each of its attributes.
CASES = [
    (operator, attribute)
    for operator in OPERATORS
    if operator["role"] == "kernel"
    and len(operator["sample"]["inputs"]) == 1
    and operator["sample"]["inputs"][0] in INPUTS
    for attribute in operator["attributes"]
    if attribute["name"] not in ("seed", "name") and not attribute["hidden"]
]


def given_of(operator: dict[str, Any]) -> dict[str, Any]:
    return {name: ast.literal_eval(value) for name, value in operator["sample"]["attributes"].items()}


def called(kernel: Any, value: Any) -> None:
    try:
        kernel(value)
    except hr.Error:
        pass


@pytest.mark.parametrize(("operator", "attribute"), one_in(4, CASES), ids=lambda each: each["name"])
def test_an_attribute_at_its_edges_gives_a_result_or_an_error(operator, attribute):
    tried = 0
    for value in edges(attribute):
        try:
            kernel = kernel_of(operator)(**{**given_of(operator), attribute["name"]: value})
        except (hr.Error, TypeError, ValueError):
            continue
        for each in INPUTS[operator["sample"]["inputs"][0]]:
            called(kernel, each)
            tried += 1
    print(f"HEADRACE-COUNT fuzz={tried}")


def of_json(value: Any, was: dict[str, Any]) -> dict[str, Any]:
    """In the form that graphs have in JSON, of the kind that stands there."""
    (kind, _), *_ = was.items() if was else {"none": {}}.items()
    if value is None:
        return {"none": {}}
    if isinstance(value, list):
        return {kind: {"values": value} if value else {}}
    return {kind: str(value) if kind == "integer" else value}


def names_in(graph: Any) -> list[str]:
    """Of the objects to which a graph refers."""
    if isinstance(graph, list):
        return [name for each in graph for name in names_in(each)]
    if not isinstance(graph, dict):
        return []
    own = [graph["reference"]["name"]] if "reference" in graph else []
    return own + names_in(list(graph.values()))


@pytest.mark.parametrize(("operator", "attribute"), one_in(4, CASES), ids=lambda each: each["name"])
def test_a_graph_with_an_attribute_at_its_edges_gives_rows_or_an_error(operator, attribute, tmp_path: pathlib.Path):
    kind = operator["sample"]["inputs"][0]
    table = {"x": INPUTS[kind]} if kind == "encoded" else {"x": np.stack(INPUTS[kind][:1] * 2)}
    outputs = operator["outputs"]
    names = ["x"] if outputs == 1 else [f"y{i}" for i in range(outputs)]
    rows = hr.Numpy(table).map(kernel_of(operator)(**given_of(operator)), "x", names)
    graph = json.loads(rows.to_json())
    steps = [step for node in graph["nodes"] for step in node.get("steps", [])]
    (written,) = [
        each for step in steps for each in step.get("attributes", []) if each["name"] == attribute["name"]
    ] or [None]
    if written is None:
        return
    was = written["value"]
    for value in edges(attribute):
        if isinstance(value, float) and not np.isfinite(value):
            continue
        if isinstance(value, list) and any(isinstance(each, float) and not np.isfinite(each) for each in value):
            continue
        written["value"] = of_json(value, was)
        path = tmp_path / "edges.json"
        path.write_text(json.dumps(graph))
        try:
            with hr.load(path, dict.fromkeys(names_in(graph), table)).iterate(executor="pull") as iterator:
                next(iterator, None)
        except hr.Error:
            pass


def test_every_list_says_how_many_elements_it_may_have():
    declarations = json.loads(_engine.declarations())["operators"]
    # Other tests of this process may have loaded plugins.
    own = [op for op in declarations if "." not in op["name"]]
    lists = [(op["name"], each) for op in own for each in op["attributes"] if each["type"] in LISTS]
    assert len(lists) > 60
    assert [(name, each["name"]) for name, each in lists if not each["lengths"] and each["length"] is None] == []
