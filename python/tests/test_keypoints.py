"""Keypoints that follow the image of their row, by torchvision's definitions."""

import pathlib
import re
from typing import Any

import numpy as np
import pytest
from test_eager_targets import in_a_pipeline

import headrace as hr
from headrace import vision as V
from tests.affine_matrix import affine_matrix

HEIGHT, WIDTH = 30, 44
ROWS = 12
DRAWS = np.random.default_rng(6)
# Where each pixel is: x, y, and 1.
PLACES = np.stack([*np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT)), np.ones((HEIGHT, WIDTH))], -1).astype(np.float32)
IMAGES = DRAWS.integers(0, 256, (ROWS, HEIGHT, WIDTH, 3), np.uint8)
MASKS = DRAWS.integers(0, 9, (ROWS, HEIGHT, WIDTH), np.uint8)
BOXES = np.tile(np.float32([[2, 3, 20, 25], [10, 5, 40, 28]]), (ROWS, 1, 1))
POINTS = (DRAWS.random((ROWS, 5, 2)) * [WIDTH, HEIGHT]).round(2)
GROUPS = (DRAWS.random((ROWS, 4, 3, 2)) * [WIDTH, HEIGHT]).astype(np.float32)
LABELS = np.arange(ROWS * 5).reshape(ROWS, 5)
SIZE = np.array([WIDTH, HEIGHT])


def read(dataset: hr.Dataset, **options: Any) -> list[dict[str, Any]]:
    with dataset.iterate(**options) as iterator:
        return [{name: np.array(value) for name, value in row.items()} for row in iterator]


def moved(kernels: Any, points: np.ndarray = POINTS, image: np.ndarray = PLACES) -> list[dict[str, Any]]:
    given = hr.Numpy({"image": np.repeat(image[None], ROWS, 0), "points": points})
    return read(given.map(kernels, ["image", hr.keypoints("points")]), seed=3)


def assert_equal(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        assert row.keys() == other.keys()
        for name in row:
            np.testing.assert_array_equal(row[name], other[name], err_msg=name)
            assert row[name].dtype == other[name].dtype


# ---- torchvision's definitions ----

# What torchvision 0.29.1 gives for these points, float32, of an image of this size.
THREE = np.tile(np.float32([[3.25, 7.5], [40, 2], [-4.5, 33]]), (ROWS, 1, 1))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (V.RandomHorizontalFlip(1), [39.75, 7.5, 3, 2, 47.5, 33]),
        (V.RandomVerticalFlip(1), [3.25, 21.5, 40, 27, -4.5, -4]),
        (V.Crop(5, 6, 10, 12), [-2.75, 2.5, 34, -3, -10.5, 28]),
        (V.CenterCrop(20), [-8.75, 2.5, 28, -3, -16.5, 28]),
        (V.Pad((1, 2, 3, 4)), [4.25, 9.5, 41, 4, -3.5, 35]),
        (V.Resize((17, 51)), [3.767, 4.25, 46.3636, 1.1333, -5.2159, 18.7]),
        (V.Resize(25, max_size=30), [2.2159, 5, 27.2727, 1.3333, -3.0682, 22]),
        (V.Rotate(33), [2.1901, 18.922, 30.0158, -5.7062, 9.5787, 44.529]),
        (V.Rotate(90), [14.5, 33.75, 9, -3, 40, 41.5]),
        (V.Rotate(90, expand=True), [7.5, 40.75, 2, 4, 33, 48.5]),
        (V.Rotate(180), [40.75, 22.5, 4, 28, 48.5, -3]),
        (V.Rotate(270, expand=True), [22.5, 3.25, 28, 40, -3, -4.5]),
        (V.Rotate(100, center=(5.0, 6.0)), [6.7811, 7.4629, -5.0169, -27.7737, 33.2395, 10.6672]),
        (V.Affine(20, (4, -3), 1.2, (10, -5)), [10.0521, -5.3292, 53.489, 7.6712, -13.7833, 17.191]),
        (V.Affine(-50, scale=0.5, center=(3.0, 9.0)), [2.5058, 8.4222, 12.2104, -7.4216, 9.7821, 19.5861]),
        (
            V.Perspective((0, 0, 43, 0, 43, 29, 0, 29), (3, 2, 40, 0, 43, 25, 1, 29)),
            [5.5822, 8.1287, 37.7208, 1.6752, -4.1492, 33.8239],
        ),
        (V.ClampKeypoints(), [3.25, 7.5, 40, 2, 0, 29]),
    ],
    ids=repr,
)
def test_values_are_torchvisions(kernel, expected):
    for row in moved(kernel, THREE):
        np.testing.assert_allclose(row["points"].ravel(), expected, atol=1e-3)


