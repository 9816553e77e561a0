"""Inference graphs: the values of a request through kernels, with the bytes that a pipeline gives."""

import concurrent.futures
import copy
import io
import pathlib
import pickle

import numpy as np
import pytest
from PIL import Image

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
PREPARE = [V.Decode(), V.Resize(64), V.CenterCrop(56), V.Normalize(MEAN, STD), V.HWC2CHW()]
IMAGE = np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)


@pytest.fixture(scope="module")
def pictures() -> list[bytes]:
    root = pathlib.Path(__file__).parents[2] / "examples/photos"
    return [path.read_bytes() for path in sorted(root.rglob("*.jpg"))]


@pytest.fixture(scope="module")
def prepare() -> hr.InferenceGraph:
    return hr.InferenceGraph(PREPARE, {"image": "bytes"})


def test_gives_the_bytes_of_a_pipeline(prepare, pictures, photos):
    rows = list(hr.ImageFolder(photos).map(PREPARE, "image"))
    assert len(rows) == len(pictures)
    for row, picture in zip(rows, pictures, strict=True):
        np.testing.assert_array_equal(prepare(picture), row["image"])


def test_says_what_it_takes_and_gives(prepare):
    assert prepare.inputs == {"image": ("bytes", ())}
    assert prepare.outputs == {"image": ("float32", (3, 56, 56))}
    assert repr(prepare) == "<headrace.InferenceGraph image → image>"
    lines = prepare.explain().splitlines()
    assert lines[0] == f"inference graph {prepare.hash[:12]}"
    assert lines[1] == "  input   image: bytes" and lines[-1] == "  output  image: float32 (3, 56, 56)"
    assert [line.split()[1].partition("(")[0] for line in lines[2:-1]] == [
        "Decode", "Resize", "CenterCrop", "Normalize", "HWC2CHW",
    ]  # fmt: skip


def test_one_kernel_and_values_of_any_kind():
    flip = hr.InferenceGraph(V.HorizontalFlip(), {"image": ("uint8", (None, None, 3))})
    np.testing.assert_array_equal(flip(IMAGE), IMAGE[:, ::-1])
    np.testing.assert_array_equal(flip(Image.fromarray(IMAGE)), IMAGE[:, ::-1])
    np.testing.assert_array_equal(flip(image=IMAGE), IMAGE[:, ::-1])
    np.testing.assert_array_equal(flip({"image": IMAGE}), IMAGE[:, ::-1])
    with pytest.raises(hr.GraphError, match=r'"image" is a PIL image of mode P; convert it first: image\.convert'):
        flip(Image.fromarray(IMAGE).convert("P"))


def test_several_inputs_and_outputs():
    graph = hr.InferenceGraph(
        {"image": [V.Decode(), V.Resize((8, 9))], ("a", "b"): T.TypeCast("float64")},
        {"image": bytes, "a": "int32", "b": ("uint8", (2,))},
    )
    assert list(graph.inputs) == list(graph.outputs) == ["image", "a", "b"]
    picture = V.EncodePng()(IMAGE)
    expected = V.Resize((8, 9))(IMAGE)
    for given in (
        graph(picture, 3, np.array([4, 5], np.uint8)),
        graph(a=3, b=np.array([4, 5], np.uint8), image=picture),
        graph({"b": np.array([4, 5], np.uint8), "image": picture, "a": 3}),
    ):
        np.testing.assert_array_equal(given["image"], expected)
        assert given["a"] == 3 and given["b"].tolist() == [4, 5] and given["b"].dtype == np.float64
    both = graph.batch([(picture, 1, np.zeros(2, np.uint8)), {"image": picture, "a": 2, "b": np.ones(2, np.uint8)}])
    assert both["image"].shape == (2, 8, 9, 3) and both["a"].tolist() == [1, 2] and both["b"].shape == (2, 2)
    with pytest.raises(hr.GraphError, match="a row of several inputs is a dict by name, or a tuple in their order"):
        graph.batch([picture])


def test_numbers_of_python_get_the_dtype_of_their_input():
    graph = hr.InferenceGraph({"n": T.TypeCast("float64")}, {"n": "uint8", "x": ("float32", (None,))})
    assert graph(255, [1, 2.5])["n"] == 255.0
    assert graph(7, [0.1])["x"].dtype == np.float32
    for number in (256, -1, 1.5):
        with pytest.raises(hr.DataError, match='"n" is to be uint8'):
            graph(number, [1.0])
    for numbers in ([[1.0], [2.0, 3.0]], [1e300]):
        with pytest.raises(hr.DataError, match='"x" is to be float32, and .* does not fit'):
            graph(1, numbers)
    assert np.isinf(graph(1, [float("inf")])["x"]).all()


