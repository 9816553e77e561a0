"""Clips, (T, H, W, C): every kernel of images gives each frame what it gives an image of the row."""

import ast
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from headrace._graph.declared import modules
from tests.front import kernel_of
from tests.pipelines import OPERATORS

DRAWS = np.random.default_rng(5)
ROWS, FRAMES, HEIGHT, WIDTH = 4, 3, 60, 80
CLIPS = DRAWS.integers(0, 256, (ROWS, FRAMES, HEIGHT, WIDTH, 3), np.uint8)
MASKS = DRAWS.integers(0, 9, (ROWS, FRAMES, HEIGHT, WIDTH), np.uint8)
BOXES = np.tile(np.float32([[4, 6, 30, 40], [20, 10, 70, 55]]), (ROWS, 1, 1))
POINTS = np.tile(np.float32([[4, 6], [30, 40], [79, 1]]), (ROWS, 1, 1))
STEPS = [V.RandomCrop(40), V.RandomHorizontalFlip(), V.RandomVerticalFlip(), V.ColorJitter(0.4), V.HWC2CHW()]

IMAGES = {each["name"] for each in modules() if each["images"]}
OF_IMAGES = [
    each
    for each in OPERATORS
    if each["python_module"] in IMAGES and each["sample"]["inputs"] == ["image"] and not each["chooses"]
]
# They make bytes of one image.
REFUSED = {"EncodeJpeg", "EncodePng"}
# On arrays of any axes; the noise is of each value.
ANY_AXES = {"GaussianNoise", "RandomRescale", "Rescale", "ToFloat"}


def read(columns: dict[str, Any], kernels: Any, names: Any, output: Any = None, **options: Any) -> list[dict[str, Any]]:
    return list(rows_of(columns).map(kernels, names, output).iterate(seed=3, **options))


def rows_of(columns: dict[str, Any]) -> hr.Dataset:
    return hr.Numpy({name: np.ascontiguousarray(array) for name, array in columns.items()})


def generated(types: Any) -> hr.Dataset:
    return hr.Generator(lambda: iter([(clip,) for clip in CLIPS]), types)


def assert_frames(kernels: Any, found: list[dict[str, Any]], outputs: list[str]) -> None:
    """What `found` has for clips is what single images give, in a pipeline for each frame."""
    for frame in range(FRAMES):
        alone = read({"x": CLIPS[:, frame]}, kernels, "x", outputs)
        for clip, image in zip(found, alone, strict=True):
            for name in outputs:
                assert clip[name].dtype == image[name].dtype
                np.testing.assert_array_equal(clip[name][frame], image[name])


@pytest.mark.parametrize("operator", OF_IMAGES, ids=lambda operator: operator["name"])
def test_every_kernel_of_images_takes_clips_or_says_no(operator):
    given = {name: ast.literal_eval(value) for name, value in operator["sample"]["attributes"].items()}
    kernel, name = kernel_of(operator)(**given), operator["name"]
    outputs = ["x"] if operator["outputs"] == 1 else [f"x{i}" for i in range(operator["outputs"])]
    if name in REFUSED:
        with pytest.raises(hr.GraphError, match="needs an image.*got uint8 .3, 60, 80, 3."):
            read({"x": CLIPS}, kernel, "x")
        return
    found = read({"x": CLIPS}, kernel, "x", outputs)
    if name == "GaussianNoise":
        assert len(found) == ROWS and found[0]["x"].shape == CLIPS[0].shape
        still = read({"x": np.zeros_like(CLIPS)}, kernel, "x", outputs)[0]["x"]
        assert not np.array_equal(still[0], still[1])
        return
    assert operator["clips"] == ("none" if name in ANY_AXES else "by_frame")
    assert_frames(kernel, found, outputs)


