"""Every kernel that draws nothing gives the same bytes in an inference graph, an eager call and a pipeline; pipelines
of all kinds are cut, or refused with a message that names what stands in the way."""

import ast
import json
import pathlib
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import _engine
from headrace import vision as V
from tests.pipelines import PIPELINES, kernel_of

KERNELS = {
    each["name"]: each
    for each in json.loads(_engine.declarations())["operators"]
    if each["role"] == "kernel" and each["sample"]["inputs"] and each["python_module"] in ("vision", "transforms")
}
IMAGE = np.random.default_rng(1).integers(0, 256, (60, 80, 3), np.uint8)
# By the kind of a sample's inputs.
VALUES: dict[str, Any] = {
    "image": IMAGE,
    "encoded": V.EncodeJpeg(90)(IMAGE),
    "vector": np.arange(4, dtype=np.int32),
}
TYPES: dict[str, Any] = {
    "image": ("uint8", (None, None, 3)),
    "encoded": "bytes",
    "vector": ("int32", (4,)),
}


def graph_of(declared: dict[str, Any]) -> tuple[hr.InferenceGraph, list[Any]]:
    """Of the kernel with its sample's attributes, and its inputs."""
    given = {name: ast.literal_eval(value) for name, value in declared["sample"]["attributes"].items()}
    kernel = kernel_of(declared)(**given)
    kinds = declared["sample"]["inputs"]
    names = [f"in {i}" for i in range(len(kinds))]
    outputs = [f"out {i}" for i in range(declared["outputs"] or len(kinds))]
    inputs = {name: TYPES[kind] for name, kind in zip(names, kinds, strict=True)}
    return hr.InferenceGraph((kernel, names, outputs), inputs, outputs), [VALUES[kind] for kind in kinds]


@pytest.mark.parametrize(
    "name", [name for name, each in KERNELS.items() if set(each["sample"]["inputs"]) <= set(VALUES)]
)
def test_every_kernel_gives_what_a_pipeline_gives(name):
    declared = KERNELS[name]
    if declared["traits"]["random"]:
        with pytest.raises(hr.GraphError, match=rf"{name} \(.*\) draws random numbers"):
            graph_of(declared)
        return
    if declared["traits"]["by_batch"]:
        with pytest.raises(hr.GraphError):
            graph_of(declared)
        return
    graph, values = graph_of(declared)
    columns = {}
    for column, value in zip(graph.inputs, values, strict=True):
        columns[column] = np.empty(1, object)
        columns[column][0] = value
        if isinstance(value, np.ndarray):
            columns[column] = value[None]
    given = {name: ast.literal_eval(value) for name, value in declared["sample"]["attributes"].items()}
    outputs = list(graph.outputs)
    (row,) = hr.Numpy(columns).map(kernel_of(declared)(**given), list(graph.inputs), outputs).project(outputs)
    found = graph(*values)
    for output, value in (found if len(outputs) > 1 else {outputs[0]: found}).items():
        assert isinstance(value, bytes) == isinstance(row[output], (bytes, memoryview))
        if isinstance(value, bytes):
            assert value == bytes(row[output])
        else:
            assert value.dtype == row[output].dtype
            np.testing.assert_array_equal(value, row[output])


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_are_cut_or_refused(name, data: pathlib.Path):
    dataset = PIPELINES[name](data)
    for column in dataset.schema:
        try:
            graph = hr.inference(dataset, column)
        except hr.GraphError as error:
            assert str(error).startswith("inference: ") or "Input" in str(error), error
            continue
        assert list(graph.outputs) == [column]
        assert graph.inputs
        assert hr.InferenceGraph.from_bytes(graph.to_bytes()) == graph
