"""`V.Mosaic` above `batch(ragged="splits")`: pixels, boxes and labels of four images in one."""

import numpy as np
import pytest
from conftest import state_after
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import vision as V
from tests.thinning import examples

ROWS, HEIGHT, WIDTH = 13, 6, 8
COLUMNS = ["image", "boxes", "boxes_splits", "label", "label_splits"]


def pictures(rows: int = ROWS, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    """Pixel (y, x) of picture i is (i, y, x)."""
    grid = np.stack(np.meshgrid(np.arange(rows), np.arange(height), np.arange(width), indexing="ij"), -1)
    return grid.astype(np.int16)


def rows() -> hr.Dataset:
    """Picture i has i % 4 boxes, each of one pixel, and that pixel as its label."""
    splits = np.cumsum([0, *(number % 4 for number in range(ROWS))])
    draws = np.random.default_rng(1)
    x, y = draws.integers(0, WIDTH, splits[-1]), draws.integers(0, HEIGHT, splits[-1])
    picture = np.repeat(np.arange(ROWS), np.diff(splits))
    boxes = np.stack([x, y, x + 1, y + 1], -1).astype(np.float32)
    labels = np.stack([picture, y, x], -1)
    return hr.Numpy({"image": pictures(), "boxes": hr.ragged(boxes, splits), "label": hr.ragged(labels, splits)})


def batches(size: int = 5) -> hr.Dataset:
    return rows().batch(size, ragged="splits")


def joined(size: int = 5, **given) -> hr.Dataset:
    return batches(size).map(V.Mosaic(layout="HWC", **given), COLUMNS)


def equal(one, other) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def check(batch) -> None:
    """Each box and its label are where their pixel is."""
    picture = np.repeat(np.arange(len(batch["image"])), np.diff(batch["boxes_splits"]))
    x, y = batch["boxes"][:, 0].astype(int), batch["boxes"][:, 1].astype(int)
    np.testing.assert_array_equal(batch["image"][picture, y, x], batch["label"])
    np.testing.assert_array_equal(batch["boxes"][:, 2:] - batch["boxes"][:, :2], 1)
    np.testing.assert_array_equal(batch["boxes_splits"], batch["label_splits"])


def test_boxes_and_labels_stay_at_their_pixels():
    for before, batch in zip(batches(), joined(), strict=True):
        check(batch)
        assert batch["image"].shape == before["image"].shape and batch["image"].dtype == before["image"].dtype
        assert set(np.unique(batch["image"][..., 0])) <= set(before["image"][:, 0, 0, 0].tolist())


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_mosaics_of_any_size(data):
    count = data.draw(st.integers(1, 7), "rows")
    height, width = data.draw(st.integers(1, 9), "height"), data.draw(st.integers(1, 9), "width")
    low = data.draw(st.floats(0, 1), "low")
    images = pictures(count, height, width)
    counts = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count), "counts")
    splits = np.cumsum([0, *counts])
    total = sum(counts)
    corner = st.integers(-16, 56).map(lambda quarters: quarters / 4)
    boxes = np.array(data.draw(st.lists(st.tuples(*[corner] * 4), min_size=total, max_size=total)), np.float32).reshape(
        -1, 4
    )
    centers, seed = (low, data.draw(st.floats(low, 1), "high")), data.draw(st.integers(0, 99), "seed")
    kernel = V.Mosaic(layout="HWC", center_range=centers, min_size=0, seed=seed)
    image, moved, moved_splits, source, source_splits = kernel(images, boxes, splits, np.arange(splits[-1]), splits)
    np.testing.assert_array_equal(moved_splits, source_splits)
    assert len(moved) == len(source) == moved_splits[-1]
    for row in range(count):
        # The pixels of each column and of each row of a mosaic come from as many places as two pictures have.
        tiles = {}
        for (y, x), (number, from_y, from_x) in zip(np.ndindex(height, width), image[row].reshape(-1, 3), strict=True):
            tiles.setdefault((int(number), y - int(from_y), x - int(from_x)), set()).add((y, x))
        assert 1 <= len(tiles) <= 4
        for box, number in zip(
            moved[moved_splits[row] : moved_splits[row + 1]],
            source[moved_splits[row] : moved_splits[row + 1]],
            strict=True,
        ):
            left, top, right, bottom = box
            assert 0 <= left < right <= width and 0 <= top < bottom <= height
            picture = int(np.searchsorted(splits, number, "right") - 1)
            # A tile of its picture holds the box, which is a part of the whole box, moved with the tile.
            whole = boxes[number]
            assert any(
                of == picture
                and (np.array([left - right_by, top - down]) >= whole[:2]).all()
                and (np.array([right - right_by, bottom - down]) <= whole[2:]).all()
                for of, down, right_by in tiles
            )


def test_types_are_known_before_a_row_is_read():
    assert joined().schema == batches().schema
    below = joined().unbatch().schema
    assert below["boxes"] == hr.ColumnType("float32", (None, 4)) and below["image"].shape == (HEIGHT, WIDTH, 3)


