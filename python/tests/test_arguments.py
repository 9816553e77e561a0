"""Any value for any argument of the public API gives a pipeline, or one of our errors with a sentence in it. Never a crash
or a hang, nor a message of an underlying library."""

import ast
import contextlib
import decimal
import fractions
import functools
import importlib.util
import inspect
import io
import itertools
import json
import math
import os
import pathlib
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import hypothesis.strategies as some
import numpy as np
import PIL.Image
import pytest
from conftest import run_python

import headrace as hr
from headrace import _engine
from headrace import transforms as T
from headrace import vision as V
from headrace._runs.run_options import RunParameters
from tests.arrow_exporter import numbers as arrow_numbers
from tests.arrow_exporter import record
from tests.front import kernel_of
from tests.mind_record_reference import TESTDATA
from tests.thinning import examples, one_in

PIXELS = np.arange(4 * 60 * 80 * 3, dtype=np.uint32).astype(np.uint8).reshape(4, 60, 80, 3)


class Mine(Exception):
    """The exception of the objects below, which is passed on unchanged."""


class Refusing:
    """Raises on every operation."""

    def refuse(self, *_: Any) -> Any:
        raise Mine

    __index__ = __float__ = __iter__ = __fspath__ = __len__ = __bool__ = __call__ = refuse


class Unshowable:
    def __repr__(self) -> str:
        raise Mine


class NotWhatItSays:
    """Has the expected attribute names, with useless values."""

    ndim = 0
    shape = ()
    dtype = "float32"

    def item(self) -> Any:
        return self

    def tolist(self) -> Any:
        return 3

    def __float__(self) -> float:
        raise OverflowError("no float")

    def __fspath__(self) -> Any:
        return b"\xff"


def itself(kind: type) -> Any:
    """A container that contains itself."""
    if kind is list:
        nested: list[Any] = []
        nested.append(nested)
        return nested
    array = np.empty((), object)
    array[()] = array
    return array


def odd_values() -> dict[str, Any]:
    whole = [
        0,
        1,
        -1,
        2**31 - 1,
        2**31,
        2**32,
        2**53 + 1,
        2**63 - 1,
        2**63,
        2**64,
        -(2**31) - 1,
        -(2**63),
        -(2**63) - 1,
    ]
    real = [0.0, -0.0, 1.5, -1e-300, 1e308, -1e308, math.nan, math.inf, -math.inf]
    text = ["", "x", "value", "None", "a\0b", "\udcff", "🦜", "x" * 10_000, "64MiB", "9" * 400 + "TiB", "1e400", "%s{}"]
    lists = [
        [],
        [1],
        [2, 3],
        [1, 2, 3, 4],
        [None],
        [[1]],
        ["x", 1],
        ["value", "value"],
        [2**64],
        [math.nan],
        ["\udcff"],
        (),
    ]
    others = {
        "None": None,
        "True": True,
        "False": False,
        "10**400": 10**400,
        "bytes": b"x",
        "no bytes": b"",
        "a bytearray": bytearray(b"x"),
        "a memoryview": memoryview(b"xy"),
        "a dict": {"value": "other"},
        "another dict": {1: object()},
        "an empty dict": {},
        "a set": {1, 2},
        "a range": range(3),
        "a generator": (i for i in range(3)),
        "a class": Refusing,
        "int": int,
        "an object": object(),
        "Refusing": Refusing(),
        "Unshowable": Unshowable(),
        "NotWhatItSays": NotWhatItSays(),
        "a list of itself": itself(list),
        "an array of itself": itself(np.ndarray),
        "complex": 1j,
        "Decimal": decimal.Decimal("sNaN"),
        "a great Fraction": fractions.Fraction(10**400, 3),
        "np.int64": np.int64(2),
        "np.uint64": np.uint64(2**64 - 1),
        "np.bool": np.bool_(True),
        "np.float32": np.float32(np.nan),
        "np.longdouble": np.longdouble("1e4000"),
        "np.str": np.str_("value"),
        "np.datetime64": np.datetime64("2020-01-01"),
        "an array": np.arange(2),
        "an array of shape (0, 3)": np.zeros((0, 3)),
        "an array of objects": np.array([None, object()]),
        "a structured array": np.zeros(2, "i4,f8"),
        "a dtype": np.dtype("float32"),
        "another dtype": np.dtype("datetime64[s]"),
        "a function": lambda *_: 1,
        "a function of much": lambda a, b, c, *, d: 1,
        "a Dataset": hr.Range(3),
        "a Kernel": V.Decode(),
        "an Expression": hr.col("value") < 2,
        "an Iterator": hr.Range(3).iterate(executor="pull"),
        "a path": pathlib.Path("nowhere"),
    }
    simple = {f"{type(each).__name__} {each!r:.30}": each for each in [*whole, *real, *text, *lists]}
    return simple | others


