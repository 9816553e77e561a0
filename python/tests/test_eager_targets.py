"""Kernels called on an image and what follows it: the same bytes as in a pipeline."""

import copy
import io
import pathlib
import pickle
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

import headrace as hr
from headrace import _engine
from headrace import vision as V
from headrace._kernels.chooser import Chooser

ROWS, HEIGHT, WIDTH = 24, 30, 44
DRAWS = np.random.default_rng(8)
IMAGES = DRAWS.integers(0, 256, (ROWS, HEIGHT, WIDTH, 3), np.uint8)
MASKS = DRAWS.integers(0, 200, (ROWS, HEIGHT, WIDTH), np.uint8)
CORNERS = DRAWS.integers(0, 20, (ROWS, 5, 2))
BOXES = np.concatenate([CORNERS, CORNERS + DRAWS.integers(5, 12, (ROWS, 5, 2))], -1).astype(np.float32)
LABELS = np.arange(ROWS * 5).reshape(ROWS, 5)
FOLLOWED = ["image", hr.mask("mask", fill=7), hr.boxes("boxes", labels="labels")]
AMONG = V.RandomIoUCrop(min_scale=0.5)


def in_order(kernels: Any) -> Iterator[Any]:
    """A kernel that chooses before those that it holds."""
    for kernel in kernels:
        yield kernel
        if isinstance(kernel, Chooser):
            for branch in kernel._branches:
                yield from in_order(branch)


def in_a_pipeline(kernels: Any, columns: Any, arrays: dict[str, Any], seed: int, folder: pathlib.Path) -> list[Any]:
    """With salt i for kernel i. The first one draws nothing, as 0 would mean that there is no salt yet."""
    text = hr.Numpy(arrays).map(kernels, columns).to_json()
    salts = list(dict.fromkeys(re.findall(r'"salt": "(\d+)"', text)))
    random = [i for i, kernel in enumerate(in_order(kernels)) if "seed" in kernel._attributes]
    given = dict(zip(salts, random, strict=True))
    graph = folder / "graph.json"
    graph.write_text(re.sub(r'"salt": "(\d+)"', lambda found: f'"salt": "{given[found[1]]}"', text))
    with hr.load(graph, {"arrays#0": arrays}).iterate(seed=seed) as rows:
        return [{name: np.array(value) for name, value in row.items()} for row in rows]


@pytest.mark.parametrize(
    "kernels",
    [
        [V.RandomResizedCrop(20), V.RandomHorizontalFlip(), V.ColorJitter(0.4), V.ToFloat(), V.HWC2CHW()],
        [V.RandomZoomOut(fill=3), AMONG, V.RandomHorizontalFlip(), V.SanitizeBoxes(6), V.Resize((16, 16))],
        [AMONG, V.RandomAffine(20, fill=2)],
        [V.RandomApply([V.RandomCrop(25), V.RandomApply(V.Invert())]), V.RandomOrder([V.Resize(9), V.RandomCrop(9)])],
        [
            V.RandomOrder([V.SanitizeBoxes(7), V.RandomVerticalFlip(), AMONG, V.RandomApply([V.RandomCrop(12)])]),
            V.RandomChoice([[AMONG, V.RandomHorizontalFlip()], V.Invert(), V.SanitizeBoxes(9)]),
            V.RandomPerspective(p=1),
        ],
    ],
)
def test_a_call_gives_what_a_pipeline_gives(kernels, tmp_path):
    kernels = [V.Invert(), *kernels]
    arrays = {"image": IMAGES, "mask": MASKS, "boxes": BOXES, "labels": LABELS}
    call = hr.compose(kernels, FOLLOWED, seed=6)
    names = list(arrays)
    kept = set()
    for key, row in enumerate(in_a_pipeline(kernels, FOLLOWED, arrays, 6, tmp_path)):
        results = call(*(arrays[name][key] for name in names))
        assert type(results) is tuple and len(results) == 4
        for name, result in zip(names, results, strict=True):
            assert result.dtype == row[name].dtype
            np.testing.assert_array_equal(result, row[name], err_msg=f"{name} of row {key}")
        kept.add(len(results[3]))
    assert kept == {5} or any(each._name == "SanitizeBoxes" or each is AMONG for each in in_order(kernels))


