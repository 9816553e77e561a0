"""The random draws of headrace.mx's iterators, compared with MXNet 1.9.1's: crops, flips, colours, and the
boxes of objects.

The images say where each pixel was: red is its column, green its row. `docs/from-mxnet.md` names the distributions that
are not MXNet's: the ratio of random_resized_crop, hues in YIQ, and the constraints of crops among boxes."""

import cv2
import numpy as np
import pytest

import headrace.mx as mx
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours
from tests.small_image_records import encoded, write_records
from tests.two_samples import check_alike

ROWS = 800
SIDE, SMALL = 32, 14
STEP = 8
# The images with objects are larger, as their crops have whole pixels, and MXNet's boxes have not.
LARGER = 4
# Corners of the only object, as parts of the sides.
OBJECT = (0.3, 0.4, 0.6, 0.8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Records of one image each: `places`, of one colour, and half dark and half bright; `objects`: places with a box."""
    folder = tmp_path_factory.mktemp("drawn")
    halves = np.full((SIDE, SIDE, 3), 60, np.uint8)
    halves[: SIDE // 2] = 180
    write_records(folder, "places", [places(SIDE, STEP)] * ROWS)
    write_records(folder, "colour", [encoded(np.full((SIDE, SIDE, 3), (60, 90, 150), np.uint8))] * ROWS)
    write_records(folder, "halves", [encoded(halves)] * ROWS)
    large = places(SIDE * LARGER, STEP // LARGER)
    write_records(folder, "objects", [large] * ROWS, [np.float32([2, 5, 7, *OBJECT])] * ROWS)
    return folder


def places(side, step):
    across = np.repeat(np.arange(side, dtype=np.uint8)[None] * step, side, 0)
    return encoded(cv2.merge([np.full_like(across, 100), across.T.copy(), across]))


def left(data):
    return data[:, 0, 0, 0] / STEP


def top(data):
    return data[:, 1, 0, 0] / STEP


def wide(data):
    return (data[:, 0, 0, -1] - data[:, 0, 0, 0]) / STEP


def high(data):
    return (data[:, 1, -1, 0] - data[:, 1, 0, 0]) / STEP


def angle(data):
    middle = data[:, 0, 3:-3, 3:-3]
    down = (middle[:, -1] - middle[:, 0]).mean(1)
    along = (middle[:, :, -1] - middle[:, :, 0]).mean(1)
    return np.degrees(np.arctan2(down, along))


def flipped(data):
    return np.sign(wide(data))


def red(data):
    return data[:, 0, 0, 0]


def blue(data):
    return data[:, 2, 0, 0]


def red_over_blue(data):
    return red(data) - blue(data)


def bright_over_dark(data):
    return data[:, 0, 0, 0] - data[:, 0, -1, 0]


def last_red(data):
    return data[:, 0, 0, -1]


def is_grey(data):
    return (np.abs(data[:, 0] - data[:, 2]).max((1, 2)) < 0.01).astype(int)


def check(folder, tmp_path, kind, cases, base):
    """Each case: the records, the parameters, and what is compared, numbers of the rows' data and labels."""
    base = {"batch_size": ROWS, **base}
    asked = [(kind, {**base, "path_imgrec": str(folder / f"{name}.rec"), **given}, 1) for name, given, _ in cases]
    for theirs, (_, given, _), (name, added, numbers) in zip(run_mxnet(tmp_path, asked), asked, cases, strict=True):
        iterator = getattr(mx.io, kind, None) or getattr(mx.image, kind)
        ours = run_ours(iterator(**given, seed=1), 1)
        for number in numbers:
            compared = (number(*rows_of(run, number.__code__.co_argcount)) for run in (ours, theirs))
            check_alike(*compared, (name, added, number.__name__))


def rows_of(run, count):
    """The data, and with `count` 2 the labels, of all rows."""
    ((data, label, _),) = run.epochs[0]
    return (data, label)[:count]


@needs_mxnet
def test_images_are_drawn_as_mxnets(folder, tmp_path):
    sized = {"min_crop_size": 8, "max_crop_size": 26}
    areas = {"min_random_area": 0.2, "max_random_area": 0.8, "min_aspect_ratio": 1.0, "max_aspect_ratio": 1.0}
    cases = [
        ("places", {"rand_crop": 1}, [left, top]),
        ("places", {"rand_mirror": 1}, [flipped]),
        ("places", {"random_resized_crop": 1, **areas}, [left, top, wide, high]),
        ("places", {**sized, "rand_crop": 1}, [left, top, wide]),
        ("places", sized, [wide]),
        ("places", {"max_rotate_angle": 40}, [angle]),
        ("colour", {"brightness": 0.4}, [red]),
        ("colour", {"saturation": 0.4}, [red_over_blue]),
        ("colour", {"pca_noise": 0.2}, [red, blue, red_over_blue]),
        ("halves", {"contrast": 0.4}, [bright_over_dark]),
    ]
    check(folder, tmp_path, "ImageRecordIter", cases, {"data_shape": [3, SMALL, SMALL], "verbose": False})


@needs_mxnet
def test_augmenters_draw_as_mxnets(folder, tmp_path):
    cases = [
        ("places", {"rand_crop": True}, [left, top]),
        ("places", {"rand_mirror": True}, [flipped]),
        ("places", {"rand_crop": True, "rand_resize": True}, [left, top, wide, high]),
        ("colour", {"brightness": 0.4}, [red]),
        ("colour", {"saturation": 0.4}, [red_over_blue]),
        # Whole levels, so that small differences are not MXNet's.
        ("colour", {"pca_noise": 0.2}, [red, blue]),
        ("colour", {"rand_gray": 0.3}, [is_grey]),
        ("halves", {"contrast": 0.4}, [bright_over_dark]),
    ]
    check(folder, tmp_path, "ImageIter", cases, {"data_shape": [3, SMALL, SMALL]})


# ---- objects ----


def objects_of(label):
    """The first object of each label that has one; of ImageDetRecordIter after eight numbers."""
    objects = label[:, 6:11] if label.ndim == 2 else label[:, 0]
    return objects[objects[:, 0] == 7]


def of_object(number, name):
    def value(data, label):
        return number(*objects_of(label).T[1:5])

    value.__name__ = name
    return value


BOX = [
    of_object(lambda x, y, right, bottom: x, "xmin"),
    of_object(lambda x, y, right, bottom: y, "ymin"),
    of_object(lambda x, y, right, bottom: right - x, "width"),
    of_object(lambda x, y, right, bottom: bottom - y, "height"),
]


def object_and_image(data, label):
    """Which object is given beside which pixels, as one number."""
    return objects_of(label)[:, 1] + 2 * left(data)[: len(objects_of(label))]


@needs_mxnet
def test_objects_of_records_move_as_mxnets(folder, tmp_path):
    crop = {"rand_crop_prob": 1.0, "min_crop_scales": 0.3, "max_crop_scales": 0.8}
    cases = [
        ("objects", {"rand_mirror_prob": 0.3}, [flipped, BOX[0]]),
        ("objects", {"rand_pad_prob": 0.7, "max_pad_scale": 3.0}, BOX),
        ("objects", crop, [*BOX, left, top, wide, high]),
        ("objects", {**crop, "min_crop_aspect_ratios": 0.5, "max_crop_aspect_ratios": 2.0}, [wide, high, *BOX]),
        ("objects", {**crop, "crop_emit_mode": "overlap", "emit_overlap_thresh": 0.5}, [*BOX, left, top, wide]),
        ("objects", {**crop, "rand_crop_prob": 0.5}, [wide]),
        (
            "objects",
            {**crop, "rand_pad_prob": 0.5, "max_pad_scale": 2.0, "rand_mirror_prob": 0.5},
            [object_and_image],
        ),
        ("objects", {"max_random_hue": 60, "random_hue_prob": 0.5}, [red]),
        ("objects", {"max_random_saturation": 60, "random_saturation_prob": 0.5}, [last_red]),
        ("objects", {"max_random_illumination": 60, "random_illumination_prob": 0.5}, [blue]),
        ("objects", {"max_random_contrast": 0.5, "random_contrast_prob": 0.5}, [blue]),
    ]
    check(folder, tmp_path, "ImageDetRecordIter", cases, {"data_shape": [3, SMALL, SMALL], "verbose": False})


@needs_mxnet
def test_objects_of_arrays_move_as_mxnets(folder, tmp_path):
    cases = [
        ("objects", {"rand_mirror": True}, [flipped, BOX[0]]),
        ("objects", {"rand_crop": 1.0, "area_range": (0.2, 0.9)}, [*BOX, left, top, wide, high]),
        ("objects", {"rand_crop": 0.5, "area_range": (0.2, 0.9)}, [wide, BOX[2]]),
        ("objects", {"rand_pad": 1.0, "area_range": (1.0, 3.0)}, BOX),
    ]
    check(folder, tmp_path, "ImageDetIter", cases, {"data_shape": [3, SMALL, SMALL]})