def test_any_name_is_an_input(pictures):
    for name in ("self", "values", "named", "a b"):
        graph = hr.InferenceGraph((V.Decode(), name), {name: "bytes"})
        np.testing.assert_array_equal(graph(**{name: pictures[0]}), graph(pictures[0]))
        assert len(graph.trace(**{name: pictures[0]})) == 1


def test_maps_with_columns_outputs_and_keep():
    graph = hr.InferenceGraph(
        (V.FiveCrop(9), "image", list("abcde")), {"image": ("uint8", (None, None, 3))}, ["b", "a"]
    )
    assert list(graph.outputs) == ["b", "a"]
    expected = V.FiveCrop(9)(IMAGE)
    given = graph(IMAGE)
    np.testing.assert_array_equal(given["a"], expected[0])
    np.testing.assert_array_equal(given["b"], expected[1])
    only = hr.InferenceGraph([(V.Decode(), "image"), (V.Resize(8), "image", "small")], {"image": "bytes"}, keep="small")
    assert only(V.EncodePng()(IMAGE)).shape == (8, 12, 3)


def test_targets_follow_the_image():
    kernels = [V.Resize((20, 30)), V.HorizontalFlip()]
    columns = ["image", hr.mask("mask"), hr.boxes("boxes")]
    inputs = {
        "image": ("uint8", (None, None, 3)), "mask": ("uint8", (None, None)), "boxes": ("float32", (None, 4)),
    }  # fmt: skip
    graph = hr.InferenceGraph((kernels, columns), inputs)
    mask, boxes = IMAGE[..., 0] // 128, np.array([[1, 2, 30, 20], [0, 0, 60, 40]], np.float32)
    expected = hr.compose(kernels, columns)(IMAGE, mask, boxes)
    for found, wanted in zip(graph(IMAGE, mask, boxes).values(), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_batch_is_stacked_where_shapes_agree(prepare, pictures):
    batch = prepare.batch(pictures)
    assert batch.shape == (len(pictures), 3, 56, 56)
    for row, picture in zip(batch, pictures, strict=True):
        np.testing.assert_array_equal(row, prepare(picture))
    sizes = hr.InferenceGraph([V.Decode(), V.Resize(32)], {"image": "bytes"})
    listed = sizes.batch(pictures)
    assert isinstance(listed, list) and len({each.shape for each in listed}) > 1
    encoded = hr.InferenceGraph([V.Decode(), V.EncodePng()], {"image": "bytes"})
    assert [type(each) for each in encoded.batch(pictures[:2])] == [bytes, bytes]
    assert len(sizes.batch([])) == 0


def test_a_row_of_a_batch_that_fails_is_named(prepare, pictures):
    rows = [pictures[0], b"no picture", pictures[1], pictures[2][:500]]
    with pytest.raises(hr.DataError, match="row 1: ") as raised:
        prepare.batch(rows)
    assert raised.value.row == "row 1"
    found = prepare.batch(rows, errors="return")
    assert [type(each) for each in found] == [np.ndarray, hr.DataError, np.ndarray, hr.DataError]
    np.testing.assert_array_equal(found[2], prepare(pictures[1]))
    assert str(found[3]).startswith("row 3: ")
    with pytest.raises(hr.GraphError, match="errors is 'skip'; it must be one of 'raise', 'return'"):
        prepare.batch(rows, errors="skip")


def test_an_object_that_no_column_holds_fails_its_row_alone(pictures):
    pixels = hr.InferenceGraph(V.Resize((8, 8)), {"image": ("uint8", (None, None, 3))})
    cut = Image.open(io.BytesIO(pictures[1][:3000]))
    found = pixels.batch([IMAGE, object(), cut, np.array([None]), IMAGE], errors="return")
    assert [type(each) for each in found] == [np.ndarray, hr.DataError, hr.DataError, hr.DataError, np.ndarray]
    assert str(found[1]).startswith('row 1: the input "image" cannot be used: ')
    assert str(found[2]).startswith('row 2: the input "image" cannot be read from ')
    for run in (pixels, pixels.trace, lambda value: pixels.batch([value])):
        with pytest.raises(hr.DataError, match='the input "image" cannot be used: '):
            run(object())


@pytest.mark.parametrize("rows", [b"\xff\xd8", "cat.jpg", {"image": [b""]}, 3, None])
def test_a_batch_takes_a_list_of_rows(prepare, rows):
    with pytest.raises(hr.GraphError, match="it must be a list of rows; a call takes one of them"):
        prepare.batch(rows)


def test_threads_share_a_graph(prepare, pictures):
    expected = [prepare(picture) for picture in pictures]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for number, found in enumerate(pool.map(prepare, pictures * 8)):
            np.testing.assert_array_equal(found, expected[number % len(expected)])


def test_pickles_copies_and_bytes_are_the_same_graph(prepare, pictures, tmp_path):
    prepare.save(tmp_path / "prepare.graph")
    for again in (
        pickle.loads(pickle.dumps(prepare)),
        copy.deepcopy(prepare),
        hr.InferenceGraph.from_bytes(prepare.to_bytes()),
        hr.inference_of(tmp_path / "prepare.graph"),
    ):
        assert again == prepare and hash(again) == hash(prepare) and again.hash == prepare.hash
        np.testing.assert_array_equal(again(pictures[0]), prepare(pictures[0]))
    assert prepare != hr.InferenceGraph(PREPARE[:2], {"image": "bytes"})
    with pytest.raises(hr.GraphError, match="data is 5; it must be the bytes that to_bytes gave"):
        hr.InferenceGraph.from_bytes(5)
    with pytest.raises(hr.Error):
        hr.InferenceGraph.from_bytes(b"no graph")


def test_a_trace_has_what_each_step_makes(prepare, pictures):
    traced = prepare.trace(pictures[0])
    assert [column for _, column, _ in traced] == ["image"] * 5
    np.testing.assert_array_equal(traced[0][2], V.Decode()(pictures[0]))
    np.testing.assert_array_equal(traced[-1][2], prepare(pictures[0]))


def test_the_same_kernels_have_one_hash(prepare):
    again = hr.InferenceGraph([V.Decode(), *PREPARE[1:]], {"image": "bytes"})
    assert again.hash == prepare.hash
    assert hr.InferenceGraph(PREPARE[:-1], {"image": "bytes"}).hash != prepare.hash


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda g: g(), r'got no value for the input "image"; takes 1 value \(image\)'),
        (lambda g: g(b"", b""), r"takes 1 value \(image\), and got 2 values"),
        (lambda g: g(imge=b""), r"has no input 'imge'; did you mean image\?"),
        (lambda g: g(b"", image=b""), 'got two values for the input "image"'),
        (lambda g: g(None), 'the input "image" is None; give bytes'),
        (lambda g: g(pathlib.Path("a.jpg")), r"is a path, and the graph takes what the file holds; give its bytes"),
    ],
)
def test_a_call_with_other_values_says_which(prepare, given, message):
    with pytest.raises(hr.GraphError, match=message):
        given(prepare)


