"""Every number of every kernel may be an hr.parameter: what it gives is what the number itself gives."""

import ast
import io
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from headrace import vision as V
from headrace._operators.class_text import _may_change
from tests.front import KERNEL_MODULES, kernel_of
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
    "PadToSize.size": (70, 90),
    "GaussianBlur.axis_sigma": (0.5, 1.5),
    "RandomSolarize.upper": 200,
    "ResizeToMultiple.size": (40, 50),
    "Slice.indices": [0, 2],
}
# They say how many columns there are, which is the same in each epoch.
FIXED = {("SlicePatches", "num_height"), ("SlicePatches", "num_width")}
# What the attribute needs beside it.
BESIDE: dict[str, dict[str, Any]] = {
    "Resize.max_size": {"size": 20},
    "ResizeToMultiple.size": {"divisor": 8},
    "RandomSolarize.upper": {"threshold": 100},
    "Slice.indices": {"start": None},
    "MixUp": {"num_classes": 3},
    "CutMix": {"num_classes": 3, "layout": "HWC"},
}


def rows_of(kind: tuple[str, ...]) -> hr.Dataset:
    draws = np.random.default_rng(4)
    images = draws.integers(0, 256, (6, 60, 80, 3), np.uint8)
    if kind == ("encoded",):
        target = io.BytesIO()
        PIL.Image.fromarray(images[0]).save(target, "JPEG")
        return hr.Numpy({"x": [target.getvalue()] * 3})
    if kind == ("vector",):
        return hr.Numpy({"x": np.arange(24, dtype=np.int32).reshape(6, 4) % 4})
    return hr.Numpy({"x": images, "label": np.arange(6) % 3})


def with_targets() -> hr.Dataset:
    draws = np.random.default_rng(5)
    near = draws.integers(0, 40, (6, 3, 2))
    return hr.Numpy(
        {
            "x": draws.integers(0, 256, (6, 60, 80, 3), np.uint8),
            "mask": draws.integers(0, 9, (6, 60, 80), np.uint8),
            "boxes": np.concatenate([near, near + draws.integers(4, 20, (6, 3, 2))], -1).astype(np.float32),
            "label": np.arange(18).reshape(6, 3),
        }
    )


DECLARED = {each["name"]: each for each in OPERATORS}


def numbers_of(kernels: Iterable[str]) -> list[tuple[str, str]]:
    return [
        (name, attribute["name"])
        for name in kernels
        for attribute in DECLARED[name]["attributes"]
        if _may_change(attribute) and (name, attribute["name"]) not in FIXED
    ]


OF_IMAGES = [
    name
    for name, each in DECLARED.items()
    if each["role"] == "kernel" and each["python_module"] in KERNEL_MODULES and len(each["sample"]["inputs"]) in (1, 2)
]
OF_BOXES = [name for name, each in DECLARED.items() if "boxes" in each["companions"]] + ["SanitizeBoxes"]


def value_of(name: str, attribute: dict[str, Any], given: dict[str, Any]) -> Any:
    if attribute["name"] in given:
        return given[attribute["name"]]
    default = None if attribute["default"] is None else ast.literal_eval(attribute["default"])
    if default is not None:
        return default
    return GIVEN.get(f"{name}.{attribute['name']}", GIVEN.get(attribute["name"]))


def check(name: str, attribute: str, mapped: Callable[[Any], hr.Dataset]) -> None:
    """What `mapped(kernel)` gives is the same with the number, a parameter, and one in the list."""
    operator = DECLARED[name]
    declared = next(each for each in operator["attributes"] if each["name"] == attribute)
    given = {key: ast.literal_eval(text) for key, text in operator["sample"]["attributes"].items()}
    given |= BESIDE.get(f"{name}.{attribute}", BESIDE.get(name, {}))
    value = value_of(name, declared, given)
    assert value is not None, "GIVEN needs a value"

    def rows(replaced: Any) -> Any:
        return read_all(mapped(kernel_of(operator)(**given | {attribute: replaced})), seed=3, epoch=1)

    plain = rows(value)
    assert plain.failure is None
    changing = hr.parameter("value", lambda epoch: value if epoch == 1 else None, default=value)
    assert_same(plain, rows(changing))
    if isinstance(value, (list, tuple)) and value:
        assert_same(plain, rows([*value[:-1], hr.parameter("last", lambda epoch: value[-1])]))


@pytest.mark.parametrize(("name", "attribute"), numbers_of(OF_IMAGES))
def test_every_number_of_a_kernel_may_be_one(name: str, attribute: str):
    inputs = tuple(DECLARED[name]["sample"]["inputs"])
    rows = rows_of(inputs)
    if len(inputs) == 2:
        check(name, attribute, lambda kernel: rows.map(V.ToFloat(), "x").batch(3).map(kernel, ["x", "label"]))
        return
    count = DECLARED[name]["outputs"]
    output = "made" if count == 1 else [f"made {i}" for i in range(count)]
    check(name, attribute, lambda kernel: rows.map(kernel, "x", output))


@pytest.mark.parametrize(("name", "attribute"), numbers_of(OF_BOXES))
def test_masks_and_boxes_follow_what_it_gives(name: str, attribute: str):
    columns = ["x", hr.mask("mask"), hr.boxes("boxes", labels="label")]
    check(name, attribute, lambda kernel: with_targets().map(kernel, columns))
