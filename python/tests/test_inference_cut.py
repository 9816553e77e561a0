"""`hr.inference`: the row part of training pipelines, and what it refuses."""

import inspect
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

FOLDER = pathlib.Path(__file__).parents[2] / "examples/photos"
CENTRE = [V.Resize(40), V.CenterCrop(32)]
IMAGE = np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)


def training() -> hr.Dataset:
    return (
        hr.ImageFolder(str(FOLDER), shuffle=True)
        .map(
            [V.Decode(), V.RandomResizedCrop(32), V.RandomHorizontalFlip(), V.Normalize([1, 2, 3], [4, 5, 6])], "image"
        )
        .map(V.HWC2CHW(), "image")
        .map(T.OneHot(4), "label")
        .shuffle(8)
        .batch(4, drop_remainder=True)
        .repeat(2)
    )


@pytest.fixture(scope="module")
def picture() -> bytes:
    return next(iter(sorted(FOLDER.rglob("*.jpg")))).read_bytes()


def test_the_row_part_of_a_training_pipeline(picture):
    graph = hr.inference(training(), "image", {"RandomResizedCrop": CENTRE, "RandomHorizontalFlip": []})
    assert graph.inputs == {"image": ("bytes", ())} and graph.outputs == {"image": ("float32", (3, 32, 32))}
    kernels = [V.Decode(), *CENTRE, V.Normalize([1, 2, 3], [4, 5, 6]), V.HWC2CHW()]
    np.testing.assert_array_equal(graph(picture), hr.compose(kernels)(picture))
    assert graph.hash == hr.InferenceGraph(kernels, {"image": "bytes"}).hash


def test_random_steps_are_named_with_their_lines_and_what_to_write():
    line = inspect.getsourcelines(training)[1] + 4
    with pytest.raises(hr.GraphError) as raised:
        hr.inference(training(), ["image"])
    first, second, advice = str(raised.value).splitlines()
    assert first.startswith("inference: RandomResizedCrop (") and f"test_inference_cut.py:{line}) draws random" in first
    assert second.startswith("inference: RandomHorizontalFlip (")
    assert advice.endswith('replace={"RandomResizedCrop": [V.Resize(…), V.CenterCrop(…)], "RandomHorizontalFlip": []}')
    assert raised.value.operator == "RandomResizedCrop" and raised.value.location.endswith(f":{line}")


def test_what_the_kept_columns_do_not_need_may_be_anything():
    graph = hr.inference(training(), "label")
    assert graph.inputs == {"label": ("int32", ())}
    np.testing.assert_array_equal(graph(2), [0, 0, 1, 0])


def test_keys_are_names_classes_and_functions():
    def brighter(image: np.ndarray) -> np.ndarray:
        return image

    ds = hr.Numpy({"x": IMAGE[None]}).map([V.RandomCrop(9), brighter], "x")
    for crop in ("RandomCrop", V.RandomCrop):
        for function in ("brighter", brighter):
            graph = hr.inference(ds, "x", {crop: V.CenterCrop(9), function: [V.Invert()]})
            np.testing.assert_array_equal(graph(IMAGE), 255 - V.CenterCrop(9)(IMAGE))
    with pytest.raises(
        hr.GraphError, match=r'inference: brighter \(\S+\) is a Python function(.|\n)*{"brighter": \[\]}'
    ):
        hr.inference(ds, "x", {"RandomCrop": []})


@pytest.mark.parametrize(
    ("replace", "message"),
    [
        (
            {"RandomResizedCrops": []},
            "'RandomResizedCrops', which is not in the pipeline; did you mean RandomResizedCrop",
        ),
        ({"Solarize": []}, "'Solarize', which is not in the pipeline .it has: Decode, HWC2CHW"),
        ({V.RandomCrop: []}, "replace names RandomCrop, which is not"),
        ({"Decode": V.Resize}, r"in the place of Decode: Resize is a class; write Resize"),
        ({"Decode": len}, "in the place of Decode: <built-in function len> is not a kernel"),
        ({"batch": V.Resize(3)}, r'no kernels can stand in the place of batch; write replace={"batch": \[\]}'),
        ({3: []}, "replace has the key 3; it must be the name or the class of a kernel"),
        (
            {V.RandomHorizontalFlip(): []},
            r"replace has the key RandomHorizontalFlip\(.*; it must be the name or the class",
        ),
        ([V.Resize(3)], "give a dict from the name or class of a kernel"),
    ],
)
def test_other_replacements_are_refused(replace, message):
    known = {} if isinstance(replace, list) else {"RandomResizedCrop": CENTRE, "RandomHorizontalFlip": []}
    with pytest.raises(hr.GraphError, match=message):
        hr.inference(training(), "image", replace if isinstance(replace, list) else known | replace)


