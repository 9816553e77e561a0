"""Masks and boxes that follow the image of their row."""

import io
import json
import re
from typing import Any

import numpy as np
import PIL.Image
import pytest
from conftest import state_after
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import headrace as hr
from headrace import _engine
from headrace import transforms as T
from headrace import vision as V
from headrace._datasets.base import ordered
from headrace._graph import declared
from headrace._kernels import target_rules
from headrace._kernels.target_rules import leaves_targets, looks_at_boxes, moves_boxes, moves_keypoints
from tests.affine_matrix import affine_matrix

HEIGHT, WIDTH = 30, 44
ROWS = 12
DRAWS = np.random.default_rng(5)
# Where each pixel is: x, y, and 1.
PLACES = np.stack([*np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT)), np.ones((HEIGHT, WIDTH))], -1).astype(np.float32)


def some_boxes(count: int, draws: np.random.Generator = DRAWS) -> np.ndarray:
    """Corners on pixels, of at least 4 pixels a side."""
    left, top = draws.integers(0, WIDTH - 4, count), draws.integers(0, HEIGHT - 4, count)
    right, bottom = draws.integers(left + 4, WIDTH + 1), draws.integers(top + 4, HEIGHT + 1)
    return np.stack([left, top, right, bottom], -1).astype(np.float64)


BOXES = some_boxes(ROWS * 5).reshape(ROWS, 5, 4)
LABELS = np.arange(ROWS * 5).reshape(ROWS, 5)
MASKS = DRAWS.integers(0, 9, (ROWS, HEIGHT, WIDTH), np.int32)
IMAGES = DRAWS.integers(0, 256, (ROWS, HEIGHT, WIDTH, 3), np.uint8)


def rows(**columns: Any) -> hr.Dataset:
    return hr.Numpy(columns)


def read(dataset: hr.Dataset, **options: Any) -> list[dict[str, Any]]:
    with dataset.iterate(**options) as iterator:
        return [{name: np.array(value) for name, value in row.items()} for row in iterator]


def moved(kernels: Any, image: np.ndarray = PLACES, boxes: np.ndarray = BOXES, **stated: Any) -> list[dict[str, Any]]:
    given = rows(image=np.repeat(image[None], len(boxes), 0), boxes=boxes)
    return read(given.map(kernels, ["image", hr.boxes("boxes", **stated)]), seed=3)


def clamped(boxes: np.ndarray, height: int, width: int) -> np.ndarray:
    return np.clip(boxes, 0, [width, height, width, height])


# ---- masks ----


def test_a_mask_follows_to_the_pixel():
    steps = [V.RandomCrop((20, 30), padding=3, fill=7), V.RandomHorizontalFlip(), V.RandomVerticalFlip()]
    dataset = rows(image=np.repeat(PLACES[None], ROWS, 0), mask=MASKS)
    for row, mask in zip(read(dataset.map(steps, ["image", hr.mask("mask", fill=-1)])), MASKS, strict=True):
        x, y, inside = np.moveaxis(row["image"], -1, 0).astype(int)
        outside = (x == 7) & (y == 7) & (inside == 7)
        expected = np.where(outside, -1, mask[np.where(outside, 0, y), np.where(outside, 0, x)])
        np.testing.assert_array_equal(row["mask"], expected)
        assert row["mask"].dtype == np.int32


