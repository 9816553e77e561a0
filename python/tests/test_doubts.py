"""Warnings about pipelines that run, but probably do not do what was meant."""

import pathlib
import re
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from headrace._graph import declared

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = V.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])


def said_of(dataset: hr.Dataset) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert dataset.schema
    return [each for each in caught if issubclass(each.category, hr.PipelineWarning)]


def test_small_means_over_bytes_are_named_at_the_users_line(photos: pathlib.Path):
    images = hr.ImageFolder(photos).map(V.Decode(), "image")
    (said,) = said_of(images.map([T.TypeCast("float32"), SMALL], "image"))
    assert "Normalize: mean and std are below 1, but the pixels are 0 … 255" in str(said.message)
    assert pathlib.Path(said.filename).name == "test_doubts.py"
    assert "V.Normalize(" in pathlib.Path(__file__).read_text().splitlines()[said.lineno - 1]


def test_noise_of_bytes_as_floats_is_named(photos: pathlib.Path):
    images = hr.ImageFolder(photos).map(V.Decode(), "image")
    (said,) = said_of(images.map([T.TypeCast("float32"), V.GaussianNoise()], "image"))
    assert "GaussianNoise: takes floats of 0 … 1, and these are 0 … 255" in str(said.message)
    for kernels in (
        [V.GaussianNoise()],
        [V.ToFloat(), V.GaussianNoise()],
        [T.TypeCast("float32"), V.GaussianNoise(0, 25, clip=False)],
    ):
        assert said_of(images.map(kernels, "image")) == []


def test_each_place_warns_once(photos: pathlib.Path):
    def build() -> hr.Dataset:
        return hr.ImageFolder(photos).map([V.Decode(), V.Normalize(0.5, 0.5)], "image")

    assert len(said_of(build())) == 1
    assert said_of(build()) == []
    dataset = build()
    assert said_of(dataset) == []
    next(iter(dataset))


def test_what_was_rescaled_is_right(photos: pathlib.Path):
    images = hr.ImageFolder(photos).map(V.Decode(), "image")
    assert said_of(images.map([V.Rescale(1 / 255), V.Normalize(0.4, 0.2)], "image")) == []
    assert said_of(images.map(V.Normalize(120.0, 60.0), "image")) == []


def test_a_kernel_that_is_called_warns_once_as_a_pipeline_does():
    image = np.zeros((8, 9, 3), np.uint8)
    called = V.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert called(image).dtype == np.float32
        called(image)
    assert ["Normalize: mean and std are below 1" in str(each.message) for each in caught] == [True]
    assert pathlib.Path(caught[0].filename).name == "test_doubts.py"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        V.Normalize(0.4, 0.2)(image.astype(np.float32))
        hr.compose([V.Rescale(1 / 255), V.Normalize(0.4, 0.2)])(image)
        V.Normalize(120.0, 60.0)(image)


def said_by(call: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught if issubclass(each.category, hr.PipelineWarning)]


def test_every_kernel_that_doubts_its_input_does_so_when_it_is_called():
    doubting = set()
    for source in ROOT.glob("kernels/**/*.cc"):
        before, doubt, _ = source.read_text().partition(".doubt = ")
        if doubt:
            doubting.add(re.findall(r'\.name = "(\w+)",\s+\.summary', before)[-1])
    assert doubting == {name for names in declared.kernels().values() for name in names if declared.doubts(name)}


def test_no_pipeline_is_built_where_nothing_can_be_doubted(monkeypatch):
    built = []
    monkeypatch.setattr("headrace._datasets.eager.array_source", lambda columns: built.append(columns))
    image = np.zeros((8, 9, 3), np.uint8)
    V.Resize(4)(image)
    V.RandomApply(V.ToFloat())(image, image[..., 0])
    assert built == []
    monkeypatch.undo()
    nested = hr.compose([T.TypeCast("float32"), V.RandomApply(V.RandomApply(V.Normalize(0.4, 0.2)))])
    (said,) = said_by(lambda: nested(image))
    assert said.startswith("Normalize in RandomApply: mean and std are below 1")


def test_a_call_is_doubted_for_what_it_is_given_not_for_what_came_first():
    image = np.zeros((8, 9, 3), np.uint8)
    called = V.Normalize([0.4] * 3, [0.2] * 3)
    assert said_by(lambda: called(image.astype(np.float32))) == []
    with pytest.raises(hr.GraphError, match="channels"):
        called(image[..., 0])
    assert len(said_by(lambda: called(image))) == 1
    assert said_by(lambda: called(image)) == []