def test_choosers_with_random_steps_are_random_steps():
    blurred = hr.Numpy({"x": IMAGE[None]}).map(V.RandomApply([V.Invert()]), "x")
    with pytest.raises(hr.GraphError, match="RandomApply .* draws random numbers"):
        hr.inference(blurred, "x")
    with pytest.raises(
        hr.GraphError, match="Invert is one of the kernels of RandomApply; replace RandomApply as a whole"
    ):
        hr.inference(blurred, "x", {"Invert": []})
    graph = hr.inference(blurred, "x", {"RandomApply": V.Invert()})
    np.testing.assert_array_equal(graph(IMAGE), 255 - IMAGE)
    composed = hr.Numpy({"x": IMAGE[None]}).map(V.Compose([V.Invert(), V.HorizontalFlip()]), "x")
    np.testing.assert_array_equal(hr.inference(composed, "x")(IMAGE), (255 - IMAGE)[:, ::-1])


def test_names_are_followed_through_renames_and_projections(picture):
    ds = (
        hr.ImageFolder(str(FOLDER))
        .rename({"image": "label", "label": "image"})
        .map(V.Decode(), "label")
        .rename({"label": "picture"})
        .project(["picture"])
        .map(V.Resize((8, 9)), "picture", "small")
    )
    graph = hr.inference(ds, ["small", "picture"])
    assert list(graph.inputs) == ["image"] and list(graph.outputs) == ["small", "picture"]
    found = graph(picture)
    np.testing.assert_array_equal(found["small"], V.Resize((8, 9))(found["picture"]))
    with pytest.raises(hr.GraphError, match='keep names "smal", not a column; did you mean small'):
        hr.inference(ds, "smal")


def test_targets_are_replaced_with_their_image():
    arrays = {
        "image": IMAGE[None], "mask": IMAGE[None, ..., 0] // 100, "boxes": np.array([[[1, 2, 30, 20]]], np.float32),
    }  # fmt: skip
    columns = ["image", hr.mask("mask"), hr.boxes("boxes")]
    ds = hr.Numpy(arrays).map([V.RandomResizedCrop(10), V.HorizontalFlip()], columns)
    with pytest.raises(hr.GraphError) as raised:
        hr.inference(ds, ["image", "mask", "boxes"])
    assert '{"RandomResizedCrop": [V.Resize(…), V.CenterCrop(…)]}' in str(raised.value)
    graph = hr.inference(ds, ["image", "mask", "boxes"], {"RandomResizedCrop": CENTRE})
    expected = hr.compose([*CENTRE, V.HorizontalFlip()], columns)(*(each[0] for each in arrays.values()))
    for found, wanted in zip(graph(*(each[0] for each in arrays.values())).values(), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert list(hr.inference(ds, "image", {"RandomResizedCrop": CENTRE}).inputs) == ["image"]


def brighter(images):
    return images + 1


def test_kernels_of_whole_batches_are_refused_or_left_out():
    plain = (
        hr.ImageFolder(str(FOLDER)).map([V.Decode(), V.Resize((8, 8)), V.ToFloat()], "image").map(T.OneHot(4), "label")
    )
    mixed = plain.batch(4).map(V.MixUp(), ["image", "label"])
    with pytest.raises(
        hr.GraphError, match=r"MixUp \(\S+:\d+\) gets whole batches, as it stands after batch \(\S+:\d+\)"
    ):
        hr.inference(mixed, "image")
    graph = hr.inference(mixed, "image", {"MixUp": []})
    assert graph.hash == hr.inference(plain, "image").hash
    after = plain.batch(4).map(T.TypeCast("float16"), "image")
    with pytest.raises(hr.GraphError, match="TypeCast .* gets whole batches"):
        hr.inference(after, "image")
    assert hr.inference(after, "image", {"TypeCast": T.TypeCast("float16")}).outputs["image"].dtype == "float16"
    called = plain.batch(4).map(brighter, "image")
    with pytest.raises(hr.GraphError, match=r'brighter .* gets whole batches.*, replace={"brighter": \[\]}'):
        hr.inference(called, "image")
    assert hr.inference(called, "image", {"brighter": []}).hash == graph.hash


def numbers() -> hr.Dataset:
    return hr.Numpy({"x": np.arange(6, dtype=np.int32), "y": np.arange(6, dtype=np.int32)})


def listed(x: Any) -> list[Any]:
    return [x, x]


def running(state: Any, x: Any) -> tuple[Any, Any]:
    return state, x


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: numbers().filter(hr.col("x") < 3), r"filter \(\S+:\d+\) leaves rows out by what is kept"),
        (lambda: numbers().filter(lambda x: x < 3, "x"), r"filter .* leaves rows out by what is kept"),
        (lambda: numbers().filter(lambda x, y: x < y), r"filter .* leaves rows out by what is kept"),
        (lambda: numbers().batch(3).unbatch(), r"unbatch \(\S+:\d+\) makes several rows of one"),
        (lambda: numbers().flat_map(listed, "x"), r"flat_map .* makes several rows of one"),
        (lambda: numbers().take_while(hr.col("x") < 3), r"take_while .* leaves rows out by what is kept"),
    ],
)
def test_what_needs_other_rows_is_refused(make: Callable[[], hr.Dataset], message: str):
    with pytest.raises(hr.GraphError, match=message):
        hr.inference(make().map(T.TypeCast("float32"), "x"), "x")


