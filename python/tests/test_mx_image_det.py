"""headrace.mx.io.ImageDetRecordIter and mx.image.ImageDetIter: images, objects, augmentation, epochs and states, and what
MXNet 1.9.1 gives."""

import inspect
import logging
import pickle
import re

import cv2
import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from headrace import vision as V
from headrace.mx.io.det_augmentation import DetAugmentationParameters
from tests.mx_batches import next_batches, python_calls
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours
from tests.small_image_records import encoded, image_of, write_records

ROWS = 10
HEIGHT, WIDTH = 24, 32


def objects_of(row):
    """Of five numbers each: one to three, and in row 4 also one without width."""
    draws = np.random.default_rng(row)
    count = row % 3 + 1
    near = draws.uniform(0.05, 0.4, (count, 2))
    far = near + draws.uniform(0.2, 0.55, (count, 2))
    objects = np.concatenate([draws.integers(0, 20, (count, 1)), near, far], 1).astype(np.float32)
    return np.concatenate([objects, np.float32([[1, 0.5, 0.2, 0.5, 0.9]])]) if row == 4 else objects


def label_of(row):
    return np.concatenate([np.float32([4, 5, 30, 20]), objects_of(row).ravel()])


def kept_of(row):
    objects = objects_of(row)
    return objects[objects[:, 3] > objects[:, 1]]


IMAGES = [image_of(i, HEIGHT, WIDTH) for i in range(ROWS)]
OBJECTS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("objects")
    payloads = [encoded(image) for image in IMAGES]
    write_records(folder, "some", payloads, [label_of(i) for i in range(ROWS)])
    for i, payload in enumerate(payloads):
        (folder / f"{i}.png").write_bytes(payload)
    lines = ("\t".join([str(100 + i), *(f"{x:f}" for x in label_of(i)), f"{i}.png"]) for i in range(ROWS))
    (folder / "list.lst").write_text("".join(line + "\n" for line in lines))
    bad = [label_of(i) for i in range(ROWS)]
    bad[3] = np.float32([2, 5, 1, 0, 0, 1])
    write_records(folder, "bad", payloads, bad)
    return folder


def records(folder, name="some", **given):
    parameters = {
        "data_shape": (3, HEIGHT, WIDTH),
        "batch_size": 4,
        "path_imgrec": str(folder / f"{name}.rec"),
        **given,
    }
    return mx.io.ImageDetRecordIter(**parameters)


def some(folder, name="some", **given):
    parameters = {
        "data_shape": (3, HEIGHT, WIDTH),
        "batch_size": 4,
        "path_imgrec": str(folder / f"{name}.rec"),
        **given,
    }
    return mx.image.ImageDetIter(**parameters)


def indexed(folder, **given):
    return some(folder, path_imgidx=str(folder / "some.idx"), **given)


def listed(folder, **given):
    return mx.image.ImageDetIter(
        4, (3, HEIGHT, WIDTH), path_imglist=str(folder / "list.lst"), path_root=str(folder), **given
    )


def in_python(folder, **given):
    entries = [[*label_of(i).tolist(), f"{i}.png"] for i in range(ROWS)]
    return mx.image.ImageDetIter(4, (3, HEIGHT, WIDTH), imglist=entries, path_root=str(folder), **given)


MAKERS = (some, indexed, listed, in_python)


def rows_of(iterator, epochs=1):
    """(data, label) of each row, without those that fill the last batch."""
    rows = []
    for _ in range(epochs):
        for batch in iterator:
            count = len(batch.label[0]) - batch.pad
            rows += [(batch.data[0][i].asnumpy(), batch.label[0][i].asnumpy()) for i in range(count)]
        iterator.reset()
    return rows


def everything(iterator, count):
    def told(batch):
        return batch.data[0].tobytes(), batch.label[0].tobytes(), batch.pad, batch.index.tolist()

    return next_batches(iterator, count, told)


def of_record(label):
    """The objects in a label of ImageDetRecordIter."""
    assert label[0] == 3
    length, header, width = int(label[3]), int(label[4]), int(label[5])
    assert (label[4 + length :] == -1).all()
    return label[4 + header : 4 + length].reshape(-1, width)


def of_array(label):
    return label[label[:, 0] >= 0]


# ---- without augmentation ----


def test_records_give_their_images_and_labels(folder):
    iterator = records(folder)
    assert iterator.provide_data == [("data", (4, 3, HEIGHT, WIDTH))]
    # The widest label is that of row 4, with the object that has no width.
    widest = max(len(label_of(i)) for i in range(ROWS))
    assert iterator.provide_label == [("softmax_label", (4, 4 + widest))]
    rows = rows_of(iterator)
    assert len(rows) == ROWS
    for i, (data, label) in enumerate(rows):
        np.testing.assert_array_equal(data, IMAGES[i][:, :, ::-1].transpose(2, 0, 1))
        np.testing.assert_array_equal(label[:3], [3, HEIGHT, WIDTH])
        np.testing.assert_array_equal(label[4:8], [4, 5, 30, 20])
        np.testing.assert_array_equal(of_record(label), kept_of(i))


@pytest.mark.parametrize("make", MAKERS)
def test_each_kind_of_list_gives_images_and_objects(folder, make):
    iterator = make(folder)
    assert iterator.provide_label == [("label", (4, OBJECTS, 5))]
    rows = rows_of(iterator)
    assert len(rows) == ROWS
    for i, (data, label) in enumerate(rows):
        np.testing.assert_array_equal(data, IMAGES[i][:, :, ::-1].transpose(2, 0, 1))
        np.testing.assert_allclose(of_array(label), kept_of(i), atol=0 if make in (some, indexed) else 1e-6)
        assert (label[len(kept_of(i)) :] == -1).all()


@pytest.mark.parametrize("make", [records, some])
def test_python_does_not_run_for_a_row(folder, make):
    few, many = (
        python_calls(
            make(folder, batch_size=size, last_batch_handle="roll_over")
            if make is some
            else make(folder, batch_size=size)
        )
        for size in (1, 4)
    )
    assert many <= few + 2