def test_workers_change_nothing_and_epochs_do():
    first = list(joined().iterate(epoch=1))
    for options in ({"workers": 1}, {"workers": 4}, {"executor": "pull"}, {"memory": "16MiB"}):
        for one, other in zip(first, joined().iterate(epoch=1, **options), strict=True):
            equal(one, other)
    assert not np.array_equal(first[0]["image"], next(joined().iterate(epoch=2))["image"])
    assert not np.array_equal(first[0]["image"], next(joined().iterate(epoch=1, seed=9))["image"])


def test_states_go_on_with_the_next_mosaic():
    whole = list(joined(4).iterate(epoch=1))
    for number in range(len(whole) - 1):
        rest = joined(4).iterate(state=state_after(joined(4), number + 1, epoch=1))
        for one, other in zip(whole[number + 1 :], rest, strict=True):
            equal(one, other)


@pytest.mark.parametrize("world", [2, 3, 5])
def test_padded_rows_stay_as_they_are(world):
    padded = 0
    for rank in range(world):
        plain = batches(3).iterate(shard=(rank, world), even="pad")
        for before, batch in zip(plain, joined(3).iterate(shard=(rank, world), even="pad"), strict=True):
            check(batch)
            for row in np.flatnonzero(before["_pad"]):
                padded += 1
                np.testing.assert_array_equal(batch["image"][row], before["image"][row])
                ours = batch["boxes"][slice(*batch["boxes_splits"][row : row + 2])]
                np.testing.assert_array_equal(ours, before["boxes"][slice(*before["boxes_splits"][row : row + 2])])
            others = batch["image"][~before["_pad"]][..., 0]
            assert set(np.unique(others)) <= set(before["image"][~before["_pad"]][:, 0, 0, 0].tolist())
    assert padded > 0


def test_rows_of_mosaics_go_on_with_boxes():
    boxes = hr.boxes("boxes", labels="label")
    flipped = joined().unbatch().map([V.RandomHorizontalFlip(1), V.SanitizeBoxes()], ["image", boxes])
    for batch in flipped.batch(4, ragged="splits"):
        check(batch)


def test_a_share_of_rows_stays_as_it_is():
    unchanged = [
        np.array_equal(image, pictures()[image[0, 0, 0]])
        for batch in joined(ROWS, p=0.5).repeat(20)
        for image in batch["image"]
    ]
    assert 60 < sum(unchanged) < 200
    for before, batch in zip(batches(), joined(p=0), strict=True):
        equal(before, batch)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: rows().map(V.Mosaic(), ["image", "boxes", "label"]), "Mosaic: works on a whole batch"),
        (
            lambda: batches().map(V.Mosaic(layout="HWC"), ["image", "boxes"]),
            "Mosaic: has 2 input columns; it takes at least 3",
        ),
        (
            lambda: batches().map(V.Mosaic(layout="HWC"), ["image", "boxes", "label"]),
            'needs after each column its splits, .*: "boxes", "boxes_splits"; got int64',
        ),
        (lambda: batches().map(V.Mosaic(), COLUMNS), "these seem to have their channels last: write layout='HWC'"),
        (
            lambda: rows().batch(4, ragged="list").map(V.Mosaic(layout="HWC"), ["image", "boxes", "label"]),
            'its splits, .* as batch.…, ragged="splits". makes them',
        ),
        (
            lambda: batches().map(V.Mosaic(layout="HWC"), ["image", "label", "label_splits"]),
            r"needs boxes, float32, float64 or int64 of shape \(n, 4\)",
        ),
        (
            lambda: batches().map(V.Mosaic(layout="HWC"), ["image", hr.boxes("boxes", labels="label")]),
            r"Mosaic joins the rows of a batch, .*: name columns themselves, without hr.boxes\(…\)",
        ),
        (
            lambda: batches().map(V.Mosaic(layout="HWC", center_range=(0.8, 0.2)), COLUMNS),
            "center_range = .* ends before it begins",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused_before_a_row_is_read(made, message):
    with pytest.raises(hr.GraphError, match=message):
        made().schema  # noqa: B018
        next(iter(made()))


def test_a_column_that_stays_behind_is_named():
    message = (
        'gives new rows of "boxes_splits", and what belongs to "label_splits" stays as it was; if it has an element'
    )
    with pytest.warns(hr.PipelineWarning, match=message):
        batches().map(V.Mosaic(layout="HWC"), COLUMNS[:3]).schema  # noqa: B018


def test_no_warning_where_all_columns_follow(recwarn):
    assert joined().schema and not recwarn.list


def test_a_label_too_few_is_an_error_of_its_row():
    splits = np.array([0, 1, 2])
    kernel, images, boxes = V.Mosaic(layout="HWC"), pictures(2), np.zeros((2, 4), np.float32)
    with pytest.raises(hr.DataError, match="input 3 has 2 in row 0 of the batch, which has so many boxes: 1"):
        kernel(images, boxes, splits, np.arange(2), np.array([0, 2, 2]))
    with pytest.raises(hr.GraphError, match="seem to be masks of single boxes"):
        kernel(images, boxes, splits, np.zeros((2, HEIGHT, WIDTH)), splits)