def test_a_list_of_kernels_draws_once_for_a_clip():
    outcomes = [read({"x": CLIPS}, STEPS, "x", **options) for options in (
        {}, {"optimize": False}, {"executor": "pull"}, {"workers": 1}, {"window": 1},
    )]  # fmt: skip
    assert_frames(STEPS, outcomes[0], ["x"])
    for other in outcomes[1:]:
        for row, expected in zip(other, outcomes[0], strict=True):
            np.testing.assert_array_equal(row["x"], expected["x"])
    assert outcomes[0][0]["x"].shape == (FRAMES, 3, 40, 40)
    joined = next(hr.Numpy({"x": CLIPS}).map(STEPS, "x").batch(ROWS).iterate(seed=3))["x"]
    np.testing.assert_array_equal(joined, [row["x"] for row in outcomes[0]])


def test_shapes_are_inferred():
    def shape(kernels: Any, types: Any) -> Any:
        return hr.Generator(lambda: iter([]), {"x": types}).map(kernels, "x").schema["x"][1]

    assert shape(STEPS, ("uint8", (8, 60, 80, 3))) == (8, 3, 40, 40)
    assert shape(STEPS, ("uint8", (None, None, None, 3))) == (None, 3, 40, 40)
    assert shape(V.Resize((4, 5)), "uint8") is None
    assert shape(V.PixelMask(), ("uint8", (8, 60, 80, 3))) == (8, 60, 80)


@pytest.mark.parametrize("types", [{"x": ("uint8", (None, None, None, 3))}, {"x": "uint8"}, ["x"]])
def test_a_row_decides_where_shapes_are_not_known(types):
    expected = read({"x": CLIPS}, STEPS, "x")
    found = list(generated(types).map(STEPS, "x").iterate(seed=3))
    assert [row["x"].shape for row in found] == [row["x"].shape for row in expected]
    mixed = hr.Generator(lambda: iter([(CLIPS[0],), (CLIPS[0, 0],), (CLIPS[0, :2],)]), ["x"])
    shapes = [row["x"].shape for row in mixed.map(STEPS, "x")]
    assert shapes == [(3, 3, 40, 40), (3, 40, 40), (2, 3, 40, 40)]


def test_a_clip_needs_frames_of_a_size_that_fits():
    with pytest.raises(hr.GraphError, match="got a clip without frames: uint8 .0, 60, 80, 3."):
        assert rows_of({"x": CLIPS[:, :0]}).map(V.RandomCrop(9), "x").schema
    with pytest.raises(hr.GraphError, match=r"larger than the image .*\(a frame of uint8 \(3, 60, 80, 3\)\)"):
        assert hr.Numpy({"x": CLIPS}).map(V.RandomCrop(90), "x").schema
    unlike = [CLIPS[0], CLIPS[1, :, :30], CLIPS[2]]
    rows = hr.Generator(lambda: iter([(clip,) for clip in unlike]), ["x"]).map(V.RandomCrop(40), "x")
    with pytest.raises(hr.DataError, match=r"larger than the image \(30, 80\).*\(frame 0 of 3\)"):
        list(rows)
    assert len(list(rows.on_error("skip"))) == 2
    dark = CLIPS[0].astype(np.float32) / 255
    dark[2, 5, 5, 0] = 7
    with pytest.raises(hr.DataError, match="frame 2 of 3"):
        read({"x": dark[None]}, V.Invert(), "x")


def test_above_batch_kernels_of_images_are_refused():
    images = rows_of({"x": CLIPS[:, 0]})
    again = rows_of({"x": CLIPS}).batch(2).unbatch().batch(3)
    for joined in (images.batch(2), images.window(2), again):
        rank = len(joined.schema["x"][1])
        message = "in which rows are joined; write its map before batch" if rank == 4 else "needs an image"
        with pytest.raises(hr.GraphError, match=message):
            assert joined.map(V.RandomHorizontalFlip(), "x").schema
    unknown = hr.Generator(lambda: iter([(image,) for image in CLIPS[:, 0]]), ["x"]).batch(2)
    with pytest.raises(hr.Error, match="needs an image"):
        list(unknown.map(V.RandomHorizontalFlip(), "x"))
    apart = list(unknown.unbatch().map(V.HorizontalFlip(), "x"))
    np.testing.assert_array_equal(apart[1]["x"], CLIPS[1, 0, :, ::-1])
    # Arrays of any axes, as ever.
    assert next(iter(images.batch(2).map([V.ToFloat(), T.TypeCast("float16")], "x")))["x"].shape == (2, 60, 80, 3)