@pytest.mark.parametrize(
    "kernel",
    [
        V.Resize((17, 51), interpolation="bicubic"),
        V.RandomResizedCrop(25, antialias=False),
        V.RandomAffine(40, translate=(0.1, 0.2), interpolation="bilinear", fill=3),
        V.RandomPerspective(p=1, fill=2),
        V.ElasticTransform(interpolation="bilinear"),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_a_mask_takes_the_nearest_pixel(kernel):
    nearest = {"interpolation": "nearest", "antialias": True, "fill": 250}
    own = type(kernel)(**dict(kernel._attributes) | {k: v for k, v in nearest.items() if k in kernel._attributes})
    masks = MASKS.astype(np.uint8)
    followed = read(rows(image=IMAGES, mask=masks).map(kernel, ["image", hr.mask("mask", fill=250)]), seed=9)
    alone = read(rows(mask=masks).map(own, "mask"), seed=9)
    for row, expected in zip(followed, alone, strict=True):
        np.testing.assert_array_equal(row["mask"], expected["mask"])
        assert row["mask"].shape == row["image"].shape[:2]
    image = read(rows(image=IMAGES).map(kernel, "image"), seed=9)
    for row, expected in zip(followed, image, strict=True):
        np.testing.assert_array_equal(row["image"], expected["image"])


def test_values_of_a_mask_stay():
    steps = [
        V.RandomHorizontalFlip(),
        V.ColorJitter(0.5),
        V.GaussianBlur(3),
        V.RandomErasing(1),
        V.ToFloat(),
        V.HWC2CHW(),
    ]
    dataset = rows(image=IMAGES, mask=MASKS)
    for row, mask in zip(read(dataset.map(steps, ["image", hr.mask("mask")])), MASKS, strict=True):
        assert row["image"].shape == (3, HEIGHT, WIDTH)
        assert any(np.array_equal(row["mask"], way) for way in (mask, mask[:, ::-1]))


def png(pixels: np.ndarray, palette: bool = False) -> bytes:
    image = PIL.Image.fromarray(pixels)
    if palette:
        image = PIL.Image.fromarray(pixels, "P")
        image.putpalette(list(range(60)))
    target = io.BytesIO()
    image.save(target, "PNG")
    return target.getvalue()


def encoded(values: list[bytes]) -> np.ndarray:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def test_an_encoded_mask_is_decoded_as_what_it_holds():
    masks = MASKS.astype(np.uint8)
    dataset = rows(image=encoded(list(map(png, IMAGES))), mask=encoded([png(mask, True) for mask in masks]))
    steps = [V.Decode(), V.RandomCrop((20, 30)), V.RandomHorizontalFlip()]
    plain = rows(image=IMAGES, mask=masks[..., None])
    expected = read(plain.map(steps[1:], ["image", "mask"]), seed=2)
    for optimize in (True, False):
        found = read(dataset.map(steps, ["image", hr.mask("mask")]), seed=2, optimize=optimize)
        for row, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(row["image"], other["image"])
            np.testing.assert_array_equal(row["mask"], other["mask"])


def test_a_mask_that_is_an_image_needs_no_decoding():
    dataset = rows(image=encoded(list(map(png, IMAGES))), mask=MASKS)
    steps = [V.Decode(), V.RandomCrop((20, 30)), V.RandomHorizontalFlip()]
    expected = read(rows(image=IMAGES, mask=MASKS).map(steps[1:], ["image", "mask"]), seed=2)
    assert_equal(read(dataset.map(steps, ["image", hr.mask("mask")]), seed=2), expected)


def test_decoding_joins_what_follows_beside_targets():
    dataset = rows(image=encoded(list(map(png, IMAGES))), mask=encoded([png(mask) for mask in MASKS.astype(np.uint8)]))
    dataset = dataset.zip(rows(boxes=BOXES))
    steps = [V.Decode(), V.RandomResizedCrop(16), V.RandomHorizontalFlip(), V.ToFloat(), V.HWC2CHW()]
    text = str(dataset.map(steps, ["image", hr.mask("mask"), hr.boxes("boxes")]).explain(passes=True))
    alone = str(dataset.map(steps, "image").explain(passes=True))
    fused = re.compile(r"Decode[^\n]*RandomResizedCrop[^\n]*HWC2CHW")
    assert bool(fused.search(text)) == bool(fused.search(alone))


def test_a_mask_of_another_size_is_an_error_of_its_row():
    dataset = rows(image=IMAGES, mask=MASKS[:, :20]).map(V.RandomHorizontalFlip(), ["image", hr.mask("mask")])
    with pytest.raises(hr.DataError, match="the mask has height 20 and width 44, but its image has height 30"):
        read(dataset)


# ---- boxes ----


def test_boxes_are_flipped():
    for kernel, expected in (
        (
            V.RandomHorizontalFlip(1),
            np.stack([WIDTH - BOXES[..., 2], BOXES[..., 1], WIDTH - BOXES[..., 0], BOXES[..., 3]], -1),
        ),
        (
            V.RandomVerticalFlip(1),
            np.stack([BOXES[..., 0], HEIGHT - BOXES[..., 3], BOXES[..., 2], HEIGHT - BOXES[..., 1]], -1),
        ),
    ):
        for row, boxes in zip(moved(kernel), expected, strict=True):
            np.testing.assert_array_equal(row["boxes"], boxes)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_boxes_are_cut_where_the_image_is(dtype):
    steps = [V.RandomCrop((21, 25), padding=(2, 3, 4, 5), fill=-50), V.RandomHorizontalFlip(0)]
    for row, boxes in zip(moved(steps, boxes=BOXES.astype(dtype)), BOXES, strict=True):
        # Of a pixel that is in the image.
        y, x = np.argwhere(row["image"][..., 2] == 1)[0]
        left, top = row["image"][y, x, :2] - (x, y)
        np.testing.assert_array_equal(row["boxes"], clamped(boxes - [left, top, left, top], 21, 25))
        assert row["boxes"].dtype == dtype


@pytest.mark.parametrize("format", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("relative", [False, True])
def test_formats_say_the_same(format, relative):
    first, size = BOXES[..., :2], BOXES[..., 2:] - BOXES[..., :2]
    written = {
        "xyxy": BOXES,
        "xywh": np.concatenate([first, size], -1),
        "cxcywh": np.concatenate([first + size / 2, size], -1),
    }[format]
    sides = np.array([WIDTH, HEIGHT] * 2)
    steps = [V.RandomCrop((21, 25), pad_if_needed=True), V.RandomHorizontalFlip(), V.Resize((50, 60))]
    plain = moved(steps)
    for row, other in zip(
        moved(steps, boxes=written / sides if relative else written, format=format, relative=relative),
        plain,
        strict=True,
    ):
        given = row["boxes"] * ([60, 50] * 2 if relative else 1)
        if format != "xyxy":
            start = given[:, :2] - (given[:, 2:] / 2 if format == "cxcywh" else 0)
            given = np.concatenate([start, start + given[:, 2:]], -1)
        np.testing.assert_allclose(given, other["boxes"], atol=1e-9)


def test_boxes_are_resized_with_what_is_cut():
    """The cut is read off the pixels: where the image is resized, x and y stay linear in the middle."""
    size = 64
    for row, boxes in zip(moved(V.RandomResizedCrop(size, scale=(0.2, 0.9))), BOXES, strict=True):
        x, y = row["image"][size // 2, :, 0].astype(float), row["image"][:, size // 2, 1].astype(float)
        steps = [(line[size - 12] - line[12]) / (size - 24) for line in (x, y)]
        starts = [line[12] + 0.5 - 12.5 * step for line, step in zip((x, y), steps, strict=True)]
        cut = np.round(np.array([*starts, *(step * size for step in steps)]), 2)
        np.testing.assert_allclose(cut, np.round(cut), atol=0.011)
        left, top, width, height = np.round(cut)
        expected = clamped(boxes - [left, top, left, top], int(height), int(width)) * (
            [size / width, size / height] * 2
        )
        np.testing.assert_allclose(row["boxes"], expected, atol=1e-3)


def enclosing(boxes: np.ndarray, to: Any) -> np.ndarray:
    corners = np.stack([to(boxes[..., [x, y]]) for x in (0, 2) for y in (1, 3)], -2)
    return np.concatenate([corners.min(-2), corners.max(-2)], -1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [
        (V.Rotate(33), (-33, (0, 0), 1, (0, 0), (WIDTH / 2, HEIGHT / 2))),
        (V.Rotate(-90), (90, (0, 0), 1, (0, 0), (WIDTH / 2, HEIGHT / 2))),
        (V.Rotate(100, center=(5.0, 6.0)), (-100, (0, 0), 1, (0, 0), (5, 6))),
        (V.Affine(20, (4, -3), 1.2, (10, -5)), (20, (4, -3), 1.2, (10, -5), (WIDTH / 2, HEIGHT / 2))),
        (V.Affine(-50, scale=0.5, center=(3.0, 9.0)), (-50, (0, 0), 0.5, (0, 0), (3, 9))),
    ],
    ids=repr,
)
def test_boxes_are_turned_as_torchvision_turns_them(kernel, parameters, dtype):
    matrix = affine_matrix(*parameters)
    for row, boxes in zip(moved(kernel, boxes=BOXES.astype(dtype)), BOXES, strict=True):
        expected = enclosing(boxes, lambda points: points @ matrix[:, :2].T + matrix[:, 2])
        np.testing.assert_allclose(row["boxes"], clamped(expected, HEIGHT, WIDTH), atol=1e-3)


def test_boxes_of_quarter_turns_are_exact():
    expected = {
        90: lambda left, top, right, bottom: (top, WIDTH - right, bottom, WIDTH - left),
        180: lambda left, top, right, bottom: (WIDTH - right, HEIGHT - bottom, WIDTH - left, HEIGHT - top),
        270: lambda left, top, right, bottom: (HEIGHT - bottom, left, HEIGHT - top, right),
        360: lambda left, top, right, bottom: (left, top, right, bottom),
    }
    for angle, turned in expected.items():
        for row, boxes in zip(moved(V.Rotate(angle, expand=True)), BOXES, strict=True):
            np.testing.assert_array_equal(row["boxes"], np.stack(turned(*boxes.T), -1))


def test_boxes_are_shown_from_another_point_of_view():
    start = (0.0, 0.0, 43.0, 0.0, 43.0, 29.0, 0.0, 29.0)
    end = (3.0, 2.0, 40.0, 0.0, 43.0, 25.0, 1.0, 29.0)
    points, images = np.array(start).reshape(4, 2), np.array(end).reshape(4, 2)
    equations = [
        row
        for (x, y), (u, v) in zip(points, images, strict=True)
        for row in ([x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y])
    ]
    a, b, c, d, e, f, g, h = np.linalg.solve(np.array(equations), images.ravel())

    def to(given: np.ndarray) -> np.ndarray:
        x, y = np.moveaxis(given, -1, 0)
        by = g * x + h * y + 1
        return np.stack([(a * x + b * y + c) / by, (d * x + e * y + f) / by], -1)

    for row, boxes in zip(moved(V.Perspective(start, end)), BOXES, strict=True):
        np.testing.assert_allclose(row["boxes"], clamped(enclosing(boxes, to), HEIGHT, WIDTH), atol=1e-3)


def test_boxes_move_against_the_displacements_of_their_corners():
    """torchvision's elastic_bounding_boxes, which takes the pixel after a corner, or the last one."""
    elastic = V.ElasticTransform((40.0, 70.0), (3.0, 4.0), "bilinear")
    for corners in (BOXES, BOXES - 0.25):
        for row, boxes in zip(moved(elastic, boxes=corners), corners, strict=True):
            displaced = row["image"] - PLACES
            # At the border pixels repeat, or are filled, and do not say where they come from.
            x, y, inside = np.moveaxis(row["image"], -1, 0)
            known = (x > 0) & (x < WIDTH - 1) & (y > 0) & (y < HEIGHT - 1) & (np.abs(inside - 1) < 1e-6)

            def to(points: np.ndarray, displaced: np.ndarray = displaced) -> np.ndarray:
                at = np.minimum(np.ceil(points), [WIDTH - 1, HEIGHT - 1]).astype(int)
                return points - displaced[at[..., 1], at[..., 0], :2]

            left, top, right, bottom = np.minimum(np.ceil(boxes), [WIDTH - 1, HEIGHT - 1] * 2).astype(int).T
            sure = known[top, left] & known[top, right] & known[bottom, left] & known[bottom, right]
            assert sure.any()
            expected = clamped(enclosing(boxes, to), HEIGHT, WIDTH)
            np.testing.assert_allclose(row["boxes"][sure], expected[sure], atol=1e-3)


def test_boxes_stay_where_nothing_is_displaced():
    for sigma in (0.0, 4.0):
        for row, boxes in zip(moved(V.ElasticTransform(0.0, sigma), boxes=BOXES + 0.5), BOXES + 0.5, strict=True):
            np.testing.assert_array_equal(row["boxes"], clamped(boxes, HEIGHT, WIDTH))


def test_clamping_cuts_boxes_off_at_the_image():
    """After a resizing, which does not."""
    given = BOXES + [-5.5, 2.25, 3, 9]
    resized = moved(V.Resize((HEIGHT * 2, WIDTH)), boxes=given)
    for kernels in ([V.Resize((HEIGHT * 2, WIDTH)), V.ClampBoxes()], [V.ClampBoxes(), V.Resize((HEIGHT * 2, WIDTH))]):
        for row, unclamped in zip(moved(kernels, boxes=given), resized, strict=True):
            np.testing.assert_array_equal(row["boxes"], clamped(unclamped["boxes"], HEIGHT * 2, WIDTH))
            assert not np.array_equal(row["boxes"], unclamped["boxes"])


def converted(corners: np.ndarray, format: str, relative: bool) -> np.ndarray:
    boxes = corners / ([WIDTH, HEIGHT] * 2) if relative else corners
    first, last = boxes[..., :2], boxes[..., 2:]
    return {
        "xyxy": boxes,
        "xywh": np.concatenate([first, last - first], -1),
        "cxcywh": np.concatenate([(first + last) / 2, last - first], -1),
    }[format]


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("format", ["xyxy", "xywh", "cxcywh"])
def test_boxes_leave_in_the_format_that_they_are_converted_to(format, relative):
    convert, flip = V.ConvertBoxFormat(format, relative), V.HorizontalFlip()
    corners = np.stack([row["boxes"] for row in moved(flip)])
    given = converted(BOXES, "xywh", True)
    for kernels in ([flip, convert], [convert, flip], V.Compose([V.ConvertBoxFormat("xyxy"), flip, convert])):
        rows = moved(kernels, boxes=given, format="xywh", relative=True)
        boxes = np.stack([row["boxes"] for row in rows])
        np.testing.assert_allclose(boxes, converted(corners, format, relative), atol=1e-9)
    call = hr.compose([flip, convert], ["image", hr.boxes("boxes", format="xywh", relative=True)])
    np.testing.assert_array_equal(call(PLACES, given[0])[1], boxes[0])


def test_sanitizing_removes_boxes_with_their_labels():
    steps = [V.RandomCrop(12), V.SanitizeBoxes(min_size=3.0)]
    names = np.array([[f"box {label}" for label in row] for row in LABELS])
    given = rows(image=IMAGES, boxes=BOXES, label=LABELS, name=names)
    dataset = given.map(steps, ["image", hr.boxes("boxes", labels=["label", "name"])])
    all_of = read(given.map(steps[:1], ["image", hr.boxes("boxes")]), seed=1)
    left = 0
    for row, whole in zip(read(dataset, seed=1), all_of, strict=True):
        size = whole["boxes"][:, 2:] - whole["boxes"][:, :2]
        keep = (size >= 3).all(1)
        np.testing.assert_array_equal(row["boxes"], whole["boxes"][keep])
        np.testing.assert_array_equal(row["label"], whole["label"][keep])
        assert row["name"].tolist() == [f"box {label}" for label in row["label"]]
        left += keep.sum()
    assert 0 < left < LABELS.size
    assert dataset.schema["boxes"].shape == (None, 4)
    assert dataset.schema["label"].shape == (None,)
    (batch,) = read(
        dataset.project(["boxes", "label"])
        .take(3)
        .map(T.PadEnd((5,), -1), "label")
        .map(T.PadEnd((5, 4)), "boxes")
        .batch(3)
    )
    assert batch["boxes"].shape == (3, 5, 4)


def test_labels_must_be_one_a_box():
    """In every row; one in which they are not is damaged data."""

    def kinds(number: Any) -> Any:
        return np.arange(5 if number != 3 else 4)

    dataset = rows(image=IMAGES, boxes=BOXES).zip(hr.Range(ROWS).map(kinds, "value", "kind"))
    mapped = dataset.map(V.RandomHorizontalFlip(1), ["image", hr.boxes("boxes", labels=["kind"])])
    message = (
        'column "kind" is int64 (4,), and column "boxes" has 5; it needs one element for each box, of shape (5, …)'
    )
    with pytest.raises(hr.DataError, match=rf"(?s){re.escape(message)}.*record 3"):
        read(mapped)
    assert len(read(mapped.on_error("skip"))) == ROWS - 1


# ---- masks of single boxes ----

OBJECTS = DRAWS.integers(0, 9, (ROWS, 5, HEIGHT, WIDTH), np.uint8)


def with_objects(masks: np.ndarray = OBJECTS, **more: Any) -> hr.Dataset:
    return rows(image=IMAGES, boxes=BOXES, label=LABELS, masks=masks, **more)


def objects(masks: Any = "masks") -> list[Any]:
    return ["image", hr.boxes("boxes", labels="label", masks=masks)]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize(
    "kernels",
    [
        [V.RandomCrop((20, 30), padding=3, fill=7), V.RandomHorizontalFlip(), V.RandomVerticalFlip()],
        V.Resize((17, 51), interpolation="bicubic"),
        [V.RandomAffine(40, interpolation="bilinear", fill=3), V.RandomPerspective(p=1, fill=(1, 2, 3))],
        [V.RandomZoomOut(side_range=(1.0, 2.0), fill=9), V.RandomIoUCrop(min_scale=0.5)],
        [
            V.RandomChoice([V.RandomCrop(15), [V.Resize(40), V.RandomIoUCrop()]]),
            V.RandomApply([V.Rotate(30, expand=True)]),
        ],
    ],
    ids=repr,
)
def test_each_mask_of_a_box_moves_as_a_mask(kernels, dtype):
    masks = OBJECTS.astype(dtype)
    plain = {f"plane{i}": masks[:, i] for i in range(5)}
    given = with_objects(masks, **plain)
    dataset = given.map(kernels, [*objects(), *map(hr.mask, plain)])
    found = read(dataset, seed=8)
    for row in found:
        np.testing.assert_array_equal(row["masks"], np.stack([row[name] for name in plain]))
        assert row["masks"].dtype == dtype and row["masks"].shape[1:] == row["image"].shape[:2]
    # The image is as it is without them.
    without = read(rows(image=IMAGES, boxes=BOXES, label=LABELS).map(kernels, objects(None)), seed=8)
    assert_equal([{name: row[name] for name in ("image", "boxes", "label")} for row in found], without)
    assert_equal(read(dataset, seed=8, optimize=False), found)


def test_sanitizing_removes_boxes_with_their_masks():
    """torchvision's SanitizeBoundingBoxes: one mark a box holds for boxes, labels and masks."""
    masks = np.broadcast_to(LABELS[..., None, None], (*LABELS.shape, HEIGHT, WIDTH)).astype(np.int32)
    dataset = with_objects(masks, second=masks * 2).map(
        [V.RandomCrop(12), V.SanitizeBoxes(min_size=3.0), V.RandomHorizontalFlip()], objects(["masks", "second"])
    )
    counts = set()
    for row in read(dataset, seed=1):
        counts.add(len(row["boxes"]))
        for name, times in (("masks", 1), ("second", 2)):
            expected = np.broadcast_to(times * row["label"][:, None, None], (len(row["label"]), 12, 12))
            np.testing.assert_array_equal(row[name], expected)
    assert len(counts) > 2
    assert dataset.schema["masks"].shape == (None, 12, 12)
    assert dataset.schema["masks"].dtype == "int32"


@pytest.mark.parametrize("kernel", [V.RandomObjectCrop(), V.RandomConstrainedCrop(min_crop_scales=(0.3,))], ids=repr)
def test_crops_among_boxes_remove_masks_with_boxes(kernel):
    masks = np.broadcast_to(LABELS[..., None, None], (*LABELS.shape, HEIGHT, WIDTH)).astype(np.int32)
    counts = set()
    for row in read(with_objects(masks).map(kernel, objects()), seed=2):
        counts.add(len(row["boxes"]))
        assert row["masks"].shape == (len(row["boxes"]), *row["image"].shape[:2])
        assert (row["masks"] == row["label"][:, None, None]).all()
    assert len(counts) > 1


def test_rows_without_boxes_have_no_masks():
    given = rows(
        image=IMAGES[:3],
        boxes=np.zeros((3, 0, 4)),
        label=np.zeros((3, 0)),
        masks=np.zeros((3, 0, HEIGHT, WIDTH), bool),
    )
    for kernels in ([V.RandomIoUCrop(), V.Resize((9, 8))], [V.SanitizeBoxes(), V.RandomPad(), V.CenterCrop((9, 8))]):
        for row in read(given.map(kernels, objects())):
            assert row["masks"].shape == (0, 9, 8) and row["masks"].dtype == bool


def test_numbers_of_masks_differ_from_row_to_row():
    def some(number: Any) -> Any:
        return BOXES[number, : number % 5], OBJECTS[number, : number % 5]

    types = {"boxes": ("float64", (None, 4)), "masks": ("uint8", (None, None, None))}
    given = rows(image=IMAGES).zip(hr.Range(ROWS).map(some, "value", ["boxes", "masks"], types=types))
    dataset = given.map([V.RandomCrop(20), V.Resize(9)], ["image", hr.boxes("boxes", masks="masks")])
    assert [row["masks"].shape for row in read(dataset)] == [(i % 5, 9, 9) for i in range(ROWS)]
    batch = next(iter(dataset.batch(4, ragged={"boxes": "splits", "masks": "splits"})))
    assert batch["masks"].shape == (6, 9, 9) and batch["masks_splits"].tolist() == [0, 0, 1, 3, 6]


def test_masks_of_boxes_fit_boxes_and_images():
    """In every row; one in which they do not is damaged data."""

    def made(shape: tuple[int, ...]) -> hr.Dataset:
        def masks(number: Any) -> Any:
            return np.zeros(shape if number == 3 else (5, HEIGHT, WIDTH), np.uint8)

        given = rows(image=IMAGES, boxes=BOXES, label=LABELS).zip(hr.Range(ROWS).map(masks, "value", "people"))
        return given.map(V.RandomHorizontalFlip(), objects("people"))

    for shape, message in (
        ((4, HEIGHT, WIDTH), 'column "people" is uint8 (4, 30, 44), and column "boxes" has 5; it needs one element'),
        ((5, HEIGHT, 9), 'each mask of column "people" has height 30 and width 9, but its image has height 30'),
    ):
        with pytest.raises(hr.DataError, match=rf"(?s){re.escape(message)}.*record 3"):
            read(made(shape))
        assert len(read(made(shape).on_error("skip"))) == ROWS - 1
    with pytest.raises(
        hr.DataError, match=re.escape('column "people", numbers of shape (n, H, W); got uint8 (30, 44)')
    ):
        read(made((HEIGHT, WIDTH)))


def test_masks_of_boxes_beside_an_encoded_image():
    given = rows(image=encoded(list(map(png, IMAGES))), boxes=BOXES, label=LABELS, masks=OBJECTS)
    steps = [V.RandomResizedCrop(16), V.RandomHorizontalFlip()]
    expected = read(with_objects().map(steps, objects()), seed=2)
    assert_equal(read(given.map([V.Decode(), *steps], objects()), seed=2), expected)


# ---- graphs ----

ALL = [
    V.RandomResizedCrop((20, 24)),
    V.RandomCrop((25, 40), pad_if_needed=True),
    V.RandomHorizontalFlip(),
    V.RandomVerticalFlip(),
    V.RandomRotation(30, expand=True),
    V.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10),
    V.RandomAffineResize(20, 0.1, (0.8, 1.2), (0.8, 1.25)),
    V.RandomPerspective(0.3, p=0.7),
    V.RandomZoomOut(side_range=(1.0, 2.0)),
    V.RandomShortestSize([20, 33]),
    V.RandomResize(18, 40),
    V.ScaleJitter((30, 30), (0.7, 1.3)),
    V.Resize(27),
    V.Pad((1, 2, 3, 4)),
    V.CenterSquare(),
    V.ColorJitter(0.3),
    V.GaussianBlur(3),
    V.RandomChoice([V.RandomCrop(15, pad_if_needed=True), [V.Resize(40), V.RandomGrayscale()]]),
    V.RandomApply([V.RandomHorizontalFlip(), V.Invert()]),
]


def targets(labels: bool = True) -> list[Any]:
    return ["image", hr.mask("mask"), hr.boxes("boxes", labels="label" if labels else None)]


def assert_equal(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        assert row.keys() == other.keys()
        for name in row:
            np.testing.assert_array_equal(row[name], other[name], err_msg=name)
            assert row[name].dtype == other[name].dtype


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(chain=some.lists(some.sampled_from(ALL), min_size=1, max_size=5), seed=some.integers(0, 1 << 40))
def test_any_chain_moves_all_alike(chain, seed):
    """The mask is that of a single box: what is left of it lies within the box, widened by a pixel for each step."""
    box = some_boxes(1, np.random.default_rng(seed))
    left, top, right, bottom = box[0].astype(int)
    mask = np.zeros((1, HEIGHT, WIDTH), np.uint8)
    mask[0, top:bottom, left:right] = 1
    given = rows(image=encoded([png(IMAGES[seed % ROWS])]), mask=mask, boxes=box[None], label=np.array([[7]]))
    chained = given.map(V.Decode(), "image").map(chain, targets())
    (row,) = read(chained, seed=seed)
    assert row["mask"].shape == row["image"].shape[:2]
    ys, xs = np.nonzero(row["mask"])
    if xs.size:
        wide = len(chain) * 2.5
        left, top, right, bottom = row["boxes"][0]
        assert xs.min() >= left - wide and xs.max() + 1 <= right + wide
        assert ys.min() >= top - wide and ys.max() + 1 <= bottom + wide
    again = {"optimize": False}, {"executor": "pull"}, {"workers": 1, "window": 1}
    for options in again:
        assert_equal(read(chained, seed=seed, **options), [row])
    alone = read(given.project("image").map(V.Decode(), "image").map(chain, "image"), seed=seed)
    np.testing.assert_array_equal(alone[0]["image"], row["image"])
    graph = chained._graph()
    assert _engine.Graph.parse_json(graph.json()).hash == graph.hash


@pytest.mark.parametrize("kernel", [each for each in ALL if not type(each).__name__ == "RandomApply"], ids=repr)
def test_each_kernel_alone_moves_masks_within_boxes(kernel):
    masks = np.zeros((ROWS, HEIGHT, WIDTH), np.uint8)
    for mask, box in zip(masks, BOXES[:, 0].astype(int), strict=True):
        mask[box[1] : box[3], box[0] : box[2]] = 1
    given = rows(image=IMAGES, mask=masks, boxes=BOXES[:, :1])
    for row in read(given.map(kernel, targets(False))):
        ys, xs = np.nonzero(row["mask"])
        left, top, right, bottom = row["boxes"][0]
        if xs.size:
            assert xs.min() >= left - 1 and xs.max() + 1 <= right + 1
            assert ys.min() >= top - 1 and ys.max() + 1 <= bottom + 1


def chained() -> hr.Dataset:
    given = rows(image=IMAGES, mask=MASKS, boxes=BOXES, label=LABELS).shuffle(5)
    steps = [*ALL[:3], ALL[6], ALL[16], V.SanitizeBoxes(), V.Resize((16, 16)), V.HWC2CHW()]
    return given.map(steps, targets())


def test_errors_name_what_was_written():
    for kernels, columns, written in (
        (V.Resize(9), ["image", hr.boxes("boxes", labels="label")], "map[1] hr.boxes"),
        (V.Resize(9), ["image", hr.keypoints("points", labels="label")], "map[1] hr.keypoints"),
        (V.Resize(9), ["image", hr.mask("mask")], "map[1] hr.mask"),
    ):
        given = rows(image=IMAGES, mask=MASKS[:, 1:], boxes=BOXES, points=BOXES[..., :2], label=LABELS[:, 1:]).map(
            kernels, columns
        )
        with pytest.raises(hr.Error) as caught:
            read(given)
        assert caught.value.operator == written
    # What the types say is told before the run.
    given = rows(image=IMAGES, boxes=BOXES).map(V.RandomCrop((40, 20)), [hr.boxes("boxes"), "image"])
    with pytest.raises(hr.GraphError, match="map RandomCrop: "):
        read(given)


def test_a_saved_graph_moves_the_same(tmp_path):
    dataset = chained()
    dataset.save(tmp_path / "graph.hrg")
    bindings = [binding for each in ordered(dataset)[1] for binding in each._bindings]
    given = {name: binding[1] for name, binding in zip(dataset._graph().references, bindings, strict=True)}
    assert_equal(read(hr.load(tmp_path / "graph.hrg", references=given), seed=4), read(dataset, seed=4))


def test_a_state_goes_on_at_each_row():
    expected = read(chained(), seed=4)
    for row in range(ROWS):
        state = state_after(chained(), row, seed=4)
        assert_equal(read(chained(), state=state), expected[row:])


def test_each_kernel_of_images_has_a_rule_or_is_refused():
    """One that is new must say what it is to targets, or be listed here."""
    images = {each["name"] for each in declared.modules() if each["images"]}
    kernels = [each for each in json.loads(_engine.declarations())["operators"] if each["python_module"] in images]
    for each in kernels:
        if each["traits"]["geometric"]:
            assert moves_boxes(each["name"]) and moves_keypoints(each["name"]), each["name"]
        assert not (moves_boxes(each["name"]) and leaves_targets(each["name"])), each["name"]
    refused = {each["name"] for each in kernels if not (moves_boxes(each["name"]) or leaves_targets(each["name"]))}
    choosers = {each["name"] for each in kernels if each["chooses"]}
    assert refused - choosers == {
        *("AugMix", "AutoAugment", "RandAugment", "TimmRandAugment", "TrivialAugmentWide"),
        *("CutMix", "MixUp", "Mosaic", "Decode", "FiveCrop", "PixelMask", "SlicePatches", "TenCrop"),
        *("ClampBoxes", "ClampKeypoints", "ConvertBoxFormat", "SanitizeBoxes", "SanitizeKeypoints"),
        *("DrawLabelMap", "DrawMasks", "PanopticCategories", "PanopticIds"),
    }
    among = {each["name"] for each in kernels if looks_at_boxes(each["name"])}
    assert among == {"RandomConstrainedCrop", "RandomIoUCrop", "RandomObjectCrop"}


def test_any_kernel_that_looks_at_boxes_asks_for_them(monkeypatch):
    monkeypatch.setattr(target_rules, "looks_at_boxes", lambda kernel: kernel == "CenterCrop")
    for wrong in (lambda: lone(V.RandomApply([V.CenterCrop(9)]), "image"), lambda: V.CenterCrop(9)(IMAGES[0])):
        with pytest.raises(hr.GraphError, match="CenterCrop: works in a map with boxes"):
            wrong()


def lone(kernels: Any, *columns: Any, **options: Any) -> hr.Dataset:
    return rows(image=IMAGES, mask=MASKS, boxes=BOXES, label=LABELS).map(kernels, list(columns), **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: lone(V.SlicePatches(), "image", hr.boxes("boxes")),
            'SlicePatches has no rule for boxes, such as those of column "boxes"',
        ),
        (lambda: lone(V.AutoAugment(), "image", hr.mask("mask")), "AutoAugment has no rule for masks"),
        (lambda: lone(V.RandomApply([V.TrivialAugmentWide()]), *targets()), "TrivialAugmentWide has no rule for masks"),
        (lambda: lone(V.FiveCrop(9), *targets()), "FiveCrop has no rule for masks"),
        (lambda: lone(lambda image: image, *targets()), "masks, boxes and keypoints follow kernels alone"),
        (lambda: lone(V.Pad(1, mode="edge"), "image", hr.boxes("boxes")), "mode='edge' repeats the image"),
        (lambda: lone(V.Decode(scale=2), *targets()), "Decode(scale=2) makes the image smaller"),
        (lambda: lone(V.Resize(9), hr.mask("mask")), '"mask" follows an image; name the image'),
        (lambda: lone(V.Resize(9), "image", hr.mask("image")), 'columns names "image" twice'),
        (lambda: lone(V.Resize(9), "image", hr.boxes("boxes", labels="image")), 'columns names "image" twice'),
        (lambda: lone(V.Resize(9), *targets(), output=["a", "b", "c"]), "leave output out"),
        (lambda: lone(V.Resize(9), *targets(), processes=2), "types and processes are of Python functions"),
        (lambda: lone(V.SanitizeBoxes(), "boxes", "label"), 'hr.boxes("boxes")'),
        (lambda: lone(V.RandomApply([V.SanitizeBoxes()]), "boxes"), 'hr.boxes("boxes")'),
        (lambda: lone(V.SanitizeBoxes(), "image", hr.mask("mask")), 'name their column as hr.boxes("…")'),
        (lambda: V.SanitizeBoxes()(BOXES[0]), "works in a map with boxes"),
        (lambda: lone(V.ClampBoxes(), "image"), "works in a map with boxes"),
        (lambda: lone(V.ConvertBoxFormat("xywh"), "image", hr.mask("mask")), 'name their column as hr.boxes("…")'),
        (
            lambda: lone(V.RandomApply([V.ConvertBoxFormat("xywh")]), "image", hr.boxes("boxes")),
            "ConvertBoxFormat in RandomApply: the format of boxes cannot differ from row to row",
        ),
        (
            lambda: rows(image=IMAGES, boxes=BOXES.astype(np.int64)).map(
                V.ConvertBoxFormat("xywh", relative=True), ["image", hr.boxes("boxes")]
            ),
            "the boxes are int64, which holds no parts of an image's sides; leave out relative=True",
        ),
        (
            lambda: lone(V.Resize(9), "image", hr.boxes("mask")),
            "needs boxes, float32, float64 or int64 of shape (n, 4); got int32",
        ),
        (
            lambda: lone(V.Resize(9), "image", hr.boxes("label")),
            "needs boxes, float32, float64 or int64 of shape (n, 4)",
        ),
        (
            lambda: rows(image=IMAGES, boxes=BOXES, people=encoded([b""] * ROWS)).map(
                V.Resize(9), ["image", hr.boxes("boxes", masks="people")]
            ),
            'needs masks of single boxes in column "people", numbers of shape (n, H, W); got bytes (); decode them',
        ),
        (
            lambda: lone(V.Resize(9), "image", hr.boxes("boxes", masks="mask")),
            'needs masks of single boxes in column "mask", numbers of shape (n, H, W); got int32 (30, 44)',
        ),
        (lambda: lone(V.Resize(9), "image", hr.boxes("boxes", "xyxy", "mask", masks="mask")), 'names "mask" twice'),
        (lambda: hr.boxes("boxes", format="yxyx"), "format is 'yxyx'; it must be one of 'xyxy', 'xywh', 'cxcywh'"),
    ],
)
def test_what_has_no_rule_is_refused_when_the_graph_is_built(call, message):
    with pytest.raises(hr.GraphError, match=re.escape(message)):
        dataset = call()
        dataset.schema  # noqa: B018


def test_what_is_damaged_fails_as_decoding_does():
    damaged = encoded([png(IMAGES[0]), b"8BPS"])
    dataset = rows(image=damaged, boxes=BOXES[:2]).map([V.Decode(), V.Resize(9)], ["image", hr.boxes("boxes")])
    with pytest.raises(hr.DataError, match="not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM"):
        read(dataset)
    assert len(read(dataset.on_error("skip"))) == 1


@pytest.mark.parametrize("kernels", [[V.ClampBoxes()], [V.HorizontalFlip(), V.HorizontalFlip()], [V.Rotate(0)]])
def test_whole_numbers_as_middle_and_size_stay_where_nothing_moves_them(kernels):
    boxes = np.array([[50, 51, 7, 3], [20, 30, 5, 5], [50, 50, 6, 6]], np.int64)
    moves = hr.compose(kernels, columns=["image", hr.boxes("boxes", format="cxcywh")])
    now = boxes
    for _ in range(3):
        now = moves(np.zeros((100, 100, 3), np.uint8), now)[1]
        np.testing.assert_array_equal(now, boxes)


def test_quarter_turns_clamp_boxes():
    box = np.float32([[-10, 20, 130, 40]])
    for kernel in (V.Rotate(180), V.Rotate(90, expand=True), V.Rotate(0), V.RandomRotation((270, 270), seed=1)):
        turned = hr.compose([kernel], columns=["image", hr.boxes("boxes")])(np.zeros((100, 100, 3), np.uint8), box)[1]
        assert 0 <= turned.min() and turned.max() <= 100, kernel