@pytest.mark.parametrize("points", [POINTS, GROUPS, POINTS.round().astype(np.int64)], ids=["64", "groups", "whole"])
def test_points_move_against_the_displacements_of_their_pixels(points):
    for row, given in zip(moved(V.ElasticTransform(60.0, 4.0, "bilinear"), points), points, strict=True):
        x, y = np.moveaxis(np.minimum(given, SIZE - 1).astype(int), -1, 0)
        # At the border pixels repeat, or are filled, and do not say where they come from.
        place, inside = row["image"][y, x, :2], row["image"][y, x, 2]
        known = (place > 0).all(-1) & (place < SIZE - 1).all(-1) & (np.abs(inside - 1) < 1e-6)
        assert known.any()
        expected = given - (row["image"] - PLACES)[y, x, :2]
        # Whole numbers lose their fractions.
        atol = 1e-3 if points.dtype.kind == "f" else 1
        np.testing.assert_allclose(row["points"][known], expected[known], atol=atol)


@pytest.mark.parametrize("points", [POINTS, POINTS.astype(np.float32), GROUPS], ids=["float64", "float32", "groups"])
def test_flips_take_points_for_middles_of_pixels(points):
    for kernel, axis in ((V.RandomHorizontalFlip(1), 0), (V.RandomVerticalFlip(1), 1)):
        expected = points.copy()
        expected[..., axis] = -(expected[..., axis] - (SIZE[axis] - 1).astype(points.dtype))
        for row, other in zip(moved(kernel, points), expected, strict=True):
            np.testing.assert_array_equal(row["points"], other)
            assert row["points"].dtype == points.dtype


@pytest.mark.parametrize("points", [POINTS, GROUPS, POINTS.round().astype(np.int64)], ids=["64", "groups", "whole"])
def test_points_are_cut_where_the_image_is(points):
    steps = [V.RandomCrop((21, 25), padding=(2, 3, 4, 5), fill=-50), V.RandomHorizontalFlip(0)]
    for row, given in zip(moved(steps, points), points, strict=True):
        # Of a pixel that is in the image.
        y, x = np.argwhere(row["image"][..., 2] == 1)[0]
        begin = (row["image"][y, x, :2] - (x, y)).astype(points.dtype)
        np.testing.assert_array_equal(row["points"], given - begin)
        assert row["points"].dtype == points.dtype


@pytest.mark.parametrize(
    ("kernel", "corner"),
    [
        (V.Pad((1, 2, 3, 4)), (-1, -2)),
        (V.Pad(7), (-7, -7)),
        (V.Crop(5, 6, 10, 12), (6, 5)),
        (V.CenterCrop(20), (12, 5)),
        (V.CenterCrop((40, 50)), (-3, -5)),
        (V.CenterSquare(), (7, 0)),
        (V.PadToSize((40, 50)), (-3, -5)),
    ],
    ids=repr,
)
def test_what_cuts_and_pads_subtracts_the_corner(kernel, corner):
    for row, points in zip(moved(kernel), POINTS, strict=True):
        np.testing.assert_array_equal(row["points"], points - corner)


def test_resizing_multiplies():
    for kernel in (V.Resize((17, 51)), V.Resize(40), V.Resize(25, max_size=30)):
        for row, points in zip(moved(kernel), POINTS, strict=True):
            height, width = row["image"].shape[:2]
            np.testing.assert_allclose(row["points"], points * [width / WIDTH, height / HEIGHT], atol=1e-9)
    for row, points in zip(moved(V.Resize((15, 22)), POINTS.round().astype(np.int64)), POINTS.round(), strict=True):
        np.testing.assert_array_equal(row["points"], np.trunc(points / 2))