def test_labels_are_padded_as_asked_for(folder):
    iterator = records(folder, label_pad_width=40, label_pad_value=-7)
    assert iterator.provide_label == [("softmax_label", (4, 44))]
    for i, (_, label) in enumerate(rows_of(iterator)):
        length = int(label[3])
        assert length == 4 + 5 * len(kept_of(i))
        assert (label[4 + length :] == -7).all()
    assert records(folder, label_pad_width=-1).provide_label == records(folder).provide_label
    narrow = records(folder, label_pad_width=10)
    for _ in range(2):
        with pytest.raises(hr.DataError, match="^ImageDetRecordIter: label_pad_width is 10, .*: cannot pad"):
            narrow.next()


def test_objects_of_unequal_width_are_refused(folder, tmp_path):
    payloads = [encoded(image) for image in IMAGES[:2]]
    write_records(tmp_path, "two", payloads, [np.float32([2, 5, 1, 0, 0, 1, 1]), np.float32([2, 6, 1, 0, 0, 1, 1, 7])])
    with pytest.raises(hr.DataError, match="objects have 5 and 6 numbers; all must have as many"):
        some(tmp_path, "two")


@pytest.mark.parametrize("wrong", [[2, 5, 0, 0.1, 0.1, 0.5, 0.5, 7], [2, 5, 0, 0.1]])
def test_a_label_in_python_that_does_not_add_up_is_refused(folder, wrong):
    entries = [[*wrong, "0.png"], [2, 5, *[0, 0.1, 0.1, 0.5, 0.5] * 3, "1.png"]]
    for order in (entries, entries[::-1]):
        with pytest.raises(hr.DataError, match=r"imglist\[[01]\], '0.png': the label has .* do not add up"):
            mx.image.ImageDetIter(1, (3, HEIGHT, WIDTH), imglist=order, path_root=str(folder))


def test_a_label_that_is_none_is_named_or_left_out(folder):
    with pytest.raises(hr.DataError, match="do not add up"):
        next_batches(records(folder, "bad"), 3, lambda batch: 0)
    with pytest.raises(hr.DataError, match="do not add up"):
        some(folder, "bad")
    for make in (records, some):
        iterator = make(folder, "bad", on_error="skip")
        ids = next_batches(iterator, 2, lambda batch: batch.index.tolist())
        assert sum(ids, []) == [100 + i for i in (0, 1, 2, 4, 5, 6, 7, 8)]


@pytest.mark.parametrize("make", [records, indexed])
@pytest.mark.parametrize("done", range(6))
def test_a_state_goes_on_behind_its_batch(folder, make, done):
    given = (
        {"seed": 3, "rand_mirror_prob": 0.5, "rand_crop_prob": 0.9}
        if make is records
        else {"seed": 3, "shuffle": True, "rand_mirror": True, "rand_crop": 0.9}
    )
    whole = everything(make(folder, **given), 9)
    iterator = make(folder, **given)
    everything(iterator, done)
    state = pickle.loads(pickle.dumps(iterator.state()))
    assert everything(make(folder, **given, state=state), 9 - done) == whole[done:]


@pytest.mark.parametrize("make", [records, some])
def test_what_every_iterator_takes(folder, make, caplog):
    iterator = make(folder, memory="64MiB")
    iterator.next()
    assert "ImageRecord" in iterator.explain()
    with pytest.raises(hr.GraphError, match="memory"):
        make(folder, memory="none")
    with pytest.raises(hr.GraphError, match="on_error"):
        make(folder, on_error="no")


def test_what_changes_no_value_is_explained(folder, caplog):
    given = {"preprocess_threads": 2, "prefetch_buffer": 3, "ctx": "cpu", "device_id": 1}
    with caplog.at_level(logging.INFO, "headrace.mx"):
        changed = records(folder, verbose=True, **given)
    assert "labels padded to" in caplog.text
    text = changed.explain()
    for line in ("ctx=cpu, device_id=1", "preprocess_threads=2", "prefetch_buffer=3"):
        assert line in text
    assert everything(changed, 5) == everything(records(folder, verbose=False), 5)


def test_a_deviation_of_0_divides_nothing(folder):
    assert everything(records(folder, std_r=0, std_g=1), 3) == everything(records(folder), 3)


def test_a_file_that_is_missing_or_empty_is_named(folder, tmp_path):
    with pytest.raises(hr.NotFoundError, match=r"none\.rec"):
        records(folder, "none", label_pad_width=40)
    (tmp_path / "none.rec").touch()
    with pytest.raises(hr.GraphError, match=r"ImageDetRecordIter: path_imgrec='.*none\.rec' gives no rows"):
        records(tmp_path, "none").next()


# ---- images that keep their ratio ----

KEPT = {"shrink": ((10, 32), (24, 20), (12, 12), (24, 32), (40, 50)), "fit": ((10, 32), (12, 12), (24, 32), (40, 50))}


def kept_size(mode, most):
    """Of an image of HEIGHT x WIDTH, as MXNet has it."""
    ratio = min(np.float32(side) / np.float32(own) for side, own in zip(most, (HEIGHT, WIDTH), strict=True))
    ratio = min(ratio, np.float32(1)) if mode == "shrink" else ratio
    return tuple(int(np.float32(own) * ratio) for own in (HEIGHT, WIDTH))


@pytest.mark.parametrize(("mode", "most"), [(mode, most) for mode, sizes in KEPT.items() for most in sizes])
@pytest.mark.parametrize("inter_method", [0, 1])
def test_images_keep_their_ratio_and_the_label_has_their_size(folder, mode, most, inter_method):
    height, width = kept_size(mode, most)
    how = (cv2.INTER_NEAREST, cv2.INTER_LINEAR)[inter_method]
    given = {"data_shape": (3, *most), "resize_mode": mode, "fill_value": 7, "inter_method": inter_method}
    rows = rows_of(records(folder, **given, mean_r=2, scale=0.5))
    assert len(rows) == ROWS
    for i, (data, label) in enumerate(rows):
        expected = np.full((*most, 3), 7, np.float32)
        expected[:height, :width] = cv2.resize(IMAGES[i], (width, height), interpolation=how)[:, :, ::-1]
        expected = (expected - np.float32([2, 0, 0])) / 2
        np.testing.assert_allclose(data, expected.transpose(2, 0, 1), atol=1e-4)
        objects = kept_of(i)
        numbers = [3, height, width, 4 + objects.size, 4, 5, 30, 20, *objects.ravel()]
        np.testing.assert_allclose(label[: len(numbers)], numbers, atol=1e-6)