def twice(image):
    return image * 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hr.InferenceGraph([V.Decode(), V.RandomCrop(3)], {"image": "bytes"}),
         r"RandomCrop \(\S*test_inference\.py:\d+\) draws random numbers"),
        (lambda: hr.InferenceGraph([V.Decode(), V.RandomApply([V.Resize(3)])], {"image": "bytes"}),
         r"RandomApply \(\S*test_inference\.py:\d+\) draws random numbers"),
        (lambda: hr.InferenceGraph([V.Decode(), twice], {"image": "bytes"}), "is not a kernel; call a function on"),
        (lambda: hr.InferenceGraph([V.Decode(), (V.Resize(3), "image")], {"image": "bytes"}),
         r"is not a kernel; give kernels alone, or \(kernels, columns\) for all"),
        (lambda: hr.InferenceGraph(V.Resize(3), {"a": "uint8", "b": "bytes"}), "there are 2 inputs .*say which columns"),
        (lambda: hr.InferenceGraph((V.Decode(), "a"), {"a": "bytes", "b": "bytes"}, keep="a"),
         'no column that is kept depends on the input "b"; leave it out'),
        (lambda: hr.InferenceGraph([V.Decode()], {"image": "bytes"}, keep="imag"), "did you mean image"),
        (lambda: hr.InferenceGraph([V.Decode()], {}), "no columns; name at least one"),
        (lambda: hr.InferenceGraph([V.Resize(3)], {"image": "bytes"}), "put Decode"),
        (lambda: hr.InferenceGraph([((V.Decode(),),)], {"image": "bytes"}), "must be .kernels, columns."),
    ],
)  # fmt: skip
def test_what_no_graph_holds_is_refused(make, message):
    with pytest.raises(hr.GraphError, match=message):
        make()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("cat.jpg", "got a text; give what the file holds"),
        (Image.fromarray(IMAGE), "got Image; .* without Decode"),
        (IMAGE, r"got ndarray; of encoded bytes in an array give array\.tobytes"),
    ],
)
def test_what_is_not_the_bytes_of_a_picture_is_refused_with_what_to_give(prepare, value, message):
    with pytest.raises(hr.DataError, match=f'the input "image" is to be bytes.*{message}'):
        prepare(value)
    (found,) = prepare.batch([value], errors="return")
    assert isinstance(found, hr.DataError)


def test_parameters_are_refused():
    size = hr.parameter("sigma", default=1.0)
    with pytest.raises(hr.GraphError, match="whose value depends on the epoch"):
        hr.InferenceGraph([V.Decode(), V.AdjustBrightness(size)], {"image": "bytes"})