def test_channels_that_come_first_are_doubted_as_those_that_come_last():
    planes = np.zeros((3, 8, 9), np.uint8)
    called = V.Normalize([0.4] * 3, [0.2] * 3)
    assert len(said_by(lambda: called(planes, layout="CHW"))) == 1
    assert len(said_by(lambda: V.Normalize([0.4] * 3, [0.2] * 3, layout="CHW")(planes))) == 1


def test_a_warning_of_a_call_that_is_made_an_error_comes_again():
    called = V.Normalize(0.4, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hr.PipelineWarning)
        for _ in range(2):
            with pytest.raises(hr.PipelineWarning, match="Rescale"):
                called(np.zeros((8, 9, 3), np.uint8))


def test_boxes_among_the_values_of_a_call_are_named_by_their_place():
    image, boxes = np.zeros((8, 9, 3), np.uint8), np.zeros((5, 4), np.float32)
    assert said_by(lambda: V.Resize((8, 8))(image, boxes)) == [
        "Resize: moves pixels, but argument 2 is float32 (5, 4), as boxes are; give it images alone, or say what it "
        'is: hr.compose(kernels, ["image", hr.boxes("…")])'
    ]
    assert said_by(lambda: T.TypeCast("float32")(image, boxes)) == []
    for dtype in (np.float32, np.float64):
        points = np.zeros((5, 2), dtype)
        said = said_by(lambda points=points: V.RandomHorizontalFlip(1)(image, points))
        assert len(said) == 1 and "as keypoints are; give it images alone, or say what it is: hr.compose" in said[0]


def test_a_grey_image_of_four_columns_is_no_boxes():
    grey = np.zeros((8, 4), np.uint8)
    assert said_by(lambda: V.Resize((8, 8))(grey)) == []
    assert said_by(lambda: hr.compose([V.Resize((8, 8)), V.Normalize(120.0, 60.0)])(grey)) == []
    cut = hr.compose([V.CenterCrop((8, 4)), V.Resize((8, 8)), V.Normalize(120.0, 60.0)])
    assert said_by(lambda: cut(np.zeros((9, 9), np.uint8))) == []


@pytest.mark.parametrize(("target", "numbers"), [("boxes", 4), ("keypoints", 2)])
def test_targets_are_not_moved_in_silence(target, numbers):
    images, values = np.zeros((3, 8, 8, 3), np.uint8), np.zeros((3, 5, numbers), np.float32)
    dataset = hr.Numpy({"image": images, "x": values})
    (said,) = said_of(dataset.map(V.RandomHorizontalFlip(), ["image", "x"]))
    message = f'column "x" is float32 (5, {numbers}), as {target} are; write hr.{target}("x"'
    assert message in str(said.message)
    assert said_of(dataset.map(V.RandomHorizontalFlip(), ["image", getattr(hr, target)("x")])) == []
    # A mask of two columns.
    assert said_of(hr.Numpy({"x": np.zeros((3, 5, 2), np.uint8)}).map(V.RandomHorizontalFlip(), "x")) == []


def test_a_warning_may_be_made_an_error(photos: pathlib.Path):
    dataset = hr.ImageFolder(photos).map([V.Decode(), V.Normalize(0.3, 0.3)], "image")
    with warnings.catch_warnings():
        warnings.simplefilter("error", hr.PipelineWarning)
        for _ in range(2):
            with pytest.raises(hr.PipelineWarning, match="Rescale"):
                next(iter(dataset))


def test_a_crop_after_the_channels_is_refused(photos: pathlib.Path):
    dataset = hr.ImageFolder(photos).map([V.Decode(), V.HWC2CHW()], "image").project(["image"]).rename({"image": "x"})
    with pytest.raises(
        hr.GraphError, match=r"RandomCrop: .* HWC2CHW made column \"x\" \(C, H, W\); put it before HWC2CHW"
    ):
        assert dataset.map(V.RandomCrop(8), "x").schema


def test_an_image_of_palette_indices_keeps_them(tmp_path: pathlib.Path):
    import PIL.Image

    mask = PIL.Image.fromarray(np.arange(48, dtype=np.uint8).reshape(6, 8) % 7, "P")
    mask.putpalette(list(range(21)))
    mask.save(tmp_path / "mask.png")
    dataset = hr.Files(str(tmp_path / "*.png")).map([V.Decode(mode="unchanged"), V.CenterCrop((4, 4))], "data")
    np.testing.assert_array_equal(next(iter(dataset))["data"][..., 0], np.asarray(mask)[1:5, 2:6])