def numbers() -> hr.Dataset:
    return hr.Range(6)


def png() -> bytes:
    target = io.BytesIO()
    PIL.Image.fromarray(PIXELS[0]).save(target, "PNG")
    return target.getvalue()


# By the kind of a kernel's sample.
SAMPLES: dict[str, np.ndarray] = {
    "image": PIXELS,
    "encoded": np.array([png()] * 4, object),
    "vector": np.arange(24, dtype=np.int32).reshape(6, 4) % 4,
    "images": PIXELS.astype(np.float32),
    "classes": np.arange(len(PIXELS), dtype=np.int32),
}


def mapped(operator: dict[str, Any]) -> tuple[Callable[..., hr.Dataset], dict[str, Any]]:
    """A call of a kernel on the sample of its declaration, and the sample's arguments."""
    kernel = kernel_of(operator)
    sample = operator["sample"]
    columns = [f"value {i}" for i in range(len(sample["inputs"]))]
    dataset: hr.Dataset = hr.Numpy({name: SAMPLES[kind] for name, kind in zip(columns, sample["inputs"], strict=True)})
    if operator["traits"]["by_batch"]:
        dataset = dataset.batch(len(PIXELS))
    given = {name: ast.literal_eval(text) for name, text in sample["attributes"].items()}
    outputs = [f"output {i}" for i in range(operator["outputs"])]
    return lambda **arguments: dataset.map(kernel(**arguments), columns[: operator["inputs"]["least"]], outputs), given