@pytest.mark.parametrize("mode", ["force", "shrink", "fit"])
def test_the_interpolation_is_drawn_for_each_image(folder, mode):
    given = {"data_shape": (3, 12, 20), "resize_mode": mode, "round_batch": False}
    of_each = [rows_of(records(folder, **given, inter_method=number)) for number in range(5)]
    drawn = rows_of(records(folder, **given, inter_method=10), epochs=4)
    found = set()
    for i, (data, label) in enumerate(drawn):
        alike = [number for number, rows in enumerate(of_each) if np.array_equal(rows[i % ROWS][0], data)]
        assert alike
        np.testing.assert_array_equal(label, of_each[0][i % ROWS][1])
        found |= {*alike}
    assert found == {*range(5)}
    moved = {"rand_crop_prob": 1, "min_crop_scales": 0.5, "rand_mirror_prob": 0.5, "resize": 20}
    again = [everything(records(folder, **given, **moved, inter_method=10, seed=3), 5) for _ in range(2)]
    assert again[0] == again[1]


def test_a_mean_image_is_of_images_with_what_lies_beside_them(folder, tmp_path):
    given = {"data_shape": (3, 12, 12), "resize_mode": "fit", "fill_value": 7}
    mean = mean_made(folder, tmp_path / "mean.bin", **given)
    plain, less = (rows_of(records(folder, **given, **more)) for more in ({}, {"mean_img": tmp_path / "mean.bin"}))
    np.testing.assert_allclose(mean, np.mean([data for data, _ in plain], 0), rtol=1e-5)
    assert (mean[:, 9:] == 7).all()
    for (before, _), (data, _) in zip(plain, less, strict=True):
        np.testing.assert_allclose(data, before - mean, atol=1e-4)


@pytest.mark.parametrize("done", range(4))
def test_a_state_goes_on_where_images_keep_their_ratio(folder, done):
    given = {
        "data_shape": (3, 12, 20),
        "resize_mode": "shrink",
        "seed": 3,
        "rand_crop_prob": 0.9,
        "rand_mirror_prob": 0.5,
    }
    whole = everything(records(folder, **given), 7)
    iterator = records(folder, **given)
    everything(iterator, done)
    assert everything(records(folder, **given, state=iterator.state()), 7 - done) == whole[done:]


# ---- mean images ----


def mean_made(folder, path, **given):
    records(folder, mean_img=path, **given)
    return mx.nd.load(path)["mean_img"].asnumpy()


def test_a_mean_image_is_made_and_subtracted(folder, tmp_path):
    mean = mean_made(folder, tmp_path / "mean.bin")
    whole = np.stack([image[:, :, ::-1].transpose(2, 0, 1) for image in IMAGES])
    np.testing.assert_allclose(mean, whole.mean(0), rtol=1e-6)
    for given in ({}, {"scale": 0.5}, {"rand_mirror_prob": 1}):
        plain, less = (rows_of(records(folder, **given, **more)) for more in ({}, {"mean_img": tmp_path / "mean.bin"}))
        for (before, label), (data, same) in zip(plain, less, strict=True):
            np.testing.assert_allclose(data, before - mean * given.get("scale", 1), atol=1e-4)
            np.testing.assert_array_equal(label, same)


def test_a_mean_image_has_resizing_and_nothing_random(folder, tmp_path):
    random = {
        "rand_crop_prob": 1, "min_crop_scales": 0.3, "rand_pad_prob": 1, "max_pad_scale": 3, "rand_mirror_prob": 1,
        "max_random_hue": 90, "random_hue_prob": 1, "max_random_contrast": 0.5, "random_contrast_prob": 1, "scale": 0.5,
        "num_parts": 2, "part_index": 1,
    }  # fmt: skip
    plain = mean_made(folder, tmp_path / "plain.bin")
    np.testing.assert_array_equal(mean_made(folder, tmp_path / "random.bin", **random, inter_method=10), plain)
    small = mean_made(folder, tmp_path / "small.bin", data_shape=(3, 8, 8), resize=10)
    resized = [V.Resize(10, antialias=False)(image[:, :, ::-1].copy()) for image in IMAGES]
    images = [V.Resize((8, 8), antialias=False)(image) for image in resized]
    np.testing.assert_allclose(small, np.stack(images).transpose(0, 3, 1, 2).mean(0), rtol=1e-6)


# ---- augmentation ----


def recovered(data, label, objects):
    """Whether each box of the label encloses what it enclosed: images with a square of its own colour for each class."""
    for each in objects(label):
        left, right = each[1] * data.shape[2], each[3] * data.shape[2]
        top, bottom = each[2] * data.shape[1], each[4] * data.shape[1]
        mask = np.abs(data - colour_of(each[0])[:, None, None]).max(0) < 0.5
        ys, xs = np.nonzero(mask)
        found = np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1])
        np.testing.assert_allclose(found, [left, top, right, bottom], atol=1.01)


def colour_of(kind):
    return np.float32([40 + 30 * kind, 250 - 30 * kind, 60])


@pytest.fixture(scope="module")
def squares(tmp_path_factory):
    """Images of 64 × 80 with two rectangles that do not touch, whose colours say their class."""
    folder = tmp_path_factory.mktemp("squares")
    draws = np.random.default_rng(1)
    payloads, labels = [], []
    for _ in range(40):
        image = np.zeros((64, 80, 3), np.uint8)
        objects = []
        for side in range(2):
            left, top = 40 * side + draws.integers(2, 12), draws.integers(2, 20)
            right, bottom = left + draws.integers(10, 26), top + draws.integers(12, 40)
            kind = side + 1
            image[top:bottom, left:right] = colour_of(kind)[::-1]
            objects += [kind, left / 80, top / 64, right / 80, bottom / 64]
        payloads.append(encoded(image))
        labels.append(np.float32([2, 5, *objects]))
    write_records(folder, "squares", payloads, labels)
    return folder