def test_operators_are_left_out_by_name():
    ds = numbers().filter(hr.col("x") < 3).map(T.TypeCast("float32"), "x")
    graph = hr.inference(ds, "x", {"filter": []})
    assert graph(5) == 5 and graph.outputs["x"].dtype == "float32"


@pytest.mark.parametrize(
    "make",
    [
        lambda ds: ds.filter(hr.col("y") < 3),
        lambda ds: ds.take(4).skip(1),
        lambda ds: ds.repeat(3).shuffle(4),
        lambda ds: ds.select([3, 1]),
        lambda ds: ds.cache(),
        lambda ds: ds.split([0.5, 0.5])[0],
        lambda ds: ds.kfold(3)[0][0],
        lambda ds: ds.sample(hr.Repeated(2)),
        lambda ds: ds.sample(hr.ClassBalanced("y")),
        lambda ds: ds.unique("y"),
        lambda ds: ds.window(2).batch(2),
        lambda ds: ds.batch(2, pad=True),
        lambda ds: ds.concat(ds),
        lambda ds: hr.mix([ds, ds], [0.5, 0.5], stop="first"),
        lambda ds: ds.zip(hr.Range(4)),
        lambda ds: ds.with_seed(4).on_error("skip"),
    ],
)
def test_orders_choices_and_batches_are_left_out(make: Callable[[hr.Dataset], hr.Dataset]):
    prepared = numbers().map(T.TypeCast("float32"), "x")
    graph = hr.inference(make(prepared), "x")
    assert graph.hash == hr.InferenceGraph((T.TypeCast("float32"), "x"), {"x": ("int32", ())}).hash


def test_joined_datasets_prepare_the_kept_columns_alike():
    one = numbers().map(T.TypeCast("float32"), "x")
    other = numbers().map([T.TypeCast("int8"), T.TypeCast("float32")], "x")
    with pytest.raises(hr.GraphError, match="joins rows that are prepared in different ways, those of Numpy"):
        hr.inference(one.concat(other), "x")
    assert hr.inference(one.concat(other), "y").hash == hr.inference(numbers(), "y").hash
    # Steps of one way to a source that two ways share are not taken for those of the other.
    source = hr.ImageFolder(str(FOLDER))
    for more in range(4):
        moves = [V.HorizontalFlip()] * more
        small, large = (source.map([V.Decode(), V.Resize((side, side)), *moves], "image") for side in (8, 9))
        with pytest.raises(hr.GraphError, match="joins rows that are prepared in different ways"):
            hr.inference(small.concat(large), "image")
    renamed = numbers().rename({"x": "a", "y": "b"})
    with pytest.raises(hr.GraphError, match='the columns "a", "x" come from several inputs of zip'):
        hr.inference(one.zip(renamed), ["x", "a"])
    deep = alike = numbers().map(T.TypeCast("float32"), "x")
    for _ in range(12):  # 2 ** 12 ways to the source
        deep = deep.concat(deep).take(3)
        alike = alike.map(T.TypeCast("float32"), "x").concat(alike.map(T.TypeCast("float32"), "x"))
    assert hr.inference(deep, "x").hash == hr.inference(one, "x").hash
    assert len(hr.inference(alike, "x").trace(1)) == 13


