"""headrace.mx.io.ImageRecordIter: its batches, epochs, states and parameters, and what MXNet 1.9.1 gives."""

import logging
import pickle
import re
import struct

import cv2
import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import headrace as hr
import headrace._datasets.runs
import headrace.mx as mx
from headrace import transforms as T
from headrace import vision as V
from headrace.__main__ import main
from tests.mx_batches import next_batches, python_calls
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours
from tests.small_image_records import encoded, image_of, write_records
from tests.two_samples import check_alike

ROWS = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`some`: ten images as PNG; `jpeg`: as JPEG; `two`: two labels each; `many`: a hundred."""
    folder = tmp_path_factory.mktemp("records")
    images = [encoded(image_of(i)) for i in range(ROWS)]
    write_records(folder, "some", images)
    write_records(folder, "two", images, [[i, 2 * i] for i in range(ROWS)])
    write_records(folder, "jpeg", [encoded(image_of(i, 40, 30), ".jpg") for i in range(ROWS)])
    write_records(folder, "many", [encoded(image_of(i, 3, 2)) for i in range(100)])
    return folder


def some(folder, name="some", **given):
    parameters = {"data_shape": (3, 8, 8), "batch_size": 4, "path_imgrec": str(folder / f"{name}.rec"), **given}
    return mx.io.ImageRecordIter(**parameters)


def indexed(folder, name="some", **given):
    return some(folder, name, path_imgidx=str(folder / f"{name}.idx"), **given)


def labels_of(batch):
    return batch.label[0].astype(int).tolist()


def steps(iterator, count):
    """Labels and pads of the next batches; "end" where an epoch ends, after which the next one begins."""
    given = []
    while len(given) < count:
        try:
            given.append((labels_of(batch := iterator.next()), batch.pad))
        except StopIteration:
            with pytest.raises(StopIteration):
                iterator.next()
            given.append("end")
            iterator.reset()
    return given


def expected_rounds(rows, size, epochs):
    """Epoch e has the batches ⌈eN/B⌉ to ⌈(e+1)N/B⌉ - 1 of the endless passes."""
    given = []
    for e in range(epochs):
        first, end = -(-e * rows // size), -(-(e + 1) * rows // size)
        for k in range(first, end):
            pad = (k + 1) * size - (e + 1) * rows if k == end - 1 else 0
            given.append(([i % rows for i in range(k * size, (k + 1) * size)], pad))
        given.append("end")
    return given


def expected_padded(rows, size, epochs):
    one = []
    for k in range(-(-rows // size)):
        one.append(([i % rows for i in range(k * size, (k + 1) * size)], max(0, (k + 1) * size - rows)))
    return [*one, "end"] * epochs


# ---- epochs ----


@pytest.fixture(scope="module")
def dots(tmp_path_factory):
    """Files of 1 to 12 images of one pixel."""
    folder = tmp_path_factory.mktemp("dots")
    for rows in range(1, 13):
        write_records(folder, str(rows), [encoded(np.zeros((1, 1, 3), np.uint8))] * rows)
    return folder


@settings(max_examples=40, deadline=None)
@drawn(st.integers(1, 12), st.integers(1, 12), st.booleans(), st.booleans())
def test_an_epoch_ends_with_the_batch_of_its_last_row(dots, rows, size, by_number, skips):
    make = indexed if by_number else some
    given = {"data_shape": (3, 1, 1), "batch_size": size, "on_error": "skip" if skips else "raise"}
    if rows < size:
        with pytest.raises(hr.GraphError, match=f"{rows} rows, fewer than batch_size={size}.*round_batch=False"):
            make(dots, rows, **given).next()
        return
    expected = expected_rounds(rows, size, 4)
    assert steps(make(dots, rows, **given), len(expected)) == expected


@settings(max_examples=40, deadline=None)
@drawn(st.integers(1, 12), st.integers(1, 14), st.booleans())
def test_without_round_batch_the_tail_has_the_first_rows_of_its_epoch(dots, rows, size, by_number):
    make = indexed if by_number else some
    iterator = make(dots, rows, data_shape=(3, 1, 1), batch_size=size, round_batch=False)
    expected = expected_padded(rows, size, 3)
    assert steps(iterator, len(expected)) == expected


def test_numbers_of_the_tutorials(folder):
    iterator = some(folder, "many", batch_size=30)
    assert [batch.pad for batch in iterator] == [0, 0, 0, 20]
    exact = indexed(folder, "many", batch_size=100, data_shape=(3, 28, 28), preprocess_threads=4, prefetch_buffer=1)
    (batch,) = exact
    assert batch.data[0].shape == (100, 3, 28, 28) and batch.pad == 0
    assert labels_of(batch) == list(range(100)) and batch.index.tolist() == list(range(100, 200))
    assert batch.index.dtype == np.uint64


@pytest.mark.parametrize("round_batch", [True, False])
@pytest.mark.parametrize("by_number", [True, False])
def test_a_reset_in_mid_epoch_begins_at_the_first_row(folder, round_batch, by_number):
    iterator = (indexed if by_number else some)(folder, round_batch=round_batch)
    iterator.reset()
    assert labels_of(iterator.next()) == [0, 1, 2, 3]
    iterator.reset()
    expected = (expected_rounds if round_batch else expected_padded)(ROWS, 4, 3)
    assert steps(iterator, len(expected)) == expected
    iterator.next()
    iterator.reset()
    iterator.reset()
    assert steps(iterator, len(expected)) == expected


@pytest.mark.parametrize("rows", [8, 10])
@pytest.mark.parametrize("round_batch", [True, False])
@pytest.mark.parametrize("make", [some, indexed])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_one_engine_runs_all_epochs(dots, monkeypatch, rows, round_batch, make, on_error):
    started = []
    start = headrace._datasets.runs.start_engine
    monkeypatch.setattr(headrace._datasets.runs, "start_engine", lambda *given: started.append(1) or start(*given))
    iterator = make(dots, rows, data_shape=(3, 1, 1), round_batch=round_batch, on_error=on_error)
    started.clear()  # One that looks for the files.
    expected = (expected_rounds if round_batch else expected_padded)(rows, 4, 3)
    assert steps(iterator, len(expected)) == expected
    assert len(started) == 1
    if rows == 8:  # Also for a loop that counts its batches.
        for _ in range(3):
            assert [labels_of(iterator.next())[0] for _ in range(2)] == [0, 4]
            iterator.reset()
        assert len(started) == 1


@pytest.mark.parametrize("make", [some, indexed])
def test_each_epoch_is_shuffled_anew(folder, make):
    first = make(folder, "many", batch_size=25, shuffle=True, seed=1)
    epochs = [[row for batch in [*first] for row in labels_of(batch)] for _ in range(3) if first.reset() is None]
    assert all(sorted(epoch) == list(range(100)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3
    again, other = (make(folder, "many", batch_size=25, shuffle=True, seed=seed) for seed in (1, 2))
    assert labels_of(again.next()) == epochs[0][:25] != labels_of(other.next())


def test_the_filled_tail_has_the_first_rows_of_its_own_epoch(folder):
    for make in (some, indexed):
        iterator = make(folder, shuffle=True, round_batch=False)
        for _ in range(3):
            batches = [labels_of(batch) for batch in iterator]
            assert batches[-1][2:] == batches[0][:2] and len({*sum(batches, [])}) == ROWS
            iterator.reset()


def test_what_the_loop_writes_into_a_batch_is_not_in_the_tail(folder):
    iterator = some(folder, round_batch=False)
    first = iterator.next()
    kept = first.data[0][:2].copy()
    first.data[0][:] = -1
    iterator.next()
    assert np.array_equal(iterator.next().data[0][2:], kept)


# ---- parts ----


def test_parts_by_number_are_runs_of_equal_length(folder):
    for parts in (2, 3, 4, 7):
        length = -(-ROWS // parts)
        for part in range(parts):
            iterator = indexed(folder, batch_size=1, num_parts=parts, part_index=part, round_batch=False)
            rows = list(range(ROWS))[part * length : (part + 1) * length]
            assert [labels_of(batch) for batch in iterator] == [[row] for row in rows]
    shuffled = indexed(folder, batch_size=1, num_parts=2, part_index=1, shuffle=True)
    epochs = [[labels_of(batch)[0] for batch in [*shuffled]] for _ in range(3) if shuffled.reset() is None]
    assert all(sorted(epoch) == list(range(5, 10)) for epoch in epochs) and len({*map(tuple, epochs)}) > 1


@pytest.mark.parametrize("round_batch", [True, False])
def test_parts_by_bytes_hold_each_row_once(folder, round_batch):
    rows = []
    for part in range(3):
        iterator = some(folder, batch_size=2, num_parts=3, part_index=part, round_batch=round_batch)
        whole = hr.ImageRecord(folder / "some.rec", sharding="contiguous").iterate(shard=(part, 3))
        own = [int(row["label"]) for row in whole]
        batches = [*iterator]
        assert len(batches) == -(-len(own) // 2) and batches[-1].pad == -len(own) % 2
        rows += own
        assert sum([labels_of(batch) for batch in batches], [])[: len(own)] == own
    assert rows == list(range(ROWS))
    with pytest.raises(hr.UnsupportedError, match="path_imgidx"):
        some(folder, num_parts=2, on_error="skip")
    with pytest.raises(hr.GraphError, match="part_index is 3; it must be at most 2"):
        some(folder, num_parts=3, part_index=3)


# ---- states ----

WAYS = {
    "indexed": (indexed, {}),
    "indexed_padded": (indexed, {"round_batch": False}),
    "shuffled": (indexed, {"shuffle": True, "rand_mirror": True}),
    "shuffled_padded": (indexed, {"shuffle": True, "round_batch": False}),
    "splits": (some, {}),
    "splits_padded": (some, {"round_batch": False}),
    "splits_of_eight": (some, {"batch_size": 5}),
    "splits_shuffled": (some, {"shuffle": True, "rand_crop": True}),
    "part": (indexed, {"num_parts": 2, "part_index": 1, "batch_size": 2}),
    "part_of_bytes": (some, {"num_parts": 2, "part_index": 1, "batch_size": 2}),
    "skipping": (indexed, {"name": "bad", "on_error": "skip", "batch_size": 3}),
    "skipping_padded": (indexed, {"name": "bad", "on_error": "skip", "round_batch": False}),
    "skipping_splits": (some, {"name": "bad", "on_error": "skip"}),
}


@pytest.fixture(scope="module")
def bad(folder):
    """Ten records, of which those at both ends and one in the middle cannot be decoded."""
    payloads = [encoded(image_of(i)) for i in range(ROWS)]
    for number in (0, 1, 5, 9):
        payloads[number] = b"no image"
    write_records(folder, "bad", payloads)
    return folder


def images(iterator, count):
    given = []
    while len(given) < count:
        try:
            batch = iterator.next()
            given.append((batch.data[0].tobytes(), labels_of(batch), batch.pad, batch.index.tolist()))
        except StopIteration:
            given.append("end")
            iterator.reset()
    return given


@pytest.mark.parametrize("way", WAYS)
def test_a_state_goes_on_with_the_next_batch(folder, bad, way):
    make, given = WAYS[way]
    whole = images(make(folder, **given), 11)
    assert "end" in whole
    for before in range(10):
        iterator = make(folder, **given)
        images(iterator, before)
        state = pickle.loads(pickle.dumps(iterator.state()))
        assert images(make(folder, **given, state=state), 11 - before) == whole[before:], before
        # Taking one changes nothing.
        assert images(iterator, 11 - before) == whole[before:], before


@pytest.mark.parametrize("way", WAYS)
def test_a_state_of_an_epochs_end_is_over(folder, bad, way):
    make, given = WAYS[way]
    whole = images(make(folder, **given), 9)
    iterator = make(folder, **given)
    first = [(batch.data[0].tobytes(), labels_of(batch), batch.pad, batch.index.tolist()) for batch in iterator]
    restored = make(folder, **given, state=iterator.state())
    for _ in range(2):
        with pytest.raises(StopIteration):
            restored.next()
    again = make(folder, **given, state=restored.state())
    with pytest.raises(StopIteration):
        again.next()
    for each in (restored, again):
        each.reset()
        assert [*first, "end", *images(each, 8 - len(first))] == whole


@pytest.mark.parametrize("taken", [0, 1, 3])
@pytest.mark.parametrize("round_batch", [True, False])
def test_a_state_of_another_iterator_is_refused(folder, taken, round_batch):
    iterator = indexed(folder, round_batch=round_batch)
    [iterator.next() for _ in range(taken)]
    state = iterator.state()
    same = {"round_batch": round_batch, "state": state}
    for other in ({"batch_size": 5}, {"seed": 3}, {"round_batch": not round_batch}):
        with pytest.raises(hr.StateError, match=r"state was taken with (batch_size|seed|last_batch)="):
            indexed(folder, **{**same, **other})
    for name, other in (("some", {"mirror": True}), ("two", {"label_width": 2}), ("jpeg", {})):
        with pytest.raises(hr.StateError):
            indexed(folder, name, **same, **other)
    with pytest.raises(hr.StateError):
        some(folder, **same)
    with pytest.raises(hr.StateError, match="give what state"):
        indexed(folder, round_batch=round_batch, state={"seed": 0})


# ---- rows that fail ----


@pytest.mark.parametrize("make", [some, indexed])
@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_each_pass_has_each_good_row_once(bad, make, size):
    iterator = make(bad, "bad", on_error="skip", batch_size=size)
    rows = [2, 3, 4, 6, 7, 8]
    expected = [
        step if step == "end" else ([rows[i] for i in step[0]], step[1]) for step in expected_rounds(len(rows), size, 4)
    ]
    assert steps(iterator, len(expected)) == expected
    padded = make(bad, "bad", on_error="skip", batch_size=size, round_batch=False)
    expected = [
        step if step == "end" else ([rows[i] for i in step[0]], step[1]) for step in expected_padded(len(rows), size, 3)
    ]
    assert steps(padded, len(expected)) == expected


@settings(max_examples=40, deadline=None)
@drawn(
    st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 5), st.booleans(), st.booleans(), st.integers(0, 9)
)
def test_whatever_rows_are_bad_epochs_are_those_of_the_others(dots, good, size, by_number, round_batch, before):
    dot = encoded(np.zeros((1, 1, 3), np.uint8))
    write_records(dots, "mixed", [dot if each else b"bad" for each in good])
    rows = [row for row, each in enumerate(good) if each]
    given = {"data_shape": (3, 1, 1), "batch_size": size, "on_error": "skip", "round_batch": round_batch}

    def make(**state):
        return (indexed if by_number else some)(dots, "mixed", **given, **state)

    if len(rows) < size and (round_batch or not rows):
        with pytest.raises((hr.GraphError, hr.DataError)):
            make().next()
        return
    plan = (expected_rounds if round_batch else expected_padded)(len(rows), size, 4)
    expected = [step if step == "end" else ([rows[i] for i in step[0]], step[1]) for step in plan]
    iterator = make()
    before = min(before, len(expected))
    assert steps(iterator, before) == expected[:before]
    assert steps(make(state=iterator.state()), len(expected) - before) == expected[before:]
    assert steps(iterator, len(expected) - before) == expected[before:]


def test_a_bad_row_is_named(bad):
    for make in (some, indexed):
        with pytest.raises(hr.DataError) as raised:
            make(bad, "bad").next()
        assert str(bad / "bad.rec") in str(raised.value)
        failed = make(bad, "bad")
        for _ in range(2):
            with pytest.raises(hr.DataError):
                failed.next()


@pytest.mark.parametrize("round_batch", [True, False])
def test_explain_names_rows_left_out_before_a_reset(bad, round_batch):
    iterator = indexed(bad, "bad", on_error="skip", batch_size=3, round_batch=round_batch)
    iterator.next()
    assert "2 rows failed and left out" in iterator.explain()
    iterator.reset()
    assert "rows left out by an earlier run" in iterator.explain() and "bad.rec" in iterator.explain()
    iterator.next()
    assert "earlier run" in iterator.explain() and "2 rows failed" in iterator.explain()
    assert str(1 << 62) not in iterator.explain()
    ended = indexed(bad, "bad", on_error="skip", batch_size=3, round_batch=round_batch)
    assert len([*ended]) == 2
    ended.reset()
    assert "failed and left out" in ended.explain()


@pytest.mark.parametrize("round_batch", [True, False])
def test_the_limit_of_rows_left_out_is_that_of_an_epoch(bad, round_batch):
    given = {"on_error": "skip", "batch_size": 3, "round_batch": round_batch}
    assert len(steps(indexed(bad, "bad", max_errors=4, **given), 12)) == 12
    iterator = indexed(bad, "bad", max_errors=2, **given)
    assert labels_of(iterator.next()) == [2, 3, 4]
    state = iterator.state()
    for each in (iterator, indexed(bad, "bad", max_errors=2, **given, state=state)):
        for _ in range(2):
            with pytest.raises(hr.DataError, match=r"3 rows of .*epoch.* failed.*max_errors=2") as raised:
                each.next()
        assert "raise max_errors" in str(raised.value)


def test_fewer_good_rows_than_a_batch_are_an_error(bad):
    with pytest.raises(hr.GraphError, match="6 rows, fewer than batch_size=7"):
        indexed(bad, "bad", on_error="skip", batch_size=7).next()


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_files_without_rows_are_named(tmp_path, on_error):
    (tmp_path / "none.rec").touch()
    (tmp_path / "none.idx").touch()
    for make in (some, indexed):
        for _ in range(2):
            with pytest.raises(
                hr.GraphError, match=r"path_imgrec='.*none\.rec' gives no rows.*round_batch=False, or other"
            ):
                make(tmp_path, "none", on_error=on_error).next()
        assert [*make(tmp_path, "none", on_error=on_error, round_batch=False)] == []


# ---- parameters ----


def chain(folder, kernels, name="some", dtype="float32", **options):
    """The rows of `name` by a pipeline written out."""
    rows = hr.ImageRecord(folder / f"{name}.rec", index=folder / f"{name}.idx", **options)
    steps = [V.Decode(orientation=True), *kernels]
    steps += [T.TypeCast(dtype)] if dtype == "float32" else []
    return next(iter(rows.map([*steps, V.HWC2CHW()], "image").batch(4)))["image"]


def stretched(degrees=0.0, shear=0.0, interpolation="bilinear", fill=255, **given):
    return V.RandomAffineResize(degrees, shear, interpolation=interpolation, fill=fill, **given)


def drawn(kernel_of):
    return V.RandomChoice([kernel_of(how) for how in ("nearest", "bilinear", "bicubic", "area", "lanczos")])


CROP = [V.CenterCrop((8, 8), rounding="down")]
ENLARGED_CROP = [V.EnlargeToSize((8, 8), antialias=False), *CROP]
SAME_AS = {
    "resize": ({"resize": 10}, [V.Resize(10, antialias=False), *CROP]),
    "resize_bicubic": ({"resize": 20, "inter_method": 2}, [V.Resize(20, "bicubic", antialias=False), *CROP]),
    "resize_nearest": ({"resize": 20, "inter_method": 0}, [V.Resize(20, "nearest", antialias=False), *CROP]),
    "resize_area": ({"resize": 10, "inter_method": 3}, [V.Resize(10, "area", antialias=False), *CROP]),
    "resize_lanczos": ({"resize": 20, "inter_method": 4}, [V.Resize(20, "lanczos", antialias=False), *CROP]),
    "enlarge_lanczos": (
        {"data_shape": (3, 20, 20), "inter_method": 4},
        [V.EnlargeToSize((20, 20), "lanczos", antialias=False), V.CenterCrop((20, 20), rounding="down")],
    ),
    "resize_auto": ({"resize": 10, "inter_method": 9}, [V.Resize(10, "auto", antialias=False), *CROP]),
    "rand_crop": ({"rand_crop": 1}, [V.RandomCrop((8, 8))]),
    "random_resized_crop": (
        {"random_resized_crop": True, "min_random_area": 0.2, "max_random_area": 0.8},
        [V.RandomResizedCrop((8, 8), (0.2, 0.8), (1.0, 1.0), antialias=False)],
    ),
    "random_resized_crop_lanczos": (
        {"random_resized_crop": True, "min_random_area": 0.2, "max_random_area": 0.8, "inter_method": 4},
        [V.RandomResizedCrop((8, 8), (0.2, 0.8), (1.0, 1.0), interpolation="lanczos", antialias=False)],
    ),
    "aspect_around_1": (
        {"random_resized_crop": True, "max_aspect_ratio": 0.25},
        [V.RandomResizedCrop((8, 8), (1.0, 1.0), (0.75, 1.25), antialias=False)],
    ),
    "aspect_between": (
        {"random_resized_crop": True, "min_aspect_ratio": 0.5, "max_aspect_ratio": 2, "min_random_area": 0.5},
        [V.RandomResizedCrop((8, 8), (0.5, 1.0), (0.5, 2.0), antialias=False)],
    ),
    "rotate": ({"rotate": 30}, [V.Rotate(30, interpolation="bilinear", fill=255), *CROP]),
    "rotate_filled": (
        {"rotate": 30, "fill_value": 9, "inter_method": 0},
        [V.Rotate(30, interpolation="nearest", fill=9), *CROP],
    ),
    "max_rotate_angle": ({"max_rotate_angle": 40}, [V.RandomRotation((-40, 40), interpolation="bilinear", fill=255), *CROP]),
    "pad": ({"pad": 4, "data_shape": (3, 18, 18)}, [V.Pad(4, fill=255), V.CenterCrop((18, 18), rounding="down")]),
    "pad_filled": (
        {"pad": 4, "fill_value": 3, "data_shape": (3, 18, 18)},
        [V.Pad(4, fill=3), V.CenterCrop((18, 18), rounding="down")],
    ),
    "brightness": ({"brightness": 0.5}, [*CROP, V.ColorJitter(brightness=0.5)]),
    "contrast": ({"contrast": 0.5}, [*CROP, V.ColorJitter(contrast=0.5)]),
    "saturation": ({"saturation": 0.5}, [*CROP, V.ColorJitter(saturation=0.5)]),
    "pca_noise": ({"pca_noise": 0.1}, [*CROP, V.RandomLighting(0.1)]),
    "max_shear_ratio": ({"max_shear_ratio": 0.5}, [stretched(shear=0.5), *CROP]),
    "max_random_scale": ({"max_random_scale": 1.5}, [stretched(scale=(1.0, 1.5)), *CROP]),
    "min_random_scale": ({"min_random_scale": 0.8, "data_shape": (3, 8, 8)}, [stretched(scale=(0.8, 1.0)), *ENLARGED_CROP]),
    "max_img_size": ({"max_img_size": 10, "fill_value": 3}, [stretched(max_size=10, fill=3), *CROP]),
    "min_img_size": (
        {"min_img_size": 20, "fill_value": 3, "data_shape": (3, 20, 20)},
        [stretched(min_size=20, fill=3), V.CenterCrop((20, 20), rounding="down")],
    ),
    "max_aspect_ratio": ({"max_aspect_ratio": 0.5}, [stretched(ratio=(0.5, 1.5)), *CROP]),
    "min_aspect_ratio": (
        {"min_aspect_ratio": 0.7, "max_aspect_ratio": 2}, [stretched(ratio=(0.7, 2.0)), *CROP]
    ),
    "stretched_and_turned": (
        {"max_rotate_angle": 20, "max_shear_ratio": 0.1, "inter_method": 0},
        [stretched(degrees=20, shear=0.1, interpolation="nearest"), *CROP],
    ),
    "stretched_and_turned_by_an_angle": (
        {"rotate": 20, "max_shear_ratio": 0.1}, [stretched(degrees=(20, 20), shear=0.1), *CROP]
    ),
    "crop_size": (
        {"min_crop_size": 5, "max_crop_size": 10},
        [V.RandomSquare(5, 10, True), V.Resize((8, 8), antialias=False)],
    ),
    "crop_size_anywhere": (
        {"min_crop_size": 5, "max_crop_size": 10, "rand_crop": True, "inter_method": 2},
        [V.RandomSquare(5, 10), V.Resize((8, 8), "bicubic", antialias=False)],
    ),
    "inter_method_drawn": (
        {"resize": 20, "inter_method": 10}, [drawn(lambda how: V.Resize(20, how, antialias=False)), *CROP]
    ),
    "inter_method_drawn_for_crops": (
        {"random_resized_crop": True, "min_random_area": 0.2, "inter_method": 10},
        [drawn(lambda how: V.RandomResizedCrop((8, 8), (0.2, 1.0), (1.0, 1.0), interpolation=how, antialias=False))],
    ),
    "random_h": ({"random_h": 40}, [*CROP, V.RandomHls(hue=40)]),
    "random_l": ({"random_l": 40}, [*CROP, V.RandomHls(lightness=40)]),
    "random_s": ({"random_s": 40}, [*CROP, V.RandomHls(saturation=40)]),
    "max_random_contrast": ({"max_random_contrast": 0.5}, [*CROP, V.RandomRescale((0.5, 1.5))]),
    "max_random_illumination": ({"max_random_illumination": 9}, [*CROP, V.RandomRescale(shift=(-9, 9))]),
    "light_and_values": (
        {"max_random_contrast": 0.5, "max_random_illumination": 9, "mean_r": 7, "scale": 0.5, "std_g": 2},
        [*CROP, V.Normalize((7, 0, 0), 1.0), V.RandomRescale((0.5, 1.5), (-9, 9)), V.Normalize((0, 0, 0), (1, 2, 1)),
         V.Rescale(0.5)],
    ),
    "mirror": ({"mirror": True, "rand_mirror": True}, [*CROP, V.RandomHorizontalFlip(1.0)]),
    "rand_mirror": ({"rand_mirror": True}, [*CROP, V.RandomHorizontalFlip(0.5)]),
    "mean": ({"mean_r": 100, "mean_g": 90, "mean_b": 80}, [*CROP, V.Normalize((100, 90, 80), 1.0)]),
    "std": ({"std_r": 2, "std_g": 3, "std_b": 4}, [*CROP, V.Normalize((0, 0, 0), (2, 3, 4))]),
    "scale": ({"scale": 1 / 255}, [*CROP, V.Rescale(1 / 255)]),
    "mean_and_scale": ({"mean_r": 7, "scale": 0.5, "std_r": 2, "std_g": 2, "std_b": 2, "std_a": 2},
                       [*CROP, V.Normalize((7, 0, 0), 1.0), V.Rescale(0.25)]),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME_AS)
def test_a_parameter_is_a_kernel(folder, case):
    parameters, kernels = SAME_AS[case]
    data = indexed(folder, **parameters).next().data[0]
    assert np.array_equal(data, chain(folder, kernels)) and data.dtype == np.float32
    plain = indexed(folder, **{"data_shape": parameters.get("data_shape", (3, 8, 8))}).next().data[0]
    assert not np.array_equal(data, plain)


def test_the_order_of_steps_is_mxnets(folder):
    parameters = {
        "resize": 20, "pad": 2, "rand_crop": True, "brightness": 0.1, "pca_noise": 0.1, "rand_mirror": True,
        "mean_r": 1, "std_g": 2, "scale": 0.5,
    }  # fmt: skip
    kernels = [
        V.Resize(20, antialias=False), V.Pad(2, fill=255), V.RandomCrop((8, 8)), V.ColorJitter(brightness=0.1),
        V.RandomLighting(0.1), V.RandomHorizontalFlip(), V.Normalize((1, 0, 0), (1, 2, 1)), V.Rescale(0.5),
    ]  # fmt: skip
    assert np.array_equal(indexed(folder, **parameters).next().data[0], chain(folder, kernels))


def test_the_alpha_of_four_channels(tmp_path):
    rgba = np.random.default_rng(0).integers(0, 256, (8, 8, 4), np.uint8)
    write_records(tmp_path, "some", [encoded(rgba)] * 4)
    plain = some(tmp_path, data_shape=(4, 8, 8)).next().data[0]
    assert np.array_equal(plain[0], rgba[:, :, [2, 1, 0, 3]].transpose(2, 0, 1))
    changed = some(tmp_path, data_shape=(4, 8, 8), mean_a=100, std_a=2).next().data[0]
    assert np.array_equal(changed[:, :3], plain[:, :3])
    assert np.array_equal(changed[:, 3], (plain[:, 3] - 100) / 2)
    write_records(tmp_path, "rgb", [encoded(rgba[:, :, :3].copy())] * 4)
    with pytest.raises(hr.DataError, match=r"has shape \(4, 3, 8, 8\), and should have \(4, 4, 8, 8\); .* with alpha"):
        some(tmp_path, "rgb", data_shape=(4, 8, 8)).next()


def test_a_torn_record_is_told_how_to_do_without(folder, tmp_path):
    whole = (folder / "some.rec").read_bytes()
    (tmp_path / "torn.rec").write_bytes(whole[:-20])
    for given in ({}, {"on_error": "skip"}):
        with pytest.raises(
            hr.DataError, match=r"headrace index FILE\.rec --on-damage skip.* for path_imgidx"
        ) as raised:
            next_batches(some(tmp_path, "torn", **given), 3, labels_of)
        assert str(raised.value).count("headrace index") == 1
    assert main(["index", str(tmp_path / "torn.rec"), "--on-damage", "skip"]) == 0
    good = indexed(tmp_path, "torn", batch_size=1)
    assert next_batches(good, ROWS, labels_of)[:-1] == [[i] for i in range(ROWS - 1)]


def test_a_semicolon_at_the_end_names_nothing(folder):
    one, two = (next_batches(some(folder, path_imgrec=f"{folder}/some.rec{end}"), 4, labels_of) for end in ("", ";"))
    assert one == two


def test_one_channel_is_grey(folder):
    data = some(folder, data_shape=(1, 8, 8), mean_r=3).next().data[0]
    assert data.shape == (4, 1, 8, 8)
    assert np.array_equal(data[0], V.Decode("L")(encoded(image_of(0)))[2:10, 3:11].transpose(2, 0, 1) - 3.0)


@pytest.mark.parametrize(
    "size, crop",
    [((5, 9), 8), ((9, 5), 8), ((11, 8), 8), ((9, 11), 8), ((3, 3), 8), ((8, 13), 8), ((11, 13), 6), ((9, 12), 6)],
)
def test_a_small_image_is_enlarged_and_a_half_rounded_down(tmp_path, size, crop):
    image = image_of(1, *size)
    write_records(tmp_path, "some", [encoded(image)])
    cut = image[:, :, ::-1]
    if cut.shape[0] < crop:
        cut = V.Resize((crop, crop * size[1] // size[0]), antialias=False)(np.ascontiguousarray(cut))
    if cut.shape[1] < crop:
        cut = V.Resize((crop * cut.shape[0] // cut.shape[1], crop), antialias=False)(np.ascontiguousarray(cut))
    top, left = (cut.shape[0] - crop) // 2, (cut.shape[1] - crop) // 2
    expected = cut[top : top + crop, left : left + crop].transpose(2, 0, 1)
    given = {"data_shape": (3, crop, crop), "batch_size": 1}
    assert np.array_equal(some(tmp_path, **given).next().data[0][0], expected)
    assert some(tmp_path, rand_crop=True, **given).next().data[0].shape == (1, 3, crop, crop)


def test_an_image_is_turned_as_its_exif_orientation_says(tmp_path):
    image = image_of(1, 16, 16)
    plain = encoded(image, ".jpg")
    turned = []
    for orientation in range(1, 9):
        tiff = struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x112, 3, 1, orientation, 0, 0)
        exif = b"Exif\0\0" + tiff
        turned.append(plain[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + plain[2:])
    write_records(tmp_path, "some", turned)
    data = some(tmp_path, data_shape=(3, 16, 16), batch_size=8, dtype="uint8").next().data[0]
    for number, bytes_ in enumerate(turned):
        expected = cv2.imdecode(np.frombuffer(bytes_, np.uint8), 1)[:, :, ::-1].transpose(2, 0, 1)
        assert np.array_equal(data[number], expected), number + 1
    assert not np.array_equal(data[0], data[2])


def test_types_are_those_of_mxnet(folder):
    plain = indexed(folder).next().data[0]
    whole = indexed(folder, dtype="uint8").next().data[0]
    assert whole.dtype == np.uint8 and np.array_equal(whole, plain)
    signed = indexed(folder, dtype="int8", mean_r=100.5, mean_g=-3.5).next().data[0]
    moved = plain - np.array([101, -4, 0])[:, None, None]
    assert signed.dtype == np.int8 and np.array_equal(signed, np.clip(moved, -128, 127))
    for iterator, dtype in ((mx.io.ImageRecordUInt8Iter, np.uint8), (mx.io.ImageRecordInt8Iter, np.int8)):
        one = iterator(path_imgrec=str(folder / "some.rec"), data_shape=(3, 8, 8), batch_size=4)
        assert one.next().data[0].dtype == dtype and one.provide_data[0].dtype == dtype
    with pytest.raises(hr.GraphError, match="use ImageRecordIter"):
        mx.io.ImageRecordInt8Iter(path_imgrec="a.rec", data_shape=(3, 8, 8), batch_size=4, dtype="uint8")


def test_labels_and_names(folder):
    two = some(folder, "two", label_width=2, data_name="pixels", label_name="classes")
    assert np.array_equal(two.next().label[0], [[i, 2 * i] for i in range(4)])
    assert [tuple(each) for each in two.provide_data + two.provide_label] == [
        ("pixels", (4, 3, 8, 8)), ("classes", (4, 2)),
    ]  # fmt: skip
    listed = some(folder, path_imglist=str(folder / "some.lst"))
    assert listed.next().label[0].tolist() == [0.5, 10.5, 20.5, 30.5]
    with pytest.raises(hr.DataError, match="label"):
        some(folder, "two").next()


def test_files_are_a_list_a_folder_or_semicolons(folder, tmp_path):
    for number in range(2):
        (tmp_path / f"{number}.rec").write_bytes((folder / "some.rec").read_bytes())
    several = [str(tmp_path / "0.rec"), str(tmp_path / "1.rec")]
    for given in (several, ";".join(several), str(tmp_path)):
        assert steps(some(folder, path_imgrec=given, batch_size=20), 2)[0] == ([*range(10), *range(10)], 0)
    built = some(folder, path_imgrec=several, path_imgidx="build", batch_size=20, shuffle=True)
    assert sorted(labels_of(built.next())) == sorted([*range(10)] * 2) and (tmp_path / "1.idx").exists()


def test_the_seed_decides_crops_unless_they_have_their_own(folder):
    def crops(**seeds):
        iterator = indexed(folder, rand_crop=True, rand_mirror=True, **seeds)
        return [batch.data[0].tobytes() for batch in iterator]

    assert crops() == crops(seed=0) != crops(seed=1)
    assert crops(seed_aug=5) == crops(seed=1, seed_aug=5) != crops(seed_aug=6)
    shuffled = [indexed(folder, shuffle=True, seed_aug=seed).next() for seed in (1, 2)]
    assert labels_of(shuffled[0]) == labels_of(shuffled[1])
    iterator = indexed(folder, rand_crop=True, batch_size=10)
    first, second = ([*iterator][0].data[0] for _ in range(2) if iterator.reset() is None)
    assert not np.array_equal(first, second)


def test_a_row_has_the_same_crop_whatever_is_left_out(bad):
    given = {"rand_crop": True, "rand_mirror": True, "batch_size": 1, "round_batch": False}
    whole = {labels_of(batch)[0]: batch.data[0].tobytes() for batch in indexed(bad, **given)}
    for others in ({"on_error": "skip", "round_batch": True}, {"num_parts": 2, "part_index": 1}, {"on_error": "skip"}):
        for batch in indexed(bad, **{**given, **others}):
            assert batch.data[0].tobytes() == whole[labels_of(batch)[0]]


def test_chunks_are_read_in_random_order(tmp_path):
    # Without an index: 40 records of 128 KiB each, in splits of 1 MB.
    record = mx.recordio.MXRecordIO(str(tmp_path / "big.rec"), "w")
    dot = encoded(np.zeros((1, 1, 3), np.uint8))
    for number in range(40):
        record.write(mx.recordio.pack(mx.recordio.IRHeader(0, number, number, 0), dot + bytes(128 << 10)))
    record.close()

    def order(**given):
        iterator = some(tmp_path, "big", data_shape=(3, 1, 1), batch_size=40, shuffle=True, **given)
        return labels_of(iterator.next())

    plain = order(shuffle_chunk_size=1)
    assert sorted(plain) == list(range(40)) and plain == order(shuffle_chunk_size=1)
    assert len({*map(tuple, (plain, order(), order(shuffle_chunk_size=1, shuffle_chunk_seed=3), order(seed=1)))}) == 4
    for wrong in ({"shuffle_chunk_seed": 1}, {"shuffle_chunk_size": 1, "shuffle": False}):
        with pytest.raises(hr.GraphError, match="shuffle_chunk_se|shuffle_chunk_size"):
            some(tmp_path, "big", **{"shuffle": True, **wrong})


@pytest.mark.parametrize("given", [{"aug_seq": "aug_other"}, {"min_random_area": 0.5}, {"inter_method": 5}])
def test_what_there_is_not_is_refused(folder, given):
    (name,) = given
    with pytest.raises(hr.UnsupportedError, match=f"ImageRecordIter: {name} is "):
        some(folder, **given)


@pytest.mark.parametrize("turned", [{"rotate": 30}, {"max_rotate_angle": 30}, {"max_shear_ratio": 0.1}])
@pytest.mark.parametrize("method", [4, 10])
def test_a_rotation_by_lanczos_is_refused(folder, turned, method):
    message = f"ImageRecordIter: inter_method is {method}, and no kernel turns or stretches by Lanczos"
    with pytest.raises(hr.UnsupportedError, match=message):
        some(folder, inter_method=method, **turned)
    assert some(folder, inter_method=method, rotate=0, max_rotate_angle=0).next() is not None


def test_the_interpolation_is_drawn_for_each_image(folder):
    """Each of the five equally often."""
    image = image_of(0)[:, :, ::-1].copy()
    cut = V.CenterCrop((8, 8), rounding="down")
    names = ("nearest", "bilinear", "bicubic", "area", "lanczos")
    kinds = {cut(V.Resize(20, how, antialias=False)(image)).transpose(2, 0, 1).tobytes(): how for how in names}
    assert len(kinds) == 5
    iterator = indexed(folder, resize=20, inter_method=10, dtype="uint8", batch_size=1, round_batch=False)
    counts = dict.fromkeys(names, 0)
    for _ in range(500):
        counts[kinds[iterator.next().data[0][0].tobytes()]] += 1
        iterator.reset()
    # Below 18.47 in all but one of a thousand.
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 18.47


def test_the_mean_image_has_no_random_geometry(folder, tmp_path):
    plain, random = tmp_path / "plain.bin", tmp_path / "random.bin"
    given = {
        "max_shear_ratio": 0.3, "max_random_scale": 1.5, "max_aspect_ratio": 0.2, "random_h": 9,
        "max_random_contrast": 0.3,
    }  # fmt: skip
    for path, more in ((plain, {}), (random, given)):
        some(folder, mean_img=path, **more).next()
    for more in ({"min_crop_size": 5, "max_crop_size": 9}, {"inter_method": 10}):
        other = tmp_path / f"{len(more)}{[*more][0]}.bin"
        some(folder, mean_img=other, **more).next()
        assert other.read_bytes() == plain.read_bytes()
    assert plain.read_bytes() == random.read_bytes()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data_shape": (8, 8)}, "data_shape is .*channels, height, width"),
        ({"data_shape": (2, 8, 8)}, "1, 3 or 4 channels"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"dtype": "float16"}, "dtype is 'float16'"),
        ({"label_width": 0}, "label_width is 0"),
        ({"rand_crop": 2}, "rand_crop is 2"),
        ({"resize": 0}, "resize is 0"),
        ({"brightness": "much"}, "brightness is 'much'"),
        ({"brightness": -0.5}, "ImageRecordIter: brightness is -0.5; it must be at least 0"),
        ({"contrast": -0.5, "saturation": 0.5}, "ImageRecordIter: contrast is -0.5; it must be at least 0"),
        ({"saturation": -1}, "ImageRecordIter: saturation is -1; it must be at least 0"),
        ({"pca_noise": -0.1}, "ImageRecordIter: pca_noise is -0.1; it must be at least 0"),
        ({"path_imgrec": None}, "ImageRecordIter: path_imgrec is None; it must be a path, or a list of paths"),
        ({"path_imgrec": ""}, "ImageRecordIter: path_imgrec is ''; it must be a path"),
        ({"path_imgrec": []}, r"ImageRecordIter: path_imgrec is \[\]; it must be a path"),
        ({"path_imgrec": ["a.rec", 3]}, "ImageRecordIter: path_imgrec has 3, not a path"),
        ({"path_imgrec": ["a.rec", ""]}, "ImageRecordIter: path_imgrec has '', not a path"),
        ({"std_r": 0}, "ImageRecordIter: std_r is 0.0; it must be above 0"),
        ({"max_shear_ratio": -0.1}, "max_shear_ratio is -0.1; it must be at least 0"),
        ({"min_random_scale": 1.5}, "min_random_scale is 1.5, above max_random_scale, which is 1.0"),
        ({"max_aspect_ratio": 1}, "max_aspect_ratio is 1.0; it must be below 1"),
        ({"min_crop_size": 5}, "max_crop_size is -1; it must be at least 1"),
        ({"max_crop_size": 5}, "min_crop_size is -1; it must be at least 1"),
        ({"max_crop_size": 5, "min_crop_size": 6}, "min_crop_size is 6, above max_crop_size, which is 5"),
        (
            {"max_crop_size": 5, "min_crop_size": 5, "random_resized_crop": True},
            "random_resized_crop and max_crop_size are both set",
        ),
        ({"random_h": 181}, "random_h is 181; it must be at most 180"),
        ({"random_l": -1}, "random_l is -1; it must be at least 0"),
        ({"random_s": 9, "data_shape": (1, 8, 8)}, "random_s is 9, and data_shape has 1 channels; it is for 3"),
        ({"max_random_contrast": 0.5, "dtype": "uint8"}, "max_random_contrast is 0.5, and has no effect on uint8"),
        ({"max_random_illumination": 5, "dtype": "int8"}, "max_random_illumination is 5.0, and has no effect on int8"),
        ({"random_resized_crop": True, "rand_crop": True}, "random_resized_crop and rand_crop"),
        ({"dtype": "uint8", "mean_r": 3}, "mean_r is 3.0, and has no effect on uint8"),
        ({"dtype": "uint8", "mean_img": "mean.bin"}, "mean_img is 'mean.bin', and has no effect on uint8"),
        ({"dtype": "int8", "mean_img": "mean.bin"}, "mean_img is 'mean.bin', and has no effect on int8"),
        ({"mean_img": "mean.bin", "mean_b": 3}, "mean_img is 'mean.bin' and mean_b is 3.0; give one"),
        ({"mean_img": 3}, "mean_img is 3; it must be a path"),
        ({"dtype": "int8", "scale": 3}, "scale is 3.0, and has no effect on int8"),
        ({"on_error": "ignore"}, "on_error is 'ignore'"),
        ({"preprocess_threads": 0}, "preprocess_threads is 0"),
        ({"path_imgidx": "x.idx", "shuffle": True, "shuffle_chunk_size": 1}, "without path_imgidx"),
    ],
)
def test_what_cannot_be_is_refused(folder, given, message):
    with pytest.raises(hr.GraphError, match=message):
        some(folder, **given)


def test_unknown_names_and_missing_files(folder):
    with pytest.raises(TypeError, match="no parameter path_img_rec; did you mean path_imgrec"):
        some(folder, path_img_rec="x.rec")
    with pytest.raises(TypeError, match="no parameter xyz; those of augmentation are resize, rand_crop"):
        some(folder, xyz=1)
    with pytest.raises(TypeError, match="no parameter rand_corp; did you mean rand_crop"):
        some(folder, rand_corp=True)
    with pytest.raises(hr.NotFoundError, match=r"none\.rec"):
        some(folder, "none", path_imgidx=str(folder / "some.idx"))
    for given in ({}, {"shuffle": True}, {"round_batch": False}, {"num_parts": 2}, {"on_error": "skip"}):
        with pytest.raises(hr.NotFoundError, match=r"none\.rec"):
            some(folder, "none", **given)
    with pytest.raises(hr.NotFoundError, match=r"none\.lst"):
        some(folder, path_imglist=str(folder / "none.lst"))
    with pytest.raises(hr.UnsupportedError, match="inter_method is 9"):
        some(folder, inter_method=9, random_resized_crop=True, min_random_area=0.5)


# ---- what changes no value ----


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"ctx": "cpu"}, "ctx=cpu, device_id=0: batches lie in host memory"),
        ({"ctx": mx.gpu(1)}, r"ctx=gpu\(1\)"),
        ({"device_id": -1}, "device_id=-1"),
        ({"preprocess_threads": 3}, "preprocess_threads=3: at most 3 tasks"),
        ({"prefetch_buffer": 2}, "prefetch_buffer=2: the memory budget"),
    ],
)
def test_what_changes_no_value_is_explained(folder, given, shown):
    iterator, plain = some(folder, **given), some(folder)
    assert iterator.next().data[0].tobytes() == plain.next().data[0].tobytes()
    assert re.search(shown, iterator.explain()) and not re.search(shown, plain.explain())


def test_threads_and_memory_are_the_engines(folder):
    iterator = indexed(folder, preprocess_threads=1, memory="64MiB")
    iterator.next()
    assert {stage["cap"] for stage in iterator._run.report()["stages"]} == {1}
    assert "64.0 MiB" in iterator.explain()


def test_verbose_is_a_line_of_the_log(folder, caplog):
    caplog.set_level(logging.INFO, "headrace.mx")
    loud = indexed(folder).next().data[0]
    assert "10 rows, shuffle=False" in caplog.text
    caplog.clear()
    assert np.array_equal(indexed(folder, verbose=False).next().data[0], loud) and caplog.text == ""


def test_no_python_runs_for_a_row(folder):
    def calls(batch_size, **given):
        return python_calls(indexed(folder, "many", batch_size=batch_size, rand_mirror=True, **given))

    for given in ({}, {"round_batch": False}, {"on_error": "skip"}):
        # What is reported of rows left out has a few more entries at times.
        assert calls(40, **given) < calls(2, **given) + 30


def test_it_fits_into_the_other_iterators(folder):
    resized = mx.io.ResizeIter(some(folder), 7)
    assert [labels_of(batch)[0] for batch in resized] == [0, 4, 8, 2, 6, 0, 4]
    iterator = some(folder)
    assert iterator.iter_next() and iterator.getlabel().tolist() == [0, 1, 2, 3]
    assert iterator.getdata().shape == (4, 3, 8, 8) and iterator.getpad() == 0 and iterator.getindex()[0] == 100
    joined = mx.io.PrefetchingIter([some(folder), some(folder)])
    assert [[array[0] for array in batch.label] for batch in joined] == [[0, 0], [4, 4], [8, 8]]


# ---- MXNet's own ----


@needs_mxnet
def test_batches_equal_mxnets(folder, tmp_path):
    epochs = 4
    base = {"data_shape": [3, 8, 8], "batch_size": 4, "verbose": False}
    cases = []
    for name in ("some", "jpeg", "two"):
        paths = {"path_imgrec": str(folder / f"{name}.rec")}
        paths |= {"label_width": 2} if name == "two" else {}
        for extra in ({}, {"path_imgidx": str(folder / f"{name}.idx")}, {"batch_size": 5}, {"batch_size": 1}):
            cases.append(("ImageRecordIter", {**base, **paths, **extra}, epochs))
    some_records = {"path_imgrec": str(folder / "some.rec")}
    for extra in (
        {"path_imglist": str(folder / "some.lst")},
        {"data_name": "pixels", "label_name": "classes"},
        {"dtype": "uint8"},
        {"dtype": "int8", "mean_r": 100.5, "mean_b": 20},
        {"mean_r": 123.68, "mean_g": 116.28, "mean_b": 103.53},
        {"mean_r": 123.68, "std_r": 58.4, "std_g": 58.4, "std_b": 58.4, "std_a": 58.4, "scale": 0.5},
        {"scale": 1 / 255},
        {"mirror": True},
        {"data_shape": [3, 20, 14]},
        {"data_shape": [3, 9, 10]},
        {"data_shape": [3, 20, 18], "inter_method": 9},
        {"data_shape": [3, 20, 14], "inter_method": 9},
        {"data_shape": [3, 20, 18], "inter_method": 2},
        {"data_shape": [3, 8, 31], "inter_method": 0},
        {"data_shape": [3, 8, 31], "inter_method": 3},
        {"resize": 9},
        {"resize": 31, "inter_method": 2},
        {"resize": 9, "inter_method": 0},
        {"resize": 9, "inter_method": 3},
        {"resize": 9, "inter_method": 9},
        {"resize": 31, "inter_method": 9},
        {"pad": 3, "fill_value": 17, "data_shape": [3, 17, 20]},
        {"min_crop_size": 9, "max_crop_size": 9},
        {"min_crop_size": 11, "max_crop_size": 11, "data_shape": [3, 20, 14], "inter_method": 2},
    ):
        cases.append(("ImageRecordIter", {**base, **some_records, **extra}, epochs))
    for name in ("ImageRecordUInt8Iter", "ImageRecordInt8Iter"):
        cases.append((name, {**base, **some_records}, epochs))
    for theirs, (name, given_, _) in zip(run_mxnet(tmp_path, cases), cases, strict=True):
        ours = run_ours(getattr(mx.io, name)(**given_), epochs)
        compare(ours, theirs, given_)


@needs_mxnet
def test_parts_equal_mxnets(folder, tmp_path):
    # Where a part ends within a batch MXNet's next epochs are not those of its rows.
    cases = []
    for part in range(3):
        base = {"data_shape": [3, 8, 8], "verbose": False, "num_parts": 3, "part_index": part, "batch_size": 2}
        base |= {"path_imgrec": str(folder / "some.rec")}
        cases.append(("ImageRecordIter", base, 1))
        cases.append(("ImageRecordIter", {**base, "path_imgidx": str(folder / "some.idx")}, 1))
    for theirs, (name, given_, _) in zip(run_mxnet(tmp_path, cases), cases, strict=True):
        compare(run_ours(getattr(mx.io, name)(**given_), 1), theirs, given_)


@needs_mxnet
def test_a_rotation_is_mxnets_but_for_half_a_pixel(tmp_path):
    image = cv2.GaussianBlur(image_of(1, 40, 40), (0, 0), 4)
    write_records(tmp_path, "some", [encoded(image)])
    given = {
        "path_imgrec": str(tmp_path / "some.rec"), "data_shape": [3, 40, 40], "batch_size": 1, "verbose": False,
        "rotate": 30, "fill_value": 7,
    }  # fmt: skip
    (theirs,) = run_mxnet(tmp_path, [("ImageRecordIter", given, 1)])
    ours = run_ours(mx.io.ImageRecordIter(**given), 1)
    apart = np.abs(ours.epochs[0][0][0] - theirs.epochs[0][0][0])
    assert apart[:, :, 10:30, 10:30].max() < 4 and (ours.epochs[0][0][0] == 7).sum() > 300


@needs_mxnet
def test_stretched_images_are_mxnets_but_for_half_a_pixel(tmp_path):
    image = cv2.GaussianBlur(image_of(1, 60, 60), (0, 0), 5)
    write_records(tmp_path, "some", [encoded(image)])
    base = {
        "path_imgrec": str(tmp_path / "some.rec"), "data_shape": [3, 30, 30], "batch_size": 1, "verbose": False,
        "fill_value": 7,
    }  # fmt: skip
    cases = [
        ("ImageRecordIter", {**base, **given}, 1)
        for given in (
            {"max_random_scale": 1.5, "min_random_scale": 1.5}, {"max_random_scale": 0.6, "min_random_scale": 0.6},
            {"min_aspect_ratio": 1.6, "max_aspect_ratio": 1.6}, {"min_aspect_ratio": 0.6, "max_aspect_ratio": 0.6},
            {"min_img_size": 80, "data_shape": [3, 80, 80]}, {"max_img_size": 40},
            {"rotate": 30, "min_aspect_ratio": 1.3, "max_aspect_ratio": 1.3, "min_random_scale": 1.2,
             "max_random_scale": 1.2},
        )
    ]  # fmt: skip
    for theirs, (_, given, _) in zip(run_mxnet(tmp_path, cases), cases, strict=True):
        ours = run_ours(mx.io.ImageRecordIter(**given), 1)
        apart = np.abs(ours.epochs[0][0][0] - theirs.epochs[0][0][0])
        inside = slice(22, 58) if "min_img_size" in given else slice(2, 28)
        assert apart[:, :, inside, inside].max() < 5, given
        assert (ours.epochs[0][0][0] == 7).mean() == pytest.approx((theirs.epochs[0][0][0] == 7).mean(), abs=0.03), (
            given
        )


@needs_mxnet
def test_random_shears_light_and_colours_are_distributed_as_mxnets(tmp_path):
    """By the test of Kolmogorov and Smirnov, of a number for each of 400 images."""
    ramp = np.repeat(np.repeat(np.arange(60, dtype=np.uint8)[None, :, None] * 4, 60, axis=0), 3, axis=2)
    colour = np.full((60, 60, 3), (60, 90, 200), np.uint8)
    write_records(tmp_path, "ramp", [encoded(ramp)] * 400)
    write_records(tmp_path, "colour", [encoded(colour)] * 400)
    cases = {
        "max_shear_ratio": ("ramp", {"max_shear_ratio": 0.4}, lambda each: each[0, 2, 15] - each[0, 28, 15]),
        "max_random_scale": ("ramp", {"max_random_scale": 2}, lambda each: each[0, 15, 28] - each[0, 15, 2]),
        "max_aspect_ratio": ("ramp", {"max_aspect_ratio": 0.4}, lambda each: each[0, 15, 28] - each[0, 15, 2]),
        "max_random_contrast": ("colour", {"max_random_contrast": 0.5}, lambda each: each[0, 0, 0]),
        "max_random_illumination": ("colour", {"max_random_illumination": 20}, lambda each: each[0, 0, 0]),
        "random_h": ("colour", {"random_h": 30}, lambda each: each[1, 0, 0] - each[2, 0, 0]),
        "random_l": ("colour", {"random_l": 30}, lambda each: each[0, 0, 0]),
        "random_s": ("colour", {"random_s": 60}, lambda each: each[0, 0, 0]),
    }
    base = {"data_shape": [3, 30, 30], "batch_size": 400, "verbose": False}
    asked = [
        ("ImageRecordIter", {**base, **given, "path_imgrec": str(tmp_path / f"{name}.rec")}, 1)
        for name, given, _ in cases.values()
    ]
    for theirs, (name, (_, _, number)), (_, given, _) in zip(
        run_mxnet(tmp_path, asked), cases.items(), asked, strict=True
    ):
        ours = run_ours(mx.io.ImageRecordIter(**given, seed=1), 1)
        check_alike(*([number(each) for each in run.epochs[0][0][0]] for run in (ours, theirs)), name)


@needs_mxnet
def test_values_with_a_deviation_for_each_channel_equal_mxnets_but_for_the_last_bit(folder, tmp_path):
    given_ = {
        "path_imgrec": str(folder / "some.rec"), "data_shape": [3, 8, 8], "batch_size": 4, "verbose": False,
        "mean_r": 123.68, "mean_g": 116.28, "mean_b": 103.53, "std_r": 58.395, "std_g": 57.12, "std_b": 57.375,
    }  # fmt: skip
    (theirs,) = run_mxnet(tmp_path, [("ImageRecordIter", given_, 1)])
    ours = run_ours(mx.io.ImageRecordIter(**given_), 1)
    for one, other in zip(ours.epochs[0], theirs.epochs[0], strict=True):
        np.testing.assert_array_almost_equal_nulp(one[0], other[0], 2)


def compare(ours, theirs, given_):
    """The first epoch's pads alone: later ones are what MXNet finds in a buffer that it uses again."""
    assert ours.described == theirs.described, given_
    assert [pad for *_, pad in ours.epochs[0]] == [pad for *_, pad in theirs.epochs[0]], given_
    assert len(ours.epochs) == len(theirs.epochs)
    for mine, other in zip(ours.epochs, theirs.epochs, strict=True):
        assert len(mine) == len(other), given_
        for (data, label, _), (their_data, their_label, _) in zip(mine, other, strict=True):
            assert data.dtype == their_data.dtype
            assert np.array_equal(label, their_label), given_
            assert np.array_equal(data, their_data), (given_, np.abs(data.astype(float) - their_data).max())