def in_records(squares, **given):
    parameters = {"data_shape": (3, 64, 80), "batch_size": 8, "inter_method": 0, **given}
    return mx.io.ImageDetRecordIter(path_imgrec=str(squares / "squares.rec"), **parameters)


def in_arrays(squares, **given):
    parameters = {"inter_method": 0, **given} if "aug_list" not in given else given
    parameters = {"data_shape": (3, 64, 80), "batch_size": 8, "seed": 1, **parameters}
    return mx.image.ImageDetIter(path_imgrec=str(squares / "squares.rec"), **parameters)


@pytest.mark.parametrize(
    "given",
    [
        {"rand_mirror_prob": 0.5},
        {"resize": 50},
        {"data_shape": (3, 120, 100)},
        {"rand_pad_prob": 1, "max_pad_scale": 2, "fill_value": 0},
        {"rand_crop_prob": 1, "min_crop_scales": 0.5, "crop_emit_mode": "overlap", "emit_overlap_thresh": 0.0},
        {
            "rand_crop_prob": 1,
            "min_crop_scales": (0.3, 0.7),
            "num_crop_sampler": 2,
            "emit_overlap_thresh": 0.0,
            "crop_emit_mode": "overlap",
            "rand_mirror_prob": 0.5,
        },
    ],
    ids=str,
)
def test_boxes_of_records_move_with_their_images(squares, given):
    for data, label in rows_of(in_records(squares, **given)):
        for each in of_record(label):
            assert 0 <= each[1] < each[3] <= 1
            assert 0 <= each[2] < each[4] <= 1
        if "resize" not in given and "min_crop_scales" not in given:
            recovered(data, label, of_record)


@pytest.mark.parametrize(
    "given",
    [
        {"rand_mirror": True},
        {"data_shape": (3, 120, 100)},
        {"rand_crop": 1, "min_eject_coverage": 0.0},
        {"rand_pad": 1, "pad_val": (0, 0, 0)},
        {"rand_crop": 0.8, "rand_pad": 0.8, "rand_mirror": True, "pad_val": (0, 0, 0)},
    ],
    ids=str,
)
def test_objects_of_arrays_move_with_their_images(squares, given):
    for data, label in rows_of(in_arrays(squares, **given)):
        objects = of_array(label)
        assert len(objects) > 0
        for each in objects:
            left, right = each[1] * data.shape[2], each[3] * data.shape[2]
            top, bottom = each[2] * data.shape[1], each[4] * data.shape[1]
            y, x = int((top + bottom) / 2), int((left + right) / 2)
            np.testing.assert_array_equal(data[:, y, x], colour_of(each[0]))


@pytest.mark.parametrize("samplers", [0, -1])
def test_no_crop_sampler_crops_nothing(squares, samplers):
    """Whatever the lists are."""
    given = {"rand_crop_prob": 1, "min_crop_scales": (0.3, 0.7), "num_crop_sampler": samplers}
    assert everything(in_records(squares, **given), 5) == everything(in_records(squares), 5)


# What changes what a record's parameters give: the parameter, and those that it needs.
CHANGES = [
    ({"resize": 40}, {"inter_method": 1}),
    ({"rand_crop_prob": 1}, {}),
    ({"num_crop_sampler": 2, "min_crop_scales": (0.2, 0.9)}, {"rand_crop_prob": 1}),
    ({"min_crop_scales": 0.6}, {"rand_crop_prob": 1}),
    ({"max_crop_scales": 0.6}, {"rand_crop_prob": 1}),
    ({"min_crop_aspect_ratios": 0.5}, {"rand_crop_prob": 1}),
    ({"max_crop_aspect_ratios": 2.0}, {"rand_crop_prob": 1}),
    ({"min_crop_overlaps": 0.2}, {"rand_crop_prob": 1}),
    ({"max_crop_overlaps": 0.1}, {"rand_crop_prob": 1}),
    ({"min_crop_sample_coverages": 0.3}, {"rand_crop_prob": 1}),
    ({"max_crop_sample_coverages": 0.05}, {"rand_crop_prob": 1, "min_crop_scales": 0.7}),
    ({"min_crop_object_coverages": 0.9}, {"rand_crop_prob": 1}),
    ({"max_crop_object_coverages": 0.5}, {"rand_crop_prob": 1}),
    ({"max_crop_trials": 1}, {"rand_crop_prob": 1, "min_crop_overlaps": 0.4}),
    ({"crop_emit_mode": "overlap"}, {"rand_crop_prob": 1}),
    ({"emit_overlap_thresh": 0.9}, {"rand_crop_prob": 1, "crop_emit_mode": "overlap"}),
    ({"rand_pad_prob": 1}, {"max_pad_scale": 2}),
    ({"max_pad_scale": 3}, {"rand_pad_prob": 1}),
    ({"fill_value": 9}, {"rand_pad_prob": 1, "max_pad_scale": 2}),
    ({"max_random_hue": 40}, {"random_hue_prob": 1}),
    ({"random_hue_prob": 0.5}, {"max_random_hue": 40}),
    ({"max_random_saturation": 40}, {"random_saturation_prob": 1}),
    ({"random_saturation_prob": 0.5}, {"max_random_saturation": 40}),
    ({"max_random_illumination": 40}, {"random_illumination_prob": 1}),
    ({"random_illumination_prob": 0.5}, {"max_random_illumination": 40}),
    ({"max_random_contrast": 0.5}, {"random_contrast_prob": 1}),
    ({"random_contrast_prob": 0.5}, {"max_random_contrast": 0.5}),
    ({"rand_mirror_prob": 0.5}, {}),
    ({"inter_method": 2}, {"data_shape": (3, 50, 50)}),
    ({"resize_mode": "shrink"}, {"data_shape": (3, 50, 50)}),
    ({"resize_mode": "fit"}, {"data_shape": (3, 50, 50)}),
    *(({f"mean_{c}": 3.0}, {}) for c in "rgb"),
    *(({f"std_{c}": 3.0}, {}) for c in "rgb"),
    ({"scale": 0.5}, {}),
    ({"mean_img": None}, {}),
    ({"seed": 5}, {"rand_mirror_prob": 0.5}),
    ({"shuffle": True}, {}),
    ({"label_pad_width": 30}, {}),
    ({"label_pad_value": 5}, {"label_pad_width": 30}),
    ({"round_batch": False}, {"batch_size": 7}),
    ({"num_parts": 2, "part_index": 1}, {}),
    ({"data_shape": (1, 64, 80)}, {}),
]