def test_points_are_resized_with_what_is_cut():
    """The cut is read off the corners of the image, and is that of boxes."""
    corners = np.tile([[0.0, 0], SIZE], (ROWS, 1, 1))
    whole = np.tile([0.0, 0, WIDTH, HEIGHT], (ROWS, 1, 1))
    given = hr.Numpy({"image": IMAGES, "points": np.concatenate([corners, POINTS], 1), "boxes": whole})
    kernel = V.RandomResizedCrop(64, scale=(0.2, 0.9))
    rows = read(given.map(kernel, ["image", hr.keypoints("points"), hr.boxes("boxes")]))
    for row, points in zip(rows, POINTS, strict=True):
        first, last = row["points"][:2]
        np.testing.assert_allclose(row["points"][2:], first + points * (last - first) / SIZE, atol=1e-9)
        # What of the image is left fills the result.
        assert (first <= 1e-9).all() and (last >= 64 - 1e-9).all() and (last - first > 64 + 1e-9).any()
        np.testing.assert_allclose(row["boxes"], [[0, 0, 64, 64]], atol=1e-9)
        cut = -first * SIZE / (last - first)
        np.testing.assert_allclose(cut, cut.round(), atol=1e-9)


@pytest.mark.parametrize("points", [POINTS, POINTS.astype(np.float32), GROUPS], ids=["float64", "float32", "groups"])
@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [
        (V.Rotate(33), (-33, (0, 0), 1, (0, 0), (WIDTH / 2, HEIGHT / 2))),
        (V.Rotate(90), (-90, (0, 0), 1, (0, 0), (WIDTH / 2, HEIGHT / 2))),
        (V.Rotate(100, center=(5.0, 6.0)), (-100, (0, 0), 1, (0, 0), (5, 6))),
        (V.RandomRotation((-20.0, -20.0)), (20, (0, 0), 1, (0, 0), (WIDTH / 2, HEIGHT / 2))),
        (V.Affine(20, (4, -3), 1.2, (10, -5)), (20, (4, -3), 1.2, (10, -5), (WIDTH / 2, HEIGHT / 2))),
        (V.Affine(-50, scale=0.5, center=(3.0, 9.0)), (-50, (0, 0), 0.5, (0, 0), (3, 9))),
    ],
    ids=repr,
)
def test_points_are_turned_as_torchvision_turns_them(kernel, parameters, points):
    matrix = affine_matrix(*parameters)
    for row, given in zip(moved(kernel, points), points, strict=True):
        np.testing.assert_allclose(row["points"], given @ matrix[:, :2].T + matrix[:, 2], atol=1e-3)


def test_quarter_turns_are_exact():
    expected = {
        90: lambda x, y: (y, WIDTH - x),
        180: lambda x, y: (WIDTH - x, HEIGHT - y),
        270: lambda x, y: (HEIGHT - y, x),
        360: lambda x, y: (x, y),
    }
    for angle, turned in expected.items():
        for row, points in zip(moved(V.Rotate(angle, expand=True)), POINTS, strict=True):
            np.testing.assert_array_equal(row["points"], np.stack(turned(*points.T), -1))


def test_points_are_shown_from_another_point_of_view():
    start = (0.0, 0.0, 43.0, 0.0, 43.0, 29.0, 0.0, 29.0)
    end = (3.0, 2.0, 40.0, 0.0, 43.0, 25.0, 1.0, 29.0)
    corners = np.tile(np.array(start).reshape(1, 4, 2), (ROWS, 1, 1))
    for row in moved(V.Perspective(start, end), corners):
        np.testing.assert_allclose(row["points"].ravel(), end, atol=1e-3)
    # Points of a line stay on one.
    line = np.tile(np.linspace([2.0, 3], [40, 25], 5), (ROWS, 1, 1))
    for row in moved(V.Perspective(start, end), line):
        x, y = (row["points"][1:] - row["points"][0]).T
        np.testing.assert_allclose(x * y[-1], y * x[-1], atol=1e-3)