@pytest.mark.parametrize("kernels", [[V.RandomCrop(25), AMONG, V.RandomApply([V.SanitizeBoxes(7), V.Resize(9)])]])
def test_masks_of_boxes_follow(kernels, tmp_path):
    kernels = [V.Invert(), *kernels]
    # Three, so that they look like an image whose channels come first.
    objects = DRAWS.integers(0, 9, (ROWS, 3, HEIGHT, WIDTH), np.uint8)
    columns = ["image", hr.boxes("boxes", labels="labels", masks="objects")]
    arrays = {"image": IMAGES, "boxes": BOXES[:, :3], "labels": LABELS[:, :3], "objects": objects}
    call, planes = (hr.compose(kernels, columns, seed=6) for _ in range(2))
    kept = set()
    for key, row in enumerate(in_a_pipeline(kernels, columns, arrays, 6, tmp_path)):
        results = call(*(array[key] for array in arrays.values()))
        for name, result in zip(arrays, results, strict=True):
            assert result.dtype == row[name].dtype
            np.testing.assert_array_equal(result, row[name], err_msg=f"{name} of row {key}")
        kept.add(len(results[3]))
        first = planes(
            IMAGES[key].transpose(2, 0, 1), *(array[key] for array in list(arrays.values())[1:]), layout="CHW"
        )
        np.testing.assert_array_equal(first[3], row["objects"])
    assert len(kept) > 1
    with pytest.raises(hr.DataError, match='column "objects" is uint8 .2, 30, 44., and column "boxes" has 3'):
        call(IMAGES[0], BOXES[0, :3], LABELS[0, :3], objects[0, :2])


def png(array: np.ndarray) -> bytes:
    target = io.BytesIO()
    Image.fromarray(array).save(target, "PNG")
    return target.getvalue()


def test_what_is_encoded_is_decoded(tmp_path):
    kernels = [V.Decode(), V.RandomCrop(20), V.Resize(7)]
    images, masks = np.empty(ROWS, object), np.empty(ROWS, object)
    images[:], masks[:] = list(map(png, IMAGES)), list(map(png, MASKS))
    columns = ["image", hr.mask("mask")]
    call, of_arrays = (hr.compose(kernels, columns, seed=2) for _ in range(2))
    for key, row in enumerate(in_a_pipeline(kernels, columns, {"image": images, "mask": masks}, 2, tmp_path)):
        image, mask = call(images[key], masks[key])
        np.testing.assert_array_equal(image, row["image"])
        np.testing.assert_array_equal(mask, row["mask"])
        _, plain = of_arrays(images[key], MASKS[key])
        np.testing.assert_array_equal(plain, row["mask"][..., 0])