@pytest.mark.parametrize(("changed", "with_"), CHANGES, ids=lambda each: str(each))
def test_each_parameter_changes_the_result(squares, tmp_path, changed, with_):
    changed = {"mean_img": tmp_path / "mean.bin"} if "mean_img" in changed else changed
    before = everything(in_records(squares, **with_), 8)
    assert everything(in_records(squares, **{**with_, **changed}), 8) != before


def test_there_is_a_change_of_every_parameter():
    changed = {name for each, with_ in CHANGES for name in (*each, *with_)}
    signed = {*inspect.signature(mx.io.ImageDetRecordIter).parameters, *DetAugmentationParameters.__annotations__}
    # Files, names, what is the same in every iterator, and what has one value alone, of which other tests are.
    others = {
        "path_imgrec", "path_imgidx", "path_imglist", "label_width", "data_name", "label_name", "shuffle_chunk_size",
        "shuffle_chunk_seed", "memory", "on_error", "max_errors", "device", "state", "augmentation_parameters",
    }  # fmt: skip
    no_value = {"preprocess_threads", "prefetch_buffer", "ctx", "device_id", "verbose"}
    one_value = {"dtype", "aug_seq", "mean_a", "std_a"}
    assert signed - changed == others | no_value | one_value


def test_files_names_and_chunks_change_the_result(folder, tmp_path):
    payloads = [encoded(image) + bytes(256 << 10) for image in IMAGES] * 2
    write_records(tmp_path, "large", payloads, [label_of(i % ROWS) for i in range(2 * ROWS)])
    lines = ("\t".join([str(100 + i), "2", "5", "9", "0.1", "0.2", "0.3", "0.4", f"{i}.png"]) for i in range(ROWS))
    (tmp_path / "other.lst").write_text("".join(line + "\n" for line in lines))
    large = {"path_imgrec": str(tmp_path / "large.rec"), "shuffle": True, "shuffle_chunk_size": 1}
    plain = everything(records(folder), 8)
    assert everything(records(folder, path_imgrec=large["path_imgrec"]), 8) != plain
    shuffled = [records(folder, shuffle=True, **more) for more in ({}, {"path_imgidx": str(folder / "some.idx")})]
    assert everything(shuffled[0], 8) != everything(shuffled[1], 8)
    listed = rows_of(records(folder, path_imglist=str(tmp_path / "other.lst")))
    for _, label in listed:
        np.testing.assert_allclose(of_record(label), [[9, 0.1, 0.2, 0.3, 0.4]], rtol=1e-6)
    named = records(folder, data_name="x", label_name="y")
    assert (named.provide_data[0].name, named.provide_label[0].name) == ("x", "y")
    chunks = [everything(records(folder, **large, **more), 8) for more in ({}, {"shuffle_chunk_seed": 3})]
    assert chunks[0] != chunks[1]
    assert everything(records(folder, **{**large, "shuffle_chunk_size": 0}), 8) not in chunks
    with pytest.raises(hr.DataError, match="label"):
        records(folder, label_width=9).next()


DET_CHANGES = [
    ({"resize": 40}, {"inter_method": 1}),
    ({"rand_crop": 1}, {}),
    ({"rand_pad": 1}, {}),
    ({"rand_gray": 0.5}, {}),
    ({"rand_mirror": True}, {}),
    ({"mean": True}, {}),
    ({"std": True}, {}),
    ({"brightness": 0.5}, {}),
    ({"contrast": 0.5}, {}),
    ({"saturation": 0.5}, {}),
    ({"hue": 0.5}, {}),
    ({"pca_noise": 0.5}, {}),
    ({"inter_method": 2}, {"data_shape": (3, 50, 50)}),
    ({"min_object_covered": 0.9}, {"rand_crop": 1}),
    ({"aspect_ratio_range": (1.5, 2.0)}, {"rand_crop": 1}),
    ({"area_range": (0.05, 0.3)}, {"rand_crop": 1}),
    ({"min_eject_coverage": 0.9}, {"rand_crop": 1}),
    ({"max_attempts": 1}, {"rand_crop": 1, "min_object_covered": 0.9}),
    ({"pad_val": (1, 2, 3)}, {"rand_pad": 1}),
    ({"shuffle": True}, {}),
    ({"seed": 5}, {"rand_mirror": True}),
    ({"num_parts": 2, "part_index": 1}, {}),
    ({"last_batch_handle": "discard"}, {"batch_size": 7}),
    ({"batch_size": 7}, {}),
    ({"data_shape": (3, 32, 40)}, {}),
    ({"aug_list": [mx.image.DetHorizontalFlipAug(1), mx.image.DetBorrowAug(mx.image.ForceResizeAug((80, 64), 0))]}, {}),
]


@pytest.mark.parametrize(("changed", "with_"), DET_CHANGES, ids=lambda each: " ".join(each))
def test_each_parameter_of_arrays_changes_the_result(squares, changed, with_):
    with_ = {"path_imgidx": str(squares / "squares.idx"), **with_}
    before = everything(in_arrays(squares, **with_), 8)
    assert everything(in_arrays(squares, **{**with_, **changed}), 8) != before