# ---- with other columns ----

ALL = [
    V.RandomResizedCrop((20, 24)),
    V.RandomCrop((25, 40), pad_if_needed=True),
    V.RandomHorizontalFlip(),
    V.RandomRotation(30, expand=True),
    V.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10),
    V.RandomPerspective(0.3, p=0.7),
    V.RandomZoomOut(side_range=(1.0, 2.0)),
    V.RandomShortestSize([20, 33]),
    V.ColorJitter(0.3),
    V.RandomChoice([V.RandomCrop(15, pad_if_needed=True), [V.Resize(40), V.RandomGrayscale()]]),
    V.RandomApply([V.RandomHorizontalFlip(), V.ClampKeypoints()]),
]


def all_columns() -> hr.Dataset:
    return hr.Numpy({"image": IMAGES, "mask": MASKS, "boxes": BOXES, "points": POINTS, "label": LABELS})


FOLLOWED = ["image", hr.mask("mask"), hr.boxes("boxes"), hr.keypoints("points", labels="label")]


def test_points_are_the_corners_of_boxes():
    """What clamps no box moves the corners of boxes as it moves points, but flips."""
    corners = BOXES.reshape(ROWS, 4, 2)
    steps = [V.RandomAffine(0, scale=(0.6, 0.9)), V.Pad(5), V.RandomShortestSize([20, 33]), V.RandomZoomOut(p=1)]
    given = hr.Numpy({"image": IMAGES, "boxes": BOXES, "points": corners})
    for row in read(given.map(steps, ["image", hr.boxes("boxes"), hr.keypoints("points")]), seed=2):
        np.testing.assert_allclose(row["points"].ravel(), row["boxes"].ravel(), atol=1e-3)


@pytest.mark.parametrize("options", [{"optimize": False}, {"executor": "pull"}, {"workers": 1, "window": 1}], ids=repr)
def test_any_way_to_run_gives_the_same(options):
    chained = all_columns().map([*ALL, V.SanitizeKeypoints(), V.HWC2CHW()], FOLLOWED)
    expected = read(chained, seed=5)
    assert_equal(read(chained, seed=5, **options), expected)
    assert 0 < sum(len(row["points"]) for row in expected) < POINTS.size // 2
    for row in expected:
        assert len(row["points"]) == len(row["label"])


def test_other_columns_are_what_they_were_without_points():
    chained = all_columns().map(ALL, FOLLOWED)
    without = all_columns().project(["image", "mask", "boxes"]).map(ALL[:-1], FOLLOWED[:3])
    with_points = all_columns().map(ALL[:-1], FOLLOWED)
    for row, other in zip(read(with_points, seed=5), read(without, seed=5), strict=True):
        for name in other:
            np.testing.assert_array_equal(row[name], other[name], err_msg=name)
    assert chained.schema["points"].shape == (5, 2)


def test_crops_among_boxes_move_points():
    kernel = V.RandomIoUCrop(min_scale=0.4, sampler_options=(0.0,))
    images = np.repeat(PLACES[None], ROWS, 0)
    given = hr.Numpy({"image": images, "boxes": BOXES, "points": GROUPS})
    cut = 0
    for row, points in zip(
        read(given.map(kernel, ["image", hr.boxes("boxes"), hr.keypoints("points")])), GROUPS, strict=True
    ):
        begin = row["image"][0, 0, :2]
        np.testing.assert_array_equal(row["points"], points - begin)
        cut += row["image"].shape != PLACES.shape
    assert cut > ROWS // 2