def test_what_a_step_reads_from_a_file_is_an_input(picture):
    table = {"path": [str(path) for path in sorted(FOLDER.rglob("*.jpg"))]}
    ds = hr.Manifest(table, "path", output="image").map(T.ReadFile(), "path", "mask")
    ds = ds.map([V.Decode(), V.Resize((8, 9))], ["image", "mask"])
    graph = hr.inference(ds, ["image", "mask"])
    assert graph.inputs == {"image": ("bytes", ()), "mask": ("bytes", ())}
    np.testing.assert_array_equal(graph(picture, picture)["mask"], hr.compose([V.Decode(), V.Resize((8, 9))])(picture))
    paths = hr.Numpy({"path": np.array(table["path"])})
    in_place = paths.map([T.ReadFile(), V.Decode()], "path")
    assert hr.inference(in_place, "path").inputs == {"path": ("bytes", ())}
    with pytest.raises(hr.GraphError, match='"path" is a column of Numpy .* and also what a step reads'):
        hr.inference(paths.map(T.Duplicate(), "path", ["path", "name"]).map(T.ReadFile(), "path"), ["path", "name"])


def test_a_saved_pipeline_has_the_same_row_part(tmp_path):
    training().save(tmp_path / "train.graph")
    loaded = hr.load(tmp_path / "train.graph")
    replace = {V.RandomResizedCrop: CENTRE, "RandomHorizontalFlip": []}
    assert hr.inference(loaded, "image", replace).hash == hr.inference(training(), "image", replace).hash
    with pytest.raises(hr.GraphError, match=r"RandomHorizontalFlip \(\S+:\d+\) draws"):
        hr.inference(loaded, "image", {"RandomResizedCrop": CENTRE})


def test_other_arguments_are_refused():
    with pytest.raises(hr.GraphError, match="ds is 3; it must be a Dataset"):
        hr.inference(3, "x")
    with pytest.raises(hr.GraphError, match="keep is empty"):
        hr.inference(numbers(), [])


KERNELS: list[Callable[[], Any]] = [
    lambda: V.Resize((20, 26)),
    lambda: V.Resize(24, antialias=False),
    lambda: V.CenterCrop(18),
    lambda: V.HorizontalFlip(),
    lambda: V.Invert(),
    lambda: V.Pad(3),
    lambda: V.Grayscale(3),
    lambda: V.Rotate(30),
    lambda: V.AutoContrast(),
    lambda: V.AdjustBrightness(1.2),
]


@given(
    st.lists(st.sampled_from(KERNELS), max_size=5),
    st.lists(st.sampled_from(["batch", "rename", "repeat", "cache", "project", "label", "take"]), max_size=4),
    st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_random_pipelines_give_the_same_rows(kernels, operators, floats):
    source = hr.ImageFolder(str(FOLDER))
    ds = source.map([V.Decode(), *(make() for make in kernels)], "image")
    if floats:
        ds = ds.map([V.Resize((8, 8)), V.ToFloat()], "image")
    name, batched = "image", False
    for each in operators:
        if each == "rename":
            ds, name = ds.rename({name: f"{name}_"}), f"{name}_"
        elif each == "batch" and not batched:
            ds, batched = ds.batch(1), True
        elif each == "label" and not batched and "label" in ds.schema:
            ds = ds.map(T.OneHot(4), "label").rename({"label": "classes"})
        elif each in ("repeat", "take"):
            ds = ds.repeat(1) if each == "repeat" else ds.take(5)
        elif each == "cache":
            ds = ds.cache()
        elif each == "project":
            ds = ds.project([name])
    graph = hr.inference(ds, name)
    for row, of_source in zip(ds, source, strict=False):
        value = row[name][0] if batched else row[name]
        found = graph(bytes(of_source["image"]))
        assert found.dtype == value.dtype
        np.testing.assert_array_equal(found, value)