def test_there_is_a_change_of_every_parameter_of_arrays(folder):
    changed = {name for each, _ in DET_CHANGES for name in each}
    kinds = (mx.image.ImageDetIter, mx.image.CreateDetAugmenter)
    signed = {name for kind in kinds for name in inspect.signature(kind).parameters}
    files = {"path_imgrec", "path_imgidx", "path_imglist", "path_root", "imglist"}
    # Files are those of test_each_kind_of_list_gives_images_and_objects.
    ours = {"memory", "on_error", "max_errors", "device", "state"}
    assert signed - changed == {*files, "data_name", "label_name", "augmentation", *ours}
    named = some(folder, data_name="x", label_name="y")
    assert (named.provide_data[0].name, named.provide_label[0].name) == ("x", "y")


def test_half_of_the_images_are_mirrored(squares):
    plain = rows_of(in_records(squares))
    mirrored = [
        not np.array_equal(label, before)
        for (_, label), (_, before) in zip(
            rows_of(in_records(squares, rand_mirror_prob=0.3), 10), plain * 10, strict=True
        )
    ]
    # 400 draws; four deviations of 0.023.
    assert abs(np.mean(mirrored) - 0.3) < 0.092


def test_colours_change_as_likely_as_asked_for(squares):
    given = {"max_random_hue": 90, "random_hue_prob": 0.3, "max_random_saturation": 200, "random_saturation_prob": 0.6}
    changed = [
        data.max() != 250 - 30 and not np.array_equal(data, before)
        for (data, _), (before, _) in zip(
            rows_of(in_records(squares, **given), 10), rows_of(in_records(squares)) * 10, strict=True
        )
    ]
    # Neither: 0.7 × 0.4; a shift by 0 changes nothing.
    assert abs(np.mean(changed) - 0.72) < 0.1


# ---- ImageDetIter ----


def test_augmenters_are_those_of_mxnet():
    made = mx.image.CreateDetAugmenter(
        (3, 30, 40),
        resize=50,
        rand_crop=0.5,
        rand_pad=0.4,
        rand_gray=0.3,
        rand_mirror=True,
        mean=True,
        std=True,
        brightness=0.1,
        contrast=0.1,
        saturation=0.1,
        pca_noise=0.1,
        hue=0.1,
    )
    assert [type(each).__name__ for each in made] == [
        "DetBorrowAug",
        "DetRandomSelectAug",
        "DetHorizontalFlipAug",
        "DetRandomSelectAug",
        *["DetBorrowAug"] * 7,
    ]
    assert "resizeaug" in str(made[0].dumps())
    several = mx.image.CreateMultiRandCropAugmenter(min_object_covered=[0.1, 0.5], skip_prob=0.2)
    assert [each.min_object_covered for each in several.aug_list] == [0.1, 0.5]
    with pytest.raises(hr.GraphError, match="area_range has 3 elements, and another list has 3|give one"):
        mx.image.CreateMultiRandCropAugmenter(min_object_covered=[0.1, 0.5], area_range=[(0.1, 1)] * 3)


def test_an_augmenter_is_called_on_an_image_and_its_objects():
    image = image_of(1, 30, 40)
    label = np.float32([[3, 0.1, 0.2, 0.5, 0.6]])
    flipped, moved = mx.image.DetHorizontalFlipAug(1)(image, label)
    np.testing.assert_array_equal(flipped, image[:, ::-1])
    np.testing.assert_allclose(moved, [[3, 0.5, 0.2, 0.9, 0.6]], rtol=1e-6)
    padded, moved = mx.image.DetRandomPadAug(area_range=(2, 3), pad_val=0)(image, label)
    assert padded.shape[0] > 30
    assert moved[0, 3] - moved[0, 1] < 0.4
    same, kept = mx.image.DetBorrowAug(mx.image.CastAug())(image, label)
    assert same.dtype == np.float32
    np.testing.assert_array_equal(kept, label)


class Swap(mx.image.DetAugmenter):
    """Turns an image by a quarter, in Python."""

    def __call__(self, src, label):
        return src.swapaxes(0, 1), label[:, [0, 2, 1, 4, 3]]


def test_an_augmenter_of_the_users_runs_among_kernels(squares):
    augmenters = [
        Swap(),
        mx.image.DetHorizontalFlipAug(0.5),
        mx.image.DetBorrowAug(mx.image.ForceResizeAug((64, 80), 0)),
    ]
    for data, label in rows_of(in_arrays(squares, data_shape=(3, 80, 64), aug_list=augmenters)):
        recovered(data, label, of_array)


def test_shapes_are_changed_and_shared(folder, squares, caplog):
    train, validation = some(folder, seed=1), in_arrays(squares, data_shape=(3, HEIGHT, WIDTH))
    assert (train.label_shape, validation.label_shape) == ((3, 5), (2, 5))
    with caplog.at_level(logging.INFO, "headrace.mx"):
        assert train.sync_label_shape(validation, verbose=True) is validation
    assert "(3, 5)" in caplog.text
    assert validation.next().label[0].shape == (8, 3, 5)
    assert train.next().label[0].shape == (4, 3, 5)
    with pytest.raises(hr.GraphError, match=re.escape("call reset()")):
        train.reshape((3, 40, 50))
    train.reset()
    train.reshape((3, 40, 50), (6, 5))
    batch = train.next()
    assert (batch.data[0].shape, batch.label[0].shape) == ((4, 3, 40, 50), (4, 6, 5))
    assert train.provide_data[0].shape == (4, 3, 40, 50)
    for wrong in ((2, 5), (6, 6), (6,)):
        with pytest.raises(hr.GraphError, match="label_shape"):
            train.check_label_shape(wrong)
    with pytest.raises(hr.GraphError, match="it must be an ImageDetIter"):
        train.sync_label_shape(4)


# ---- drawing ----


def outline(shape, left, top, right, bottom, thickness):
    """By OpenCV, whose corners are round."""
    return cv2.rectangle(np.zeros(shape, np.uint8), (left, top), (right, bottom), (255, 255, 255), thickness)