def test_sanitizing_removes_points_with_their_labels():
    names = np.array([[f"point {label}" for label in row] for row in LABELS])
    given = hr.Numpy({"image": IMAGES, "points": POINTS, "label": LABELS, "name": names})
    columns = ["image", hr.keypoints("points", labels=["label", "name"])]
    left = 0
    for row, whole in zip(
        read(given.map([V.RandomCrop(20), V.SanitizeKeypoints()], columns), seed=1),
        read(given.map(V.RandomCrop(20), columns), seed=1),
        strict=True,
    ):
        keep = ((whole["points"] >= 0) & (whole["points"] < 20)).all(1)
        np.testing.assert_array_equal(row["points"], whole["points"][keep])
        np.testing.assert_array_equal(row["label"], whole["label"][keep])
        assert row["name"].tolist() == [f"point {label}" for label in row["label"]]
        left += keep.sum()
    assert 0 < left < LABELS.size
    schema = given.map(V.SanitizeKeypoints(), columns).schema
    assert schema["points"].shape == (None, 2) and schema["label"].shape == (None,)


def test_groups_are_removed_whole_and_batched_raggedly():
    given = hr.Numpy({"image": IMAGES, "points": GROUPS})
    dataset = given.map([V.RandomCrop(24), V.SanitizeKeypoints()], ["image", hr.keypoints("points")])
    expected = []
    for row in read(given.map(V.RandomCrop(24), ["image", hr.keypoints("points")]), seed=4):
        points = row["points"]
        expected.append(points[((points >= 0) & (points < 24)).all((1, 2))])
    (batch,) = read(dataset.project("points").batch(ROWS, ragged="splits"), seed=4)
    np.testing.assert_array_equal(batch["points"], np.concatenate(expected))
    np.testing.assert_array_equal(np.diff(batch["points_splits"]), list(map(len, expected)))
    assert 0 < len(batch["points"]) < GROUPS.shape[0] * GROUPS.shape[1]


def test_clamping_moves_points_to_the_border():
    for row, points in zip(moved([V.CenterCrop(20), V.ClampKeypoints()]), POINTS, strict=True):
        np.testing.assert_array_equal(row["points"], np.clip(points - [12, 5], 0, 19))


# ---- without a pipeline ----


def test_a_call_gives_what_a_pipeline_gives(tmp_path: pathlib.Path):
    columns = [*FOLLOWED[:3], hr.keypoints("points", labels="label")]
    arrays = {"image": IMAGES, "mask": MASKS, "boxes": BOXES, "points": GROUPS, "label": LABELS[:, :4]}
    among = V.RandomIoUCrop(min_scale=0.5)
    for kernels in (
        [V.Invert(), V.RandomResizedCrop(20), V.RandomHorizontalFlip(), V.SanitizeKeypoints()],
        [V.Invert(), V.RandomApply([among, V.ClampKeypoints()]), V.RandomAffine(20), V.SanitizeKeypoints()],
    ):
        call = hr.compose(kernels, columns, seed=6)
        for key, row in enumerate(in_a_pipeline(kernels, columns, arrays, 6, tmp_path)):
            results = call(*(arrays[name][key] for name in arrays))
            for name, result in zip(arrays, results, strict=True):
                assert result.dtype == row[name].dtype
                np.testing.assert_array_equal(result, row[name], err_msg=f"{name} of row {key}")


def test_channels_first_are_those_of_images():
    """Groups have three axes, too."""
    planes = np.ascontiguousarray(IMAGES[0].transpose(2, 0, 1))
    call = hr.compose(V.RandomHorizontalFlip(1), ["image", hr.keypoints("points")])
    image, points = call(planes, GROUPS[0], layout="CHW")
    np.testing.assert_array_equal(image, planes[..., ::-1])
    np.testing.assert_array_equal(points[..., 0], WIDTH - 1 - GROUPS[0, ..., 0])


# ---- errors ----


def lone(kernels: Any, *columns: Any) -> hr.Dataset:
    arrays = {"image": IMAGES, "mask": MASKS, "points": POINTS, "label": LABELS, "boxes": BOXES}
    text = np.array([["a", "b"]] * ROWS)
    return hr.Numpy(arrays | {"text": text, "bytes": IMAGES[:, 0]}).map(kernels, list(columns))


