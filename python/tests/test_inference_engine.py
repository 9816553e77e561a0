"""The engine's inference graphs: what the front stands on. Values are viewed, results belong to the caller."""

import json
import threading

import numpy as np
import pytest

import headrace as hr
from headrace import _engine
from headrace import vision as V
from tests.conftest import ROOT

JPEG = min((ROOT / "examples/photos").rglob("*.jpg")).read_bytes()
KERNELS = [V.Decode(), V.Resize(64), V.CenterCrop(48), V.Normalize((120, 110, 100), (60, 61, 62)), V.HWC2CHW()]


def graph_of(kernels, columns=(("image", "bytes", []),), column="image"):
    """The map of a pipeline, over a source that takes requests."""
    numbers = hr.Numpy({column: np.array([JPEG], object)}).map(kernels, column)
    document = json.loads(numbers.to_json())
    source = _engine.Graph(
        [(_engine.Node("Input", {"columns": _engine.Columns(columns)}, [], ("", 0)), [])], [], None, "test", None
    )
    (document["nodes"][0],) = json.loads(source.json())["nodes"]
    return _engine.Graph.parse_json(json.dumps(document))


@pytest.fixture(scope="module")
def graph():
    return _engine.InferenceGraph(graph_of(KERNELS).serialize())


def test_it_says_what_it_takes_and_gives(graph):
    assert graph.inputs == [("image", "bytes", ())]
    assert graph.outputs == [("image", "float32", (3, 48, 48))]
    assert graph.hash == graph_of(KERNELS).hash


def test_a_request_has_the_bits_of_an_eager_call(graph):
    (image,) = graph.run((JPEG,))
    np.testing.assert_array_equal(image, hr.compose(KERNELS)(JPEG))
    assert image.flags.writeable
    (again,) = graph.run((np.array(JPEG, object),))
    np.testing.assert_array_equal(again, image)


def test_a_result_is_written_where_the_caller_says(graph):
    (expected,) = graph.run((JPEG,))
    batch = np.zeros((2, 3, 48, 48), np.float32)
    graph.run_into((JPEG,), (batch[1],))
    np.testing.assert_array_equal(batch[1], expected)
    assert not batch[0].any()


def test_a_result_that_is_a_view_of_an_argument_is_copied():
    array = _engine.InferenceGraph(graph_of([V.CenterCrop(4)], [("image", "uint8", [None, None, 3])]).serialize())
    given = np.arange(6 * 6 * 3, dtype=np.uint8).reshape(6, 6, 3)
    (made,) = array.run((given,))
    assert not np.shares_memory(made, given)
    np.testing.assert_array_equal(made, given[1:5, 1:5])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 48, 47), np.float32), "does not fit the memory given for it"),
        (np.zeros((3, 48, 48), np.float64), "does not fit the memory given for it"),
        (np.zeros((48, 48, 3), np.float32).T, "writable and row-major"),
        (np.zeros((3, 48, 48), ">f4"), "writable and row-major"),
        (np.broadcast_to(np.float32(0), (3, 48, 48)), "writable and row-major"),
        ([0.0], "an array of NumPy's"),
    ],
)
def test_memory_that_does_not_fit_is_an_error(graph, array, message):
    with pytest.raises((hr.GraphError, hr.DataError), match=message):
        graph.run_into((JPEG,), (array,))


def test_what_a_request_lacks_is_named(graph):
    with pytest.raises(hr.GraphError, match=r"takes 1 input \(image\); got 2"):
        graph.run((JPEG, JPEG))
    with pytest.raises(hr.DataError, match='input "image" is to be bytes'):
        graph.run((np.zeros((4, 4, 3), np.uint8),))
    with pytest.raises(hr.DataError) as raised:
        graph.run((JPEG[:100],))
    assert raised.value.operator == "map[1] Decode"
    assert "test_inference_engine.py" in raised.value.location


def test_a_trace_has_each_step_alone(graph):
    traced = graph.trace((JPEG,))
    assert [step for step, _, _ in traced] == [
        f"map[1] {kernel}" for kernel in ("Decode", "Resize", "CenterCrop", "Normalize", "HWC2CHW")
    ]
    assert {column for _, column, _ in traced} == {"image"}
    np.testing.assert_array_equal(traced[0][2], V.Decode()(JPEG))
    np.testing.assert_array_equal(traced[-1][2], graph.run((JPEG,))[0])


def test_what_draws_is_refused_with_its_line():
    with pytest.raises(hr.GraphError, match="draws random numbers") as raised:
        _engine.InferenceGraph(graph_of([V.Decode(), V.RandomCrop(8)]).serialize())
    assert raised.value.operator == "map[1] RandomCrop"
    assert "test_inference_engine.py" in raised.value.location


def test_bytes_of_no_graph_are_an_error():
    for damaged in (b"", b"no graph", graph_of(KERNELS).serialize()[:-3]):
        with pytest.raises(hr.GraphError):
            _engine.InferenceGraph(damaged)


def test_a_pipeline_over_requests_says_what_to_call(tmp_path):
    (tmp_path / "graph.hrg").write_bytes(graph_of(KERNELS).serialize())
    pipeline = hr.load(tmp_path / "graph.hrg")
    assert pipeline.schema["image"] == ("float32", (3, 48, 48))
    with pytest.raises(hr.GraphError, match=r"hr\.inference_of"):
        next(iter(pipeline))


def test_threads_share_a_graph(graph):
    (expected,) = graph.run((JPEG,))
    wrong = []

    def call():
        for _ in range(5):
            (image,) = graph.run((JPEG,))
            if not np.array_equal(image, expected):
                wrong.append(image)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