@pytest.mark.parametrize("thickness", [1, 2, 3, 4])
def test_boxes_are_drawn(squares, thickness):
    drawn = [*in_arrays(squares).draw_next(color=(9, 250, 40), thickness=thickness)]
    rows = rows_of(in_arrays(squares))
    assert len(drawn) == len(rows) == 40
    for image, (data, label) in zip(drawn, rows, strict=True):
        assert image.dtype == np.uint8 and image.shape == (64, 80, 3)
        lines = (image == (40, 250, 9)).all(2)
        for each in of_array(label):
            corners = (each[1:5].astype(float) * (80, 64, 80, 64)).astype(int)
            differ = outline(image.shape, *corners, thickness)[..., 0] != np.where(
                near(corners, thickness), 255 * lines, 0
            )
            assert differ.sum() <= 12 * thickness
        np.testing.assert_array_equal(image[~lines], data.transpose(1, 2, 0)[..., ::-1][~lines])


def near(corners, thickness):
    """The pixels about a box's lines."""
    mask = np.zeros((64, 80), bool)
    left, top, right, bottom = corners
    mask[max(top - thickness, 0) : bottom + thickness + 1, max(left - thickness, 0) : right + thickness + 1] = True
    mask[top + thickness + 1 : bottom - thickness, left + thickness + 1 : right - thickness] = False
    return mask


def test_what_is_drawn_has_its_colours_again(squares):
    plain = [*in_arrays(squares).draw_next()]
    normalised = [*in_arrays(squares, mean=True, std=True).draw_next(mean=True, std=True)]
    # Values are cut to whole levels.
    assert max(np.abs(one.astype(int) - other).max() for one, other in zip(plain, normalised, strict=True)) <= 1
    dark = next(in_arrays(squares, mean=np.array([300.0])).draw_next())
    assert dark[0, 0].tolist() == [0, 0, 0]
    assert next(in_arrays(squares, mean=np.array([300.0])).draw_next(clip=False))[0, 0].tolist() == [212, 212, 212]


def test_each_class_has_its_colour_and_its_name(squares):
    plain, named = (next(in_arrays(squares).draw_next(id2labels=names)) for names in (None, {1: "one", 5: "five"}))
    _, label = rows_of(in_arrays(squares))[0]
    colours = set()
    for each in of_array(label):
        left, top = int(each[1] * 80), int(each[2] * 64)
        colours.add(tuple(plain[top, left]))
        text = named[top + 5 : top + 15, left + 5 : left + 22]
        changed = not np.array_equal(text, plain[top + 5 : top + 15, left + 5 : left + 22])
        assert changed == (each[0] == 1)
    assert len(colours) == 2


def test_the_rest_of_the_epoch_is_drawn_once(squares):
    for ending, counts in (("pad", [40, 40, 40]), ("discard", [36, 36, 36]), ("roll_over", [36, 36, 48])):
        iterator = in_arrays(squares, batch_size=12, last_batch_handle=ending)
        for count in counts[:2]:
            assert len([*iterator.draw_next()]) == count, ending
            iterator.reset()
        iterator.next()
        assert len([*iterator.draw_next()]) == counts[2] - 12


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"waitKey": 0}, "waitKey is 0, and no window is opened"),
        ({"color": (1, 2)}, "color is (1, 2); it must be three numbers"),
        ({"thickness": 0}, "thickness is 0"),
        ({"mean": 3}, "mean is 3; it must be an array"),
        ({"clip": 2}, "clip is 2"),
    ],
)
def test_what_cannot_be_drawn_is_named(squares, given, message):
    with pytest.raises((hr.GraphError, hr.UnsupportedError), match=re.escape(message)):
        in_arrays(squares).draw_next(**given)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: records(f, resize_mode="grow"), "ImageDetRecordIter: resize_mode is"),
        (lambda f: records(f, num_crop_sampler=2, min_crop_scales=(0.1, 0.2, 0.3)), "min_crop_scales has 3 numbers"),
        (lambda f: records(f, rand_mirror_prob=2), "rand_mirror_prob is 2; it must be between 0 and 1"),
        (lambda f: records(f, max_pad_scale=0.5), "max_pad_scale is 0.5; it must be a number from 1 on"),
        (lambda f: records(f, aug_seq="aug_default"), "det_aug_default"),
        (lambda f: records(f, dtype="uint8"), "dtype"),
        (lambda f: records(f, std_r=-1), "must be at least 0"),
        (lambda f: records(f, mean_img="mean.bin", mean_g=3), "mean_img is 'mean.bin' and mean_g is 3.0; give one"),
        (lambda f: records(f, mean_img=3), "mean_img is 3; it must be a path"),
        (lambda f: records(f, random_hue_prob=1, max_random_hue=9, data_shape=(1, 9, 9)), "are for 3"),
        (lambda f: some(f, aug_list=[mx.image.CastAug()]), "give a DetAugmenter"),
        (lambda f: some(f, aug_list=[], rand_crop=1), "rand_crop has no effect beside aug_list"),
        (lambda f: some(f, aug_list=[mx.image.DetRandomSelectAug([Swap()])]), "runs in Python"),
        (lambda f: some(f, rand_pad=1, area_range=(0.1, 0.9)), "needs a canvas larger than 1"),
        (lambda f: mx.image.DetBorrowAug(3), "it must be an Augmenter"),
        (lambda f: mx.image.DetBorrowAug(mx.image.HorizontalFlipAug(1)), "use DetHorizontalFlipAug"),
        (lambda f: mx.image.DetRandomCropAug(area_range=(0.5, 0.1)), "area_range"),
        (lambda f: mx.image.DetRandomPadAug(area_range=(0.5, 2)), "at least the image's area"),
        (lambda f: mx.image.DetRandomSelectAug([mx.image.CastAug()]), "not a DetAugmenter"),
    ],
)
def test_what_cannot_be_is_named(folder, call, message):
    with pytest.raises((hr.GraphError, hr.UnsupportedError), match=re.escape(message)):
        call(folder)


def test_an_unknown_parameter_is_named(folder):
    with pytest.raises(TypeError, match="has no parameter rand_crop; did you mean rand_crop_prob"):
        records(folder, rand_crop=True)


# ---- in a map ----