NEEDS = "needs keypoints, float32, float64 or int64 of shape (n, 2) or (n, k, 2); got "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: lone(V.SlicePatches(), "image", hr.keypoints("points")),
            'SlicePatches has no rule for keypoints, such as those of column "points"',
        ),
        (lambda: lone(V.AutoAugment(), "image", hr.keypoints("points")), "AutoAugment has no rule for keypoints"),
        (lambda: lone(V.FiveCrop(9), "image", hr.keypoints("points")), "FiveCrop has no rule for keypoints"),
        (lambda: lone(V.TenCrop(9), "image", hr.keypoints("points")), "TenCrop has no rule for keypoints"),
        (lambda: lone(lambda image: image, "image", hr.keypoints("points")), "keypoints follow kernels alone"),
        (
            lambda: lone(V.Pad(1, mode="edge"), "image", hr.keypoints("points")),
            "mode='edge' repeats the image beyond its border, where keypoints would be missing",
        ),
        (lambda: lone(V.Resize(9), hr.keypoints("points")), '"points" follows an image; name the image'),
        (lambda: lone(V.Resize(9), "points", hr.keypoints("points")), 'columns names "points" twice'),
        (
            lambda: lone(V.Resize(9), "image", hr.keypoints("points", labels="image")),
            'columns names "image" twice',
        ),
        (lambda: lone(V.SanitizeKeypoints(), "points"), 'hr.keypoints("points")'),
        (lambda: lone(V.RandomApply([V.ClampKeypoints()]), "points"), "works in a map with keypoints"),
        (
            lambda: lone(V.ClampKeypoints(), "image", hr.boxes("boxes")),
            'ClampKeypoints changes keypoints, and there are none; name their column as hr.keypoints("…")',
        ),
        (
            lambda: lone(V.SanitizeBoxes(), "image", hr.keypoints("points")),
            'SanitizeBoxes changes boxes, and there are none; name their column as hr.boxes("…")',
        ),
        (
            lambda: lone(V.RandomIoUCrop(), "image", hr.keypoints("points")),
            "RandomIoUCrop looks at the boxes of one column, and there are 0",
        ),
        (lambda: V.ClampKeypoints()(POINTS[0]), "works in a map with keypoints"),
        (lambda: lone(V.Resize(9), "image", hr.keypoints("label")), f"{NEEDS}int64 (5,)"),
        (lambda: lone(V.Resize(9), "image", hr.keypoints("boxes")), f"{NEEDS}float32 (2, 4)"),
        (lambda: lone(V.Resize(9), "image", hr.keypoints("bytes")), f"{NEEDS}uint8 (44, 3)"),
        (lambda: lone(V.Resize(9), "image", hr.keypoints("text")), f"{NEEDS}string (2,)"),
        (lambda: hr.keypoints(3), "keypoints: column is 3; it must be a text"),
    ],
)
def test_what_does_not_fit_is_refused_when_the_graph_is_built(call, message):
    with pytest.raises(hr.GraphError, match=re.escape(message)):
        dataset = call()
        dataset.schema  # noqa: B018


def test_labels_must_be_one_a_point():
    given = hr.Numpy({"image": IMAGES, "points": POINTS, "label": LABELS[:, :4]})
    message = 'column "label" is int64 (4,), and column "points" has 5; it needs one element for each keypoint'
    with pytest.raises(hr.DataError, match=re.escape(message)):
        read(given.map(V.RandomHorizontalFlip(), ["image", hr.keypoints("points", labels="label")]))


def test_rows_may_differ_in_their_points_and_be_wrong():
    def points(number: Any) -> Any:
        return np.ones((int(number), 2)) if number < 3 else np.ones((2, 5))

    types = {"points": ("float64", (None, None))}
    given = hr.Range(4).map(points, "value", "points", types=types).zip(hr.Numpy({"image": IMAGES[:4]}))
    dataset = given.map(V.RandomHorizontalFlip(1), ["image", hr.keypoints("points")])
    assert [len(row["points"]) for row in read(dataset.take(3))] == [0, 1, 2]
    with pytest.raises(hr.DataError, match=re.escape(f"{NEEDS}float64 (2, 5)")):
        read(dataset)