# For each: how it is called, and valid arguments.
SOURCES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Arrow": (hr.Arrow, {"data": record(value=arrow_numbers("l", np.arange(4)))}),
    "Csv": (hr.Csv, {"patterns": "*.txt", "types": {"x": "int64"}}),
    "Files": (hr.Files, {"patterns": "*.txt"}),
    "Generator": (hr.Generator, {"function": lambda: iter([1, 2]), "columns": "value"}),
    "ImageFolder": (hr.ImageFolder, {"root": "nowhere"}),
    "ImageList": (hr.ImageList, {"listing": "nowhere.lst"}),
    "ImageRecord": (hr.ImageRecord, {"paths": "nowhere.rec"}),
    "JsonLines": (hr.JsonLines, {"patterns": "*.txt", "columns": {"x": "int64"}}),
    "LibSvm": (hr.LibSvm, {"patterns": "*.txt", "features": 4}),
    "Lmdb": (hr.Lmdb, {"path": "nowhere"}),
    "Manifest": (hr.Manifest, {"table": {"path": ["/nowhere"]}, "path_column": "path"}),
    "Mds": (hr.Mds, {"path": "shards"}),
    "MindRecord": (hr.MindRecord, {"paths": "one.mindrecord"}),
    "Npy": (hr.Npy, {"paths": "one.npy"}),
    "Npz": (hr.Npz, {"path": "one.npz"}),
    "Numpy": (hr.Numpy, {"arrays": {"value": np.arange(4)}}),
    "Parquet": (hr.Parquet, {"paths": "one.parquet"}),
    "Range": (hr.Range, {"start": 6}),
    "RecordFile": (hr.RecordFile, {"paths": "nowhere.rec"}),
    "TFRecord": (hr.TFRecord, {"paths": "nowhere.tfrecord", "features": {"x": ("int64", (), 1)}}),
    "Text": (hr.Text, {"patterns": "*.txt"}),
    "WebDataset": (hr.WebDataset, {"paths": "nowhere.tar", "columns": ["cls"], "decode": {"cls": "int64"}}),
    "from_dataset": (hr.from_dataset, {"dataset": [{"value": 1}, {"value": 2}], "columns": "value"}),
}
METHODS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "batch": (numbers().batch, {"size": 2}),
    "bucket_by_length": (
        numbers().batch(2).bucket_by_length,
        {"column": "value", "boundaries": [2, 3], "batch_sizes": [1, 1, 2]},
    ),
    "cache": (numbers().cache, {}),
    "concat": (numbers().concat, {"others": hr.Range(3)}),
    "filter": (numbers().filter, {"predicate": lambda x: True}),
    "flat_map": (numbers().flat_map, {"function": lambda x: [x], "columns": "value"}),
    "group_by_window": (
        numbers().group_by_window,
        {"key": "value", "size": 2, "function": lambda value: [1], "output": "value"},
    ),
    "interleave": (
        numbers().interleave,
        {"function": lambda x: [x], "cycle": 2, "columns": "value"},
    ),
    "kfold": (lambda **given: numbers().kfold(**given)[0][0], {"k": 2}),
    "map": (numbers().map, {"kernels": T.TypeCast("int8"), "columns": "value"}),
    "project": (numbers().project, {"columns": "value"}),
    "rename": (numbers().rename, {"mapping": {"value": "other"}}),
    "repeat": (numbers().repeat, {"count": 2}),
    "sample": (numbers().sample, {"sampler": hr.Repeated(2)}),
    "scan": (
        numbers().scan,
        {"function": lambda state, value: (state, value), "initial": 0, "columns": "value", "output": "other"},
    ),
    "select": (numbers().select, {"indices": [1, 0]}),
    "shuffle": (numbers().shuffle, {"window": 2}),
    "show": (hr.Numpy({"image": PIXELS}).show, {"n": 2}),
    "skip": (numbers().skip, {"count": 2}),
    "split": (lambda **given: numbers().split(**given)[0], {"fractions": [0.5, 0.5]}),
    "take": (numbers().take, {"count": 2}),
    "take_while": (numbers().take_while, {"predicate": lambda x: True}),
    "unbatch": (numbers().batch(2).unbatch, {}),
    "unique": (numbers().unique, {}),
    "window": (numbers().window, {"size": 2}),
    "with_seed": (numbers().with_seed, {"seed": 1}),
    "on_error": (numbers().on_error, {"policy": "skip", "max_errors": 3, "log": "bad.jsonl"}),
    "classes_of": (hr.Numpy({"label": ["a", "b"]}, classes="label").classes_of, {"column": "label"}),
    "zip": (numbers().zip, {"others": hr.Range(3).rename({"value": "other"})}),
    "statistics": (numbers().statistics, {"column": "value"}),
    "head": (numbers().head, {"n": 2}),
    "explain": (numbers().explain, {}),
    "iterate": (numbers().iterate, {}),
    "options": (numbers().options, {}),
    "profile": (numbers().profile, {"path": "profile"}),
    "save": (numbers().save, {"path": "saved.hrg"}),
    "write_tar": (hr.Numpy({"x": np.array([b"a", b"b"], object)}).write_tar, {"path": "written.tar"}),
    "write_records": (hr.Numpy({"x": np.array([b"a", b"b"], object)}).write_records, {"path": "written.rec"}),
    "write_tfrecord": (numbers().write_tfrecord, {"path": "written.tfrecord"}),
    "write_mindrecord": (numbers().write_mindrecord, {"path": "written.mindrecord"}),
    "write_parquet": (numbers().write_parquet, {"path": "written.parquet"}),
    "to_device": (numbers().to_device, {"device": "cpu:0"}),
    "to_dot": (numbers().to_dot, {}),
    "to_json": (numbers().to_json, {}),
    "to_text": (numbers().to_text, {}),
}
KERNELS = {
    operator["name"]: mapped(operator)
    for operator in json.loads(_engine.declarations())["operators"]
    if operator["sample"]["inputs"] and operator["python_module"] != "internal"
}
# Over images, where a single number is no shape: over vectors PadEnd would make rows of many gigabytes.
KERNELS["PadEnd"] = (
    lambda **given: hr.Numpy({"value": PIXELS}).map(T.PadEnd(**given), "value"),
    {"shape": (60, 80, 3)},
)
# The outlines of an image of 4 × 5 pixels with a square of 2 × 2, and its segments.
OUTLINES = np.array([[129, 158, 1, 4, 5, 1, 0, 1, 4, 0, 0, 20, 0, 0, 20, 19, 0]], np.uint8)
SEGMENTS = {"segment": np.ones((1, 1), np.int64), "category": np.ones((1, 1), np.int64)}
KERNELS |= {
    "DrawMasks": (lambda **given: hr.Numpy({"x": OUTLINES}).map(V.DrawMasks(**given), "x"), {}),
    "DrawLabelMap": (
        lambda **given: hr.Numpy({"x": OUTLINES} | SEGMENTS).map(V.DrawLabelMap(**given), ["x", "category"], "x"),
        {"background": 0},
    ),
    "PanopticCategories": (
        lambda **given: hr.Numpy({"x": np.ones((1, 4, 5), np.int32)} | SEGMENTS).map(
            V.PanopticCategories(**given), ["x", "segment", "category"], "x"
        ),
        {"void": 0},
    ),
    "Mosaic": (
        lambda **given: (
            hr.Numpy({"x": PIXELS, "boxes": np.ones((len(PIXELS), 3, 4))})
            .batch(len(PIXELS), ragged={"boxes": "splits"})
            .map(V.Mosaic(**given), ["x", "boxes", "boxes_splits"])
        ),
        {"layout": "HWC"},
    ),
}
KERNELS["ReadFile"] = (lambda **given: hr.Numpy({"value": np.array([__file__])}).map(T.ReadFile(**given), "value"), {})