def test_columns_keep_their_order_and_formats():
    """Labels follow their boxes, wherever these are named."""
    centre = BOXES.reshape(ROWS, 5, 2, 2).mean(2)
    written = np.concatenate([centre, BOXES[..., 2:] - BOXES[..., :2]], -1) / ([WIDTH, HEIGHT] * 2)
    boxes = hr.boxes("b", format="cxcywh", relative=True, labels=["first", "second"])
    call = hr.compose(V.RandomHorizontalFlip(1), [boxes, "x", hr.mask("m"), "y"])
    found, first, second, x, mask, y = call(written[0], LABELS[0], LABELS[1], IMAGES[0], MASKS[0], IMAGES[1])
    expected = written[0].copy()
    expected[:, 0] = 1 - expected[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    for result, given in ((x, IMAGES[0]), (y, IMAGES[1]), (mask, MASKS[0])):
        np.testing.assert_array_equal(result, given[:, ::-1])
    np.testing.assert_array_equal([first, second], LABELS[:2])


def test_results_are_the_callers():
    values = [IMAGES[0].copy(), MASKS[0].copy(), BOXES[0].copy(), LABELS[0].copy()]
    for kernels in (V.Invert(), V.RandomCrop((HEIGHT, WIDTH)), V.RandomHorizontalFlip(0), V.SanitizeBoxes(), AMONG):
        for result in hr.compose(kernels, FOLLOWED)(*values):
            assert not any(np.shares_memory(result, value) for value in values)
            result[:] = 1
    for value, expected in zip(values, (IMAGES[0], MASKS[0], BOXES[0], LABELS[0]), strict=True):
        np.testing.assert_array_equal(value, expected)


def test_what_goes_in_comes_out():
    mask = Image.fromarray(MASKS[0])
    mask.putpalette(list(range(256)) * 3)
    assert mask.mode == "P"
    call = hr.compose([V.RandomCrop(20), V.RandomHorizontalFlip()], FOLLOWED, seed=1)
    same = hr.compose([V.RandomCrop(20), V.RandomHorizontalFlip()], FOLLOWED, seed=1)
    image, cut, boxes, labels = call(Image.fromarray(IMAGES[0]), mask, BOXES[0], LABELS[0])
    expected = same(IMAGES[0], MASKS[0], BOXES[0], LABELS[0])
    assert isinstance(image, Image.Image) and isinstance(cut, Image.Image)
    assert cut.mode == "P" and cut.getpalette() == mask.getpalette()
    for result, array in zip((image, cut, boxes, labels), expected, strict=True):
        np.testing.assert_array_equal(result, array)
    with pytest.raises(hr.GraphError, match="mode P"):
        call(mask, mask, BOXES[0], LABELS[0])


@pytest.mark.torch
def test_boxes_that_are_a_tensor_of_torch_give_one():
    torch = pytest.importorskip("torch")
    call = hr.compose([V.RandomCrop(20), V.RandomHorizontalFlip()], FOLLOWED, seed=1)
    assert isinstance(call(IMAGES[0], MASKS[0], torch.from_numpy(BOXES[0]), LABELS[0])[2], torch.Tensor)


def test_channels_first_are_those_of_images():
    """Labels of three axes stay as they are."""
    planes = np.ascontiguousarray(IMAGES[0].transpose(2, 0, 1))
    labels = np.zeros((5, 3, 40), np.int64)
    call = hr.compose(V.RandomHorizontalFlip(1), FOLLOWED)
    image, mask, boxes, keypoints = call(planes, MASKS[0], BOXES[0], labels, layout="CHW")
    np.testing.assert_array_equal(image, planes[..., ::-1])
    np.testing.assert_array_equal(mask, MASKS[0][:, ::-1])
    np.testing.assert_array_equal(boxes[:, 0], WIDTH - BOXES[0, :, 2])
    assert keypoints.shape == labels.shape
    with pytest.raises(hr.GraphError, match='say layout="CHW"'):
        call(planes, MASKS[0], BOXES[0], labels)
    for columns, others in ((["image", hr.mask("mask")], [MASKS[0]]), (["image", "other"], [IMAGES[0]])):
        with pytest.raises(hr.GraphError, match='say layout="CHW"(.|\n)*in: Resize'):
            hr.compose([V.ToFloat(), V.RandomApply([V.Resize(9)])], columns)(planes, *others)


def test_draws_are_those_of_seeds_and_generators():
    columns = ["image", hr.boxes("boxes")]
    call = hr.compose(V.RandomCrop(12), columns, seed=3)
    first = [call(IMAGES[0], BOXES[0]) for _ in range(3)]
    for again in (pickle.loads(pickle.dumps(call)), copy.deepcopy(call)):
        for image, boxes in first:
            np.testing.assert_array_equal(np.concatenate([each.ravel() for each in again(IMAGES[0], BOXES[0])]),
                                          np.concatenate([image.ravel(), boxes.ravel()]))  # fmt: skip
    one, other = (call(IMAGES[0], BOXES[0], rng=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


def test_boxes_that_are_named_are_not_doubted(recwarn):
    hr.compose(V.RandomHorizontalFlip(1), ["image", hr.boxes("boxes")])(IMAGES[0], BOXES[0])
    assert not recwarn.list
    with pytest.warns(hr.PipelineWarning, match="as boxes are"):
        hr.compose(V.RandomHorizontalFlip(1), ["image", "boxes"])(IMAGES[0], BOXES[0])


@pytest.mark.parametrize(
    "kernels, columns, message",
    [
        (V.AutoAugment(), FOLLOWED, 'compose: AutoAugment has no rule for masks, such as those of column "mask"'),
        (V.SlicePatches(), FOLLOWED, "or call it by itself if it moves nothing"),
        (V.FiveCrop(4), ["image"], "FiveCrop takes or makes several columns, .*; call it by itself"),
        (V.Invert(), [hr.boxes("b")], 'compose: "b" follows an image'),
        (V.Invert(), ["a", hr.mask("a")], 'compose: columns names "a" twice'),
        (V.Invert(), [], "compose: columns is empty"),
        (V.Invert(), ["a", 4], "compose: columns is 4; it must be a text"),
        (V.SanitizeBoxes(), ["a"], "compose: SanitizeBoxes changes boxes, and there are none"),
        (V.RandomHorizontalFlip(hr.parameter("p", default=0.5)), FOLLOWED, "whose value depends on an epoch"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(kernels, columns, message):
    with pytest.raises(hr.GraphError, match=message):
        hr.compose(kernels, columns)


def test_errors_speak_of_the_call():
    call = hr.compose(V.RandomHorizontalFlip(), FOLLOWED)
    with pytest.raises(hr.GraphError, match=r"takes 4 values \(image, mask, boxes, labels\), and got 3"):
        call(IMAGES[0], MASKS[0], BOXES[0])
    with pytest.raises(hr.DataError, match="the mask has height 9 and width 44, but its image has height 30"):
        call(IMAGES[0], MASKS[0, :9], BOXES[0], LABELS[0])
    with pytest.raises(hr.DataError, match='column "labels" is int64 .4,., and column "boxes" has 5; it needs one'):
        call(IMAGES[0], MASKS[0], BOXES[0], LABELS[0, :4])
    with pytest.raises(hr.GraphError, match="hr.compose"):
        V.RandomIoUCrop()(IMAGES[0])


def test_marks_are_those_of_the_steps_that_are_drawn():
    chain = _engine.EagerChain([7, ("RandomApply", {"p": 1.0}, [[3]]), ("RandomApply", {"p": 0.0}, [[4]])])
    assert chain.marks(0, 0) == [7, 3]
    (value,) = chain((IMAGES[0],), 0, 0, True)
    np.testing.assert_array_equal(value, IMAGES[0])