def test_a_crop_among_boxes_moves_masks_and_labels():
    draws = np.random.default_rng(2)
    mask = np.zeros((6, 40, 50), np.int32)
    boxes = np.zeros((6, 2, 4))
    for row in range(6):
        for k in range(2):
            left, top = 25 * k + draws.integers(0, 8), draws.integers(0, 20)
            boxes[row, k] = left, top, left + draws.integers(8, 16), top + draws.integers(8, 20)
            mask[row, top : int(boxes[row, k, 3]), left : int(boxes[row, k, 2])] = k + 1
    given = {"image": np.repeat(mask[..., None], 3, 3), "mask": mask, "boxes": boxes, "label": np.tile([1, 2], (6, 1))}
    columns = ["image", hr.mask("mask"), hr.boxes("boxes", labels="label")]
    for kernel in (V.RandomIoUCrop(), V.RandomObjectCrop(), V.RandomConstrainedCrop(min_crop_scales=(0.4,))):
        dataset = hr.Numpy(given).map([V.RandomApply([kernel], p=0.8), V.SanitizeBoxes()], columns)
        with dataset.iterate(seed=2) as rows:
            for row in rows:
                np.testing.assert_array_equal(row["image"][..., 0], row["mask"])
                for box, label in zip(row["boxes"], row["label"], strict=True):
                    ys, xs = np.nonzero(row["mask"] == label)
                    np.testing.assert_array_equal(box, [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1])


def test_a_crop_among_boxes_needs_one_column_of_them():
    rows = hr.Numpy({"image": np.zeros((2, 4, 4, 3), np.uint8), "a": np.zeros((2, 1, 4)), "b": np.zeros((2, 1, 4))})
    with pytest.raises(hr.GraphError, match="works in a map with boxes"):
        rows.map(V.RandomIoUCrop(), ["image", "a"], "image")
    for targets in ([hr.boxes("a"), hr.boxes("b")], [hr.mask("image2")]):
        with pytest.raises(hr.GraphError, match="RandomIoUCrop looks at the boxes of one column"):
            rows.map(V.RandomIoUCrop(), ["image", *targets])


# ---- MXNet itself ----


@needs_mxnet
def test_batches_are_those_of_mxnet(folder, tmp_path):
    record = {"path_imgrec": str(folder / "some.rec"), "data_shape": [3, HEIGHT, WIDTH], "batch_size": 4}
    resized = {**record, "data_shape": [3, 40, 20]}
    values = {"mean_r": 3.0, "mean_g": 2.0, "mean_b": 1.0, "std_r": 2.0, "std_g": 2.0, "std_b": 2.0, "scale": 0.5}
    asked = [
        ("ImageDetRecordIter", {**record, "label_pad_width": 30}, 1),
        ("ImageDetRecordIter", {**resized, **values}, 1),
        ("ImageDetRecordIter", {**record, "rand_mirror_prob": 1}, 1),
        ("ImageDetIter", record, 2),
        ("ImageDetIter", {**resized, "inter_method": 1, "mean": True, "std": True}, 1),
    ]
    for (name, given, epochs), theirs in zip(asked, run_mxnet(tmp_path, asked), strict=True):
        kind = getattr(mx.io, name, None) or getattr(mx.image, name)
        ours = run_ours(kind(**given), epochs)
        assert ours.described == theirs.described, (name, given)
        for mine, other in zip(ours.epochs, theirs.epochs, strict=True):
            assert [pad for *_, pad in mine] == [pad for *_, pad in other]
            for (data, label, _), (expected, labels, _) in zip(mine, other, strict=True):
                np.testing.assert_allclose(data, expected, atol=1e-4)
                np.testing.assert_allclose(label, labels, atol=1e-6)


@needs_mxnet
@pytest.mark.parametrize("mode", ["shrink", "fit"])
def test_images_that_keep_their_ratio_are_those_of_mxnet(folder, tmp_path, mode):
    record = {"path_imgrec": str(folder / "some.rec"), "batch_size": 4, "resize_mode": mode}
    asked = [
        ("ImageDetRecordIter", {**record, "data_shape": [3, *most]}, 1)
        for most in ((10, 32), (24, 20), (12, 12), (24, 32), (40, 50), (17, 23), (31, 29))
    ]
    for (_, given, epochs), theirs in zip(asked, run_mxnet(tmp_path, asked), strict=True):
        ours = run_ours(mx.io.ImageDetRecordIter(**given), epochs)
        for (data, label, _), (expected, labels, _) in zip(ours.epochs[0], theirs.epochs[0], strict=True):
            np.testing.assert_allclose(label, labels, atol=1e-6)
            height, width = (int(side) for side in label[0][1:3])
            # MXNet leaves pixels of earlier images beside them.
            np.testing.assert_allclose(data[..., :height, :width], expected[..., :height, :width], atol=1e-4)


@needs_mxnet
def test_means_are_those_of_mxnet(folder, tmp_path):
    record = {"path_imgrec": str(folder / "some.rec"), "data_shape": [3, HEIGHT, WIDTH], "batch_size": 5}
    ours, theirs = str(tmp_path / "ours.bin"), str(tmp_path / "theirs.bin")
    mx.io.ImageDetRecordIter(**record, mean_img=ours)
    run_mxnet(tmp_path, [("ImageDetRecordIter", {**record, "mean_img": theirs, "verbose": False}, 1)])
    made = [mx.nd.load(path)["mean_img"].asnumpy() for path in (ours, theirs)]
    np.testing.assert_allclose(*made, rtol=1e-6)
    asked = [
        ("ImageDetRecordIter", {**record, "mean_img": path, "verbose": False, **more}, 2)
        for path in (ours, theirs)
        for more in ({}, {"rand_mirror_prob": 1}, {"scale": 0.5}, {"std_r": 2, "std_g": 2, "std_b": 2})
    ]
    for (_, given, epochs), expected in zip(asked, run_mxnet(tmp_path, asked), strict=True):
        mine = run_ours(mx.io.ImageDetRecordIter(**given), epochs)
        for epoch, other in zip(mine.epochs, expected.epochs, strict=True):
            for (data, label, _), (their_data, their_label, _) in zip(epoch, other, strict=True):
                np.testing.assert_allclose(data, their_data, atol=1e-4)
                np.testing.assert_allclose(label, their_label, atol=1e-6)
