"""Every number of every kernel may be an hr.parameter: what it gives is what the number itself gives."""

import ast
import io
from typing import Any

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from headrace.class_text import _may_change
from tests.pipelines import OPERATORS
from tests.running import assert_same, read_all

# Where the default is None.
GIVEN = {
    "center": (20.0, 30.0),
    "max_pixels": 100_000,
    "max_size": 90,
    "num_classes": 3,
    "offset": (1, 2),
    "padding": 3,
    "shear": (5.0, 9.0),
    "compression": 2,
    "start": 1,
    "stop": 3,
    "translate": (0.1, 0.2),
    "RandomAffine.scale": (0.8, 1.2),
    "PadToSize.offset": (0, 0),
}
# They say how many columns there are, which is the same in each epoch.
FIXED = {("SlicePatches", "num_height"), ("SlicePatches", "num_width")}
# What the attribute needs beside it.
BESIDE: dict[str, dict[str, Any]] = {"Resize.max_size": {"size": 20}}


def rows_of(kind: tuple[str, ...]) -> hr.Dataset:
    draws = np.random.default_rng(4)
    pictures = draws.integers(0, 256, (6, 60, 80, 3), np.uint8)
    if kind == ("encoded",):
        target = io.BytesIO()
        PIL.Image.fromarray(pictures[0]).save(target, "JPEG")
        return hr.Numpy({"x": [target.getvalue()] * 3})
    if kind == ("vector",):
        return hr.Numpy({"x": np.arange(24, dtype=np.int32).reshape(6, 4) % 4})
    return hr.Numpy({"x": pictures, "label": np.arange(6) % 3})


def number_attributes() -> list[tuple[str, str]]:
    return [
        (operator["name"], attribute["name"])
        for operator in OPERATORS
        if operator["role"] == "kernel" and operator["python_module"] in ("vision", "transforms")
        for attribute in operator["attributes"]
        if _may_change(attribute)
        and len(operator["sample"]["inputs"]) in (1, 2)
        and (operator["name"], attribute["name"]) not in FIXED
    ]


def value_of(name: str, attribute: dict[str, Any], given: dict[str, Any]) -> Any:
    if attribute["name"] in given:
        return given[attribute["name"]]
    default = None if attribute["default"] is None else ast.literal_eval(attribute["default"])
    if default is not None:
        return default
    return GIVEN.get(f"{name}.{attribute['name']}", GIVEN.get(attribute["name"]))


@pytest.mark.parametrize(("name", "attribute"), number_attributes())
def test_every_number_of_a_kernel_may_be_one(name: str, attribute: str):
    operator = next(each for each in OPERATORS if each["name"] == name)
    declared = next(each for each in operator["attributes"] if each["name"] == attribute)
    given = {key: ast.literal_eval(text) for key, text in operator["sample"]["attributes"].items()}
    given |= BESIDE.get(f"{name}.{attribute}", {})
    value = value_of(name, declared, given)
    assert value is not None, "GIVEN needs a value"
    if name in ("MixUp", "CutMix"):
        given |= {"num_classes": 3} | ({"layout": "HWC"} if name == "CutMix" else {})

    def made(replaced: Any) -> Any:
        kernel = getattr({"vision": V, "transforms": T}[operator["python_module"]], name)(
            **given | {attribute: replaced}
        )
        rows = rows_of(tuple(operator["sample"]["inputs"]))
        if len(operator["sample"]["inputs"]) == 2:
            return rows.map(V.ToFloat(), "x").batch(3).map(kernel, ["x", "label"])
        count = operator["outputs"]
        return rows.map(kernel, "x", "made" if count == 1 else [f"made {i}" for i in range(count)])

    plain = read_all(made(value), seed=3, epoch=1)
    changing = hr.parameter("value", lambda epoch: value if epoch == 1 else None, default=value)
    assert_same(plain, read_all(made(changing), seed=3, epoch=1))
    if isinstance(value, (list, tuple)) and value:
        last = hr.parameter("last", lambda epoch: value[-1])
        assert_same(plain, read_all(made([*value[:-1], last]), seed=3, epoch=1))