def among_boxes(_name: str, **given: Any) -> hr.Dataset:
    rows = hr.Numpy({"value": PIXELS, "boxes": np.zeros((len(PIXELS), 3, 4))})
    return rows.map(getattr(V, _name)(**given), ["value", hr.boxes("boxes")])


KERNELS |= {
    name: (functools.partial(among_boxes, name), given)
    for name, given in {
        "ClampBoxes": {},
        "ConvertBoxFormat": {"format": "xywh"},
        "RandomConstrainedCrop": {"min_crop_scales": (0.3,)},
        "RandomIoUCrop": {"min_scale": 0.4},
        "RandomObjectCrop": {"max_attempts": 3},
        "SanitizeBoxes": {"min_size": 2.0},
    }.items()
}


def with_keypoints(_name: str) -> hr.Dataset:
    rows = hr.Numpy({"value": PIXELS, "points": np.zeros((len(PIXELS), 3, 2))})
    return rows.map(getattr(V, _name)(), ["value", hr.keypoints("points")])


KERNELS |= {name: (functools.partial(with_keypoints, name), {}) for name in ("ClampKeypoints", "SanitizeKeypoints")}


def of_objects(_name: str, **given: Any) -> hr.Dataset:
    objects = np.tile(np.float32([1, 0, 0, 1, 1]), (4, 2, 1))
    rows = hr.Numpy({"value": objects, "boxes": objects[..., 1:], "header": objects[:, 0, :2]})
    columns = {
        "SplitDetections": ["value"],
        "JoinDetections": ["boxes", "value"],
        "DetectionLabel": ["header", "value"],
    }
    outputs = ["a", "b", "c"] if _name == "SplitDetections" else ["a"]
    return rows.map(getattr(T, _name)(**given), columns[_name], outputs)