FOLLOWERS: list[list[Any]] = [
    [V.RandomCrop(40), V.RandomHorizontalFlip(), V.ColorJitter(0.3)],
    [V.RandomResizedCrop(32), V.RandomApply([V.RandomVerticalFlip(), V.RandomRotation(20)])],
    [V.RandomIoUCrop(), V.RandomZoomOut(fill=7), V.HWC2CHW()],
]


@pytest.mark.parametrize("kernels", FOLLOWERS)
def test_masks_boxes_and_keypoints_follow_a_clip(kernels):
    columns = ["x", hr.mask("mask", fill=3), hr.mask("still"), hr.boxes("boxes"), hr.keypoints("points")]
    given = {"x": CLIPS, "mask": MASKS, "still": MASKS[:, 1], "boxes": BOXES, "points": POINTS}
    found = read(given, kernels, columns)
    for frame in range(FRAMES):
        alone = read(given | {"x": CLIPS[:, frame], "mask": MASKS[:, frame]}, kernels, columns)
        for clip, image in zip(found, alone, strict=True):
            for name in ("x", "mask"):
                np.testing.assert_array_equal(clip[name][frame], image[name], err_msg=name)
            for name in ("still", "boxes", "points"):
                np.testing.assert_array_equal(clip[name], image[name], err_msg=name)


def test_masks_of_boxes_are_those_of_all_frames():
    given = {"x": CLIPS, "boxes": BOXES, "masks": MASKS[:, :2]}
    columns = ["x", hr.boxes("boxes", masks="masks")]
    kernels = [V.RandomCrop(40), V.RandomHorizontalFlip()]
    for clip, image in zip(
        read(given, kernels, columns), read(given | {"x": CLIPS[:, 0]}, kernels, columns), strict=True
    ):
        np.testing.assert_array_equal(clip["masks"], image["masks"])
        np.testing.assert_array_equal(clip["x"][0], image["x"])


def test_a_mask_of_a_clip_may_have_channels():
    found = read({"x": CLIPS, "mask": CLIPS[..., :1]}, [V.RandomCrop(40), V.VerticalFlip()], ["x", hr.mask("mask")])
    for row in found:
        np.testing.assert_array_equal(row["mask"], row["x"][..., :1])


def pairs(masks: Any, types: Any) -> hr.Dataset:
    rows = hr.Generator(lambda: iter(zip(CLIPS, masks, strict=False)), types)
    return rows.map(V.RandomCrop(40), ["x", hr.mask("mask")])


def test_masks_that_do_not_fit_are_refused():
    known = {"x": ("uint8", (None, None, None, 3)), "mask": ("uint8", (None, None, None))}
    assert next(iter(pairs(MASKS, known)))["mask"].shape == (3, 40, 40)
    with pytest.raises(hr.DataError, match="mask has 2 planes, but its clip has 3 frames"):
        list(pairs(MASKS[:, :2], known))
    with pytest.raises(hr.DataError, match="each plane of the mask has height 50"):
        list(pairs(MASKS[:, :, :50], known))
    with pytest.raises(hr.DataError, match="beside a clip.*declare the shapes of both columns"):
        list(pairs(MASKS, ["x", "mask"]))
    assert next(iter(pairs(MASKS[:, 0], ["x", "mask"])))["mask"].shape == (40, 40)
    with pytest.raises(hr.GraphError, match="mask of several frames, uint8 .3, 60, 80, 1., of one image"):
        read({"x": CLIPS[:, 0], "mask": CLIPS[..., :1]}, V.RandomCrop(9), ["x", hr.mask("mask")])


def test_planes_beside_a_clip_are_no_image():
    rows = rows_of({"x": CLIPS, "planes": MASKS, "image": CLIPS[:, 0]})
    for kernels in (V.RandomHorizontalFlip(), V.RandomApply([V.RandomCrop(9)]), [V.ToFloat(), V.HWC2CHW()]):
        with pytest.raises(hr.GraphError, match=r'"planes", .*hr.mask\("planes"\)'):
            rows.map(kernels, ["x", "planes"])
    assert rows.map(V.RandomHorizontalFlip(), ["x", "image"]).schema
    assert rows.map(V.ToFloat(), ["x", "planes"]).schema


def test_a_call_takes_a_clip():
    crop, again = V.RandomCrop(40, seed=5), V.RandomCrop(40, seed=5)
    composed, of_frames = hr.compose(STEPS, seed=8), hr.compose(STEPS, seed=8)
    for clip in CLIPS:
        found = crop(clip)
        np.testing.assert_array_equal(found, again(*clip))
        planes = composed(np.moveaxis(clip, -1, 1), layout="CHW")
        np.testing.assert_array_equal(planes, of_frames(*clip))
    row = next(hr.Numpy({"x": CLIPS}).map(V.RandomCrop(40, seed=5), "x").iterate())["x"]
    assert row.shape == (FRAMES, 40, 40, 3)
    with pytest.raises(hr.GraphError, match='channels first: uint8 .3, 3, 60, 80.; if so, say layout="CHW"'):
        crop(np.moveaxis(CLIPS[0], -1, 1))
    with pytest.raises(hr.GraphError, match="needs an image"):
        crop(CLIPS)


def test_a_call_takes_a_clip_and_its_mask():
    columns = ["x", hr.mask("mask"), hr.boxes("boxes")]
    kernels = [V.RandomCrop(40), V.RandomHorizontalFlip()]
    call, planes = (hr.compose(kernels, columns, seed=2) for _ in range(2))
    alone = [hr.compose(kernels, columns, seed=2) for _ in range(FRAMES)]
    for clip, mask, boxes in zip(CLIPS, MASKS, BOXES, strict=True):
        found = call(clip, mask, boxes)
        turned = planes(np.moveaxis(clip, -1, 1), mask, boxes, layout="CHW")
        np.testing.assert_array_equal(np.moveaxis(turned[0], 1, -1), found[0])
        np.testing.assert_array_equal(turned[1], found[1])
        for frame in range(FRAMES):
            image, plane, moved = alone[frame](clip[frame], mask[frame], boxes)
            np.testing.assert_array_equal(found[0][frame], image)
            np.testing.assert_array_equal(found[1][frame], plane)
            np.testing.assert_array_equal(found[2], moved)
    with pytest.raises(hr.GraphError, match="seems to be a mask of the frames of uint8"):
        V.RandomHorizontalFlip()(CLIPS[0], MASKS[0])


def test_a_call_of_kernels_of_whole_batches_takes_no_clip():
    images, labels = CLIPS[0].astype(np.float32), np.arange(3)
    mixed, _ = V.MixUp(num_classes=3)(images, labels)
    assert mixed.shape == images.shape
    with pytest.raises(hr.GraphError, match="needs an image"):
        hr.compose([V.MixUp(num_classes=3), V.RandomHorizontalFlip()])(images, labels)


@pytest.mark.torch
def test_a_tensor_of_torch_may_be_a_clip():
    torch = pytest.importorskip("torch")
    clip = torch.from_numpy(np.ascontiguousarray(np.moveaxis(CLIPS[0], -1, 1)))
    found = V.CenterCrop(40)(clip, layout="CHW")
    np.testing.assert_array_equal(found.numpy(), clip.numpy()[:, :, 10:50, 20:60])