KERNELS |= {
    name: (functools.partial(of_objects, name), given)
    for name, given in {
        "DetectionLabel": {"data_shape": (3, 4, 5)},
        "JoinDetections": {},
        "SplitDetections": {},
    }.items()
}


def chosen(_name: str, **given: Any) -> hr.Dataset:
    return hr.Numpy({"value": PIXELS}).map(getattr(V, _name)(**given), "value")


def one_row(index: Any) -> None:
    with contextlib.suppress(IndexError):
        numbers()[index]


# What holds other kernels.
KERNELS |= {
    name: (functools.partial(chosen, name), given)
    for name, given in {
        "Compose": {"kernels": [V.Invert()]},
        "RandomApply": {"kernels": [V.Invert()], "p": 0.5},
        "RandomChoice": {"branches": [V.Invert(), [V.Equalize(), V.Invert()]], "p": [1, 2]},
        "RandomOrder": {"kernels": [V.Invert(), V.Equalize()]},
        "RandomSelectSubpolicy": {"policy": [[(V.Invert(), 0.5)], [(V.Equalize(), 1)]]},
        "UniformAugment": {"kernels": [V.Invert(), V.Equalize()], "num_ops": 1},
    }.items()
}
OTHERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "load": (hr.load, {"path": "saved.hrg"}),
    "Weighted": (
        lambda weights, n, replacement: numbers().sample(hr.Weighted(weights, n, replacement)),
        {"weights": [1] * 6, "n": 4, "replacement": True},
    ),
    "ClassBalanced": (
        lambda labels, n: numbers().sample(hr.ClassBalanced(labels, n)),
        {"labels": [0, 1] * 3, "n": 4},
    ),
    "choose": (
        lambda inputs, choice, stop: hr.choose(inputs, choice, stop),
        {"inputs": [numbers(), numbers()], "choice": hr.Range(2), "stop": "all"},
    ),
    "mix": (
        lambda inputs, weights, stop: hr.mix(inputs, weights, stop),
        {"inputs": [numbers(), numbers()], "weights": [1, 2], "stop": "all"},
    ),
    "Repeated": (lambda times: numbers().sample(hr.Repeated(times)), {"times": 2}),
    "col": (hr.col, {"name": "value"}),
    "isin": (hr.col("value").isin, {"values": [1]}),
    "compared": (lambda operand: numbers().filter(hr.col("value") < operand), {"operand": 2}),
    "added": (lambda operand: numbers().filter(operand + hr.col("value") == 2), {"operand": 2}),
    "epoch": (lambda epoch: setattr(numbers(), "epoch", epoch), {"epoch": 2}),
    "row": (one_row, {"index": 2}),
}
TABLE = SOURCES | METHODS | KERNELS | OTHERS


@functools.cache
def parameters(name: str) -> list[str]:
    call, given = TABLE[name]
    home = hr if name in SOURCES else hr.Dataset if name in METHODS else V if hasattr(V, name) else T
    of = call if name in OTHERS else getattr(home, name)
    listed = [each for each in inspect.signature(of).parameters if each not in ("self", "options")]
    options = list(RunParameters.__annotations__)
    return listed + {"profile": ["profile_events"], "options": options, "iterate": options}.get(name, [])


def test_the_table_is_whole():
    public = {name for name in dir(hr.Dataset) if not name.startswith("_")} - {
        "class_to_idx",
        "classes",
        "epoch",
        "schema",
    }
    assert public == set(METHODS)
    assert set(V.__all__) | set(T.__all__) == set(KERNELS)
    classes = {
        name for name in hr.__all__ if inspect.isclass(found := getattr(hr, name)) and issubclass(found, hr.Dataset)
    }
    assert classes - {"Dataset"} == set(SOURCES)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to read from and write to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").write_text("a line\n")
    shutil.copyfile(TESTDATA / "scalars.mindrecord", tmp_path / "one.mindrecord")
    if importlib.util.find_spec("pyarrow") is not None:
        numbers().write_parquet("one.parquet")
    shutil.copytree(TESTDATA.parents[1] / "mds/testdata/plain", tmp_path / "shards")
    np.save("one.npy", np.arange(4))
    np.savez("one.npz", value=np.arange(4))
    numbers().save("saved.hrg")


def use(found: Any) -> None:
    """Calls every method of a pipeline, and runs a few rows."""
    if isinstance(found, hr.Iterator):
        with found:
            list(itertools.islice(found, 3))
            found.state()
        return
    if not isinstance(found, hr.Dataset):
        return
    _ = found.schema
    found.explain()
    with found.iterate(executor="pull", memory="16MiB") as rows:
        list(itertools.islice(rows, 3))
    len(found)


BENEATH = re.compile(
    r"pybind|incompatible|Unable to (cast|convert)|_engine|std::|bad_alloc|C\+\+|internal", re.IGNORECASE
)


def check(call: Callable[[], Any]) -> None:
    try:
        use(call())
    except (hr.Error, TypeError) as error:
        assert not isinstance(error, hr.InternalError), error
        text = str(error).splitlines()[0]
        assert text and not BENEATH.search(text), text[:1000]
    except Mine:
        pass


def odd_calls(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    call, given = TABLE[name]
    for number, parameter in enumerate(parameters(name)):
        for value_name, value in one_in(4, list(odd_values().items()), first=number):
            yield f"{name}({parameter}={value_name})", odd_call(name, {parameter: value})


def odd_call(name: str, odd: dict[str, Any]) -> Callable[[], Any]:
    call, given = TABLE[name]
    arguments = {**given, **odd}
    others = [arguments.pop("others")] if "others" in arguments else []
    return lambda: call(*others, **arguments)


@pytest.mark.parametrize("name", TABLE)
def test_odd_values(name):
    count = 0
    for label, odd in odd_calls(name):
        try:
            check(odd)
        except BaseException as error:
            raise AssertionError(f"{label}: {type(error).__name__}: {error}") from error
        count += 1
    print(f"HEADRACE-COUNT fuzz={count}")


@hypothesis.given(some.data())
@hypothesis.settings(
    max_examples=examples(1000),
    deadline=None,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
def test_several_odd_values_at_once(data):
    name = data.draw(some.sampled_from([each for each in TABLE if parameters(each)]))
    values = odd_values()
    chosen = data.draw(
        some.dictionaries(some.sampled_from(parameters(name)), some.sampled_from(list(values)), min_size=1)
    )
    check(odd_call(name, {parameter: values[value] for parameter, value in chosen.items()}))


def test_what_is_wrong_is_said():
    numbers = hr.Range(3)
    nines = "9" * 30
    for options, message in [
        ({"workers": 2**31}, "workers is 2147483648; it must be at most 1,048,576"),
        ({"workers": 10**400}, "workers is 1000000"),
        ({"window": 2**31}, "window is 2147483648; it must be at most"),
        ({"group": 2**40}, "group is 1099511627776; it must be at most"),
        ({"memory": f"{nines}TiB"}, f"memory is '{nines}TiB'; it must be below 2"),
        ({"memory": "64 MoB"}, 'write a number of bytes, or a text such as "64MiB"'),
        ({"memory": "99999999TiB"}, "memory is '99999999TiB'; it must be below 2\\*\\*63 bytes"),
        ({"disabled_passes": [1]}, "disabled_passes is 1; it must be a text"),
        ({"disabled_passes": 1}, "disabled_passes is 1; it must be a text, or a list of texts"),
        ({"optimize": "no"}, "optimize is 'no'; it must be True or False"),
        ({"stall_warning": math.nan}, "stall_warning is nan; it must be a number of seconds"),
        ({"cache": 3}, "cache is 3; it must be a path"),
        ({"as_": np.arange(3)}, "as_ is array"),
    ]:
        with pytest.raises(hr.GraphError, match=message):
            numbers.iterate(**options)
    for epoch in ("3", -1, 2.5, 2**64 - 1):
        with pytest.raises(hr.GraphError, match="Dataset: epoch is"):
            numbers.epoch = epoch
    assert numbers.epoch == 0
    with pytest.raises(hr.GraphError, match="batch: size: an attribute cannot hold"):
        numbers.batch(object())
    with pytest.raises(
        hr.GraphError, match=r"Range: stop: 18446744073709551616 is beyond .* from -2\*\*63 to 2\*\*63 - 1"
    ):
        hr.Range(2**64)
    with pytest.raises(hr.GraphError, match=r"Fill: value: 18446744073709551615 is beyond .* from -2\*\*63"):
        hr.Range(2).map(T.Fill(2**64 - 1), "value")


@pytest.mark.parametrize("given", [int, np.float32, np.dtype("int64")])
def test_a_type_is_no_text_and_no_path(given):
    for make in (hr.Files, hr.ImageFolder, lambda it: hr.ImageFolder("photos", listing=it), hr.Text):
        with pytest.raises(hr.GraphError, match="is a type, which only a dtype can be"):
            make(given)
    with pytest.raises(hr.GraphError, match="is a type, which only a dtype can be"):
        hr.Files("x").map([V.Decode(), V.Resize(8, interpolation=given)], "data")
    assert T.TypeCast(given)(np.zeros(2, np.uint8)).dtype == given


def test_numpys_scalars_and_expressions():
    for found in (np.int64(2) < hr.col("value"), np.arange(3)[2] < hr.col("value")):
        assert [int(row["value"]) for row in hr.Range(4).filter(found)] == [3]


def test_numpys_arrays_are_lists():
    def text(size, mean, std):
        return hr.ImageFolder("photos").map([V.Decode(), V.Resize(size), V.Normalize(mean, std)], "image").to_text()

    size, mean, std = (8, 9), [123.5, 117.0, 104.0], [58.25, 57.0, 57.5]
    for dtype in (np.float64, np.float32):
        assert text(np.array(size), np.array(mean, dtype), np.array(std, dtype)) == text(size, mean, std)
    with pytest.raises(hr.GraphError, match="an attribute cannot hold"):
        text(size, np.zeros((3, 3)), std)


def test_a_graph_may_be_written_where_paths_are_not_utf8(tmp_path):
    script = tmp_path / os.fsdecode(b"\xff.py")
    script.write_text("import headrace as hr\nprint(len(list(hr.Range(3).map(lambda x: x, 'value'))))\n")
    done = run_python("import runpy, sys; runpy.run_path(sys.argv[1])", str(script))
    assert done.stdout == "3\n", done.stderr


def test_dlpack_arguments():
    [lent] = [row["value"] for row in hr.Range(1).iterate(as_="dlpack")]
    for arguments in (
        [{"max_version": each} for each in (3, (), (1,), ("1", 0), (1.5, 0))]
        + [{"dl_device": each} for each in (3, (2, 0), "cpu")]
        + [{"copy": each} for each in (True, 3, "yes")]
    ):
        with pytest.raises((TypeError, BufferError)) as caught:
            lent.__dlpack__(**arguments)
        assert not BENEATH.search(str(caught.value))
    for version in (None, (0, 0), (1, 0), (10**30, 0), (-(10**30), 0)):
        assert "dltensor" in repr(lent.__dlpack__(max_version=version, copy=False))


@pytest.mark.parametrize("shape", [(3,), (3, 1, 1), (1, 1, 3)])
def test_numbers_for_each_channel_may_have_axes_of_length_1(shape):
    image = np.full((2, 2, 3), 100, np.uint8)
    mean, std = np.array([10, 20, 30]).reshape(shape), np.full(shape, 2.0)
    assert np.array_equal(V.Normalize(mean, std)(image)[0, 0], [45, 40, 35])
    with pytest.raises(hr.GraphError, match="an attribute cannot hold"):
        hr.Numpy(image[None]).map(V.Normalize(np.ones((3, 2)), 1.0), "data")
