"""headrace.mx.image.ImageIter: its batches, epochs, states and errors, and what MXNet 1.9.1 gives."""

import pickle
import random

import numpy as np
import pytest

import headrace as hr
import headrace._datasets.runs
import headrace.mx as mx
from headrace import vision as V
from headrace._kernels.kernel import Kernel
from headrace.mx.augmenter_steps import steps as steps_of
from tests.mx_batches import next_batches, python_calls
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours
from tests.small_image_records import encoded, image_of, write_records

ROWS = 10
SIZE = 8
ENDINGS = ("pad", "discard", "roll_over")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`some`: records of ten images; `two`: two labels each; the same images as files, and a list of them."""
    folder = tmp_path_factory.mktemp("images")
    payloads = [encoded(image_of(i, 20 + i, 30)) for i in range(ROWS)]
    write_records(folder, "some", payloads)
    write_records(folder, "two", payloads, [[i, 2 * i] for i in range(ROWS)])
    for i, payload in enumerate(payloads):
        (folder / f"{i}.png").write_bytes(payload)
    (folder / "one.lst").write_text("".join(f"{100 + i}\t{i}\t{i}.png\n" for i in range(ROWS)))
    (folder / "two.lst").write_text("".join(f"{100 + i}\t{i}\t{2 * i}\t{i}.png\n" for i in range(ROWS)))
    return folder


@pytest.fixture(scope="module")
def dots(tmp_path_factory):
    """Records of 4 to 12 images of one pixel."""
    folder = tmp_path_factory.mktemp("dots")
    for rows in range(4, 13):
        write_records(folder, str(rows), [encoded(np.zeros((1, 1, 3), np.uint8))] * rows)
    return folder


def some(folder, name="some", **given):
    parameters = {"data_shape": (3, SIZE, SIZE), "batch_size": 4, "path_imgrec": str(folder / f"{name}.rec"), **given}
    return mx.image.ImageIter(**parameters)


def indexed(folder, name="some", **given):
    return some(folder, name, path_imgidx=str(folder / f"{name}.idx"), **given)


def listed(folder, name="one", **given):
    parameters = {"data_shape": (3, SIZE, SIZE), "batch_size": 4, "path_root": str(folder), **given}
    return mx.image.ImageIter(path_imglist=str(folder / f"{name}.lst"), **parameters)


def in_python(folder, **given):
    entries = [[i, f"{i}.png"] for i in range(ROWS)]
    return mx.image.ImageIter(4, (3, SIZE, SIZE), imglist=entries, path_root=str(folder), **given)


MAKERS = (some, indexed, listed, in_python)


def labels_of(batch):
    return batch.label[0].astype(int).tolist()


def steps(iterator, count):
    return next_batches(iterator, count, lambda batch: (labels_of(batch), batch.pad))


def everything(iterator, count):
    def told(batch):
        return batch.data[0].tobytes(), labels_of(batch), batch.pad, batch.index.tolist()

    return next_batches(iterator, count, told)


def expected(rows, size, ending, epochs):
    """Labels and pads of the epochs."""
    given = []
    for epoch in range(epochs):
        if ending == "roll_over":
            first, end = epoch * rows // size, (epoch + 1) * rows // size
            for k in range(first, end):
                behind = (k + 1) * size - epoch * rows
                given.append(([i % rows for i in range(k * size, (k + 1) * size)], behind if behind < size else 0))
        else:
            for k in range(-(-rows // size) if ending == "pad" else rows // size):
                labels = [i % rows for i in range(k * size, (k + 1) * size)]
                given.append((labels, max(0, (k + 1) * size - rows)))
        given.append("end")
    return given


# ---- epochs ----


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("make", MAKERS)
def test_epochs_end_as_asked_for(folder, make, ending):
    iterator = make(folder, last_batch_handle=ending)
    iterator.reset()
    assert steps(iterator, 11) == expected(ROWS, 4, ending, 4)[:11]


@pytest.mark.parametrize("rows", range(4, 13))
@pytest.mark.parametrize("make", [some, indexed])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_rows_that_are_left_begin_the_next_epoch(dots, rows, make, on_error):
    iterator = make(dots, rows, data_shape=(3, 1, 1), last_batch_handle="roll_over", on_error=on_error)
    whole = expected(rows, 4, "roll_over", 5)
    assert steps(iterator, len(whole)) == whole


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("make", [some, indexed])
def test_one_engine_runs_all_epochs(folder, monkeypatch, make, ending):
    started = []
    start = headrace._datasets.runs.start_engine
    monkeypatch.setattr(headrace._datasets.runs, "start_engine", lambda *given: started.append(1) or start(*given))
    iterator = make(folder, last_batch_handle=ending)
    started.clear()  # One that looks for the files.
    assert steps(iterator, 11) == expected(ROWS, 4, ending, 4)[:11]
    assert len(started) == 1


@pytest.mark.parametrize("make", [some, indexed])
def test_a_loop_that_counts_its_batches_gets_the_same(folder, make):
    for ending, batches in (("discard", [2, 2, 2]), ("roll_over", [2, 3, 2])):
        iterator = make(folder, last_batch_handle=ending)
        given = []
        for count in batches:
            given += [(labels_of(batch), batch.pad) for batch in (iterator.next() for _ in range(count))] + ["end"]
            iterator.reset()
        assert given == expected(ROWS, 4, ending, 3)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("make", [some, indexed])
def test_a_reset_in_mid_epoch_begins_at_the_first_row(folder, make, ending):
    whole = expected(ROWS, 4, ending, 3)
    iterator = make(folder, last_batch_handle=ending)
    steps(iterator, whole.index("end") + 2)
    iterator.reset()
    assert steps(iterator, len(whole)) == whole


def test_a_hard_reset_drops_the_rows_that_are_left(folder):
    whole = expected(ROWS, 4, "roll_over", 3)
    iterator = indexed(folder, last_batch_handle="roll_over")
    assert len([*iterator]) == 2
    iterator.hard_reset()
    assert steps(iterator, len(whole)) == whole


def test_fewer_rows_than_a_batch(dots):
    padded = indexed(dots, 4, data_shape=(3, 1, 1), batch_size=9)
    assert steps(padded, 2) == [([0, 1, 2, 3, 0, 1, 2, 3, 0], 5), "end"]
    for make, number in ((some, ""), (indexed, "4 ")):
        with pytest.raises(
            hr.GraphError, match=f"{number}.*fewer .*than batch_size=9, and rows that fill no batch are"
        ):
            make(dots, 4, data_shape=(3, 1, 1), batch_size=9, last_batch_handle="discard").next()
        with pytest.raises(hr.GraphError, match='4 rows, fewer than batch_size=9, and last_batch_handle="roll_over"'):
            make(dots, 4, data_shape=(3, 1, 1), batch_size=9, last_batch_handle="roll_over").next()


@pytest.mark.parametrize("make", [indexed, listed, in_python])
def test_each_epoch_is_shuffled_anew_by_the_seed(folder, make):
    def epochs(seed):
        iterator = make(folder, shuffle=True, seed=seed, last_batch_handle="roll_over")
        return [row for told in steps(iterator, 6) if told != "end" for row in told[0]]

    rows = epochs(1)
    assert sorted(rows[:ROWS]) == sorted(rows[ROWS:]) == list(range(ROWS))
    assert rows[:ROWS] != rows[ROWS:]
    assert rows == epochs(1) != epochs(2)
    random.seed(5)
    first = epochs(None)
    assert first != epochs(None)
    random.seed(5)
    assert first == epochs(None)


# ---- data, labels and parts ----


def test_the_data_are_the_middles_of_the_images(folder):
    for make in MAKERS:
        iterator = make(folder)
        assert iterator.provide_data == [("data", (4, 3, SIZE, SIZE))]
        assert iterator.provide_label == [("softmax_label", (4,))]
        batch = iterator.next()
        assert batch.data[0].dtype == np.float32 and type(batch.data[0]) is mx.nd.NDArray
        for i, data in enumerate(batch.data[0]):
            top, left = (20 + i - SIZE) // 2, (30 - SIZE) // 2
            middle = image_of(i, 20 + i, 30)[top : top + SIZE, left : left + SIZE, ::-1]
            assert np.array_equal(data, middle.transpose(2, 0, 1))


def test_rows_have_ids(folder):
    for make in (some, indexed, listed):
        assert make(folder).next().index.tolist() == [100, 101, 102, 103]
    assert in_python(folder).next().index.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("make", [some, indexed, listed])
def test_several_labels(folder, make):
    iterator = make(folder, "two", label_width=2, label_name="targets", data_name="images")
    assert iterator.provide_label == [("targets", (4, 2))] and iterator.provide_data[0].name == "images"
    assert iterator.next().label[0].tolist() == [[0, 0], [1, 2], [2, 4], [3, 6]]
    for other in (1, 3):
        with pytest.raises(hr.Error, match="label_width"):
            make(folder, "two", label_width=other).next()


def test_lists_in_python(folder):
    for entries in ([[i, i + 0.5, f"{i}.png"] for i in range(4)], [[(i, i + 0.5), f"{i}.png"] for i in range(4)]):
        iterator = mx.image.ImageIter(
            4, (3, SIZE, SIZE), 2, imglist=entries, path_root=folder, aug_list=[mx.image.CenterCropAug((SIZE, SIZE))]
        )
        assert iterator.next().label[0].tolist() == [[0, 0.5], [1, 1.5], [2, 2.5], [3, 3.5]]
    whole = mx.image.ImageIter(1, (3, SIZE, SIZE), imglist=[[np.float32(7), str(folder / "0.png")]])
    assert whole.next().label[0].tolist() == [7]


def test_lists_are_relative_to_the_working_folder_without_a_root(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert labels_of(listed(folder, path_root=None).next()) == [0, 1, 2, 3]
    assert labels_of(mx.image.ImageIter(1, (3, SIZE, SIZE), imglist=[[3, "3.png"]]).next()) == [3]


@pytest.mark.parametrize("make", [some, indexed])
def test_a_list_gives_records_other_labels(folder, make):
    assert make(folder, path_imglist=str(folder / "some.lst")).next().label[0].tolist() == [0.5, 10.5, 20.5, 30.5]


def test_labels_are_of_the_type_asked_for(folder):
    for make in MAKERS:
        for dtype in ("int32", np.int64, "float64"):
            iterator = make(folder, dtype=dtype)
            assert iterator.provide_label[0].dtype == np.dtype(dtype)
            label = iterator.next().label[0]
            assert label.dtype == np.dtype(dtype) and label.tolist() == [0, 1, 2, 3]
    big = (1 << 40) + 1
    exact = mx.image.ImageIter(1, (3, SIZE, SIZE), imglist=[[big, "0.png"]], path_root=folder, dtype="int64")
    assert exact.next().label[0].tolist() == [big]


@pytest.mark.parametrize("make", [indexed, listed, in_python])
def test_parts_are_equally_long_runs(folder, make):
    for parts in (2, 3, 4):
        length = ROWS // parts
        for part in range(parts):
            iterator = make(folder, num_parts=parts, part_index=part)
            rows = [row for batch in iterator for row in labels_of(batch)[: 4 - batch.pad]]
            assert rows == list(range(part * length, (part + 1) * length))
    shuffled = make(folder, num_parts=2, part_index=1, shuffle=True, seed=1)
    assert {row for batch in shuffled for row in labels_of(batch)} == {5, 6, 7, 8, 9}


# ---- states ----

RANDOM = {"rand_crop": True, "rand_resize": True, "rand_mirror": True, "brightness": 0.3, "hue": 0.2, "pca_noise": 0.1}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("make", MAKERS)
def test_a_state_goes_on_with_the_next_batch(folder, make, ending):
    given = {"last_batch_handle": ending, "seed": 3, "shuffle": make is not some, **RANDOM}
    whole = everything(make(folder, **given), 11)
    assert whole.count("end") > 1
    for before in range(10):
        iterator = make(folder, **given)
        everything(iterator, before)
        state = pickle.loads(pickle.dumps(iterator.state()))
        assert everything(make(folder, **given, state=state), 11 - before) == whole[before:], before
        # Taking one changes nothing.
        assert everything(iterator, 11 - before) == whole[before:], before


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("make", [some, indexed])
def test_a_state_of_an_epochs_end_is_over(folder, make, ending):
    iterator = make(folder, last_batch_handle=ending)
    first = [labels_of(batch) for batch in iterator]
    restored = make(folder, last_batch_handle=ending, state=iterator.state())
    with pytest.raises(StopIteration):
        restored.next()
    restored.reset()
    behind = expected(ROWS, 4, ending, 3)[len(first) + 1 :]
    assert steps(restored, len(behind)) == behind


def test_a_state_has_the_seed(folder):
    iterator = indexed(folder, shuffle=True)
    iterator.next()
    restored = indexed(folder, shuffle=True, state=iterator.state())
    assert steps(restored, 6) == steps(iterator, 6)


def test_a_state_of_another_iterator_is_refused(folder):
    iterator = indexed(folder, seed=1)
    iterator.next()
    state = iterator.state()
    for other in ({"batch_size": 5}, {"seed": 3}, {"last_batch_handle": "roll_over"}):
        with pytest.raises(hr.StateError, match=r"state was taken with (batch_size|seed|last_batch)="):
            indexed(folder, state=state, **other)
    with pytest.raises(hr.StateError):
        indexed(folder, state=state, rand_mirror=True)
    with pytest.raises(hr.StateError, match="give what state"):
        indexed(folder, state=5)


# ---- augmentation ----


def test_the_seed_decides_the_augmentation(folder):
    def data(seed):
        return indexed(folder, seed=seed, **RANDOM).next().data[0]

    assert np.array_equal(data(1), data(1)) and not np.array_equal(data(1), data(2))


def test_python_calls_do_not_grow_with_the_batch(folder):
    everything_built_in = {
        "resize": 16, "rand_gray": 0.1, "contrast": 0.1, "saturation": 0.1, "mean": True, "std": True, **RANDOM
    }  # fmt: skip
    for make in MAKERS:
        for ending in ENDINGS:
            calls = []
            for size in (2, 5):
                entries = [[i, f"{i}.png"] for i in range(ROWS)]
                given = {"last_batch_handle": ending, **everything_built_in}
                if make is in_python:
                    iterator = mx.image.ImageIter(size, (3, SIZE, SIZE), imglist=entries, path_root=folder, **given)
                else:
                    iterator = make(folder, batch_size=size, **given)
                calls.append(python_calls(iterator))
            assert calls[0] == calls[1] > 0


def test_no_step_of_built_in_augmenters_is_a_function():
    given = {"brightness": 0.1, "contrast": 0.1, "saturation": 0.1, "rand_gray": 0.1, "mean": True, **RANDOM}
    augmenters = [*mx.image.CreateAugmenter((3, SIZE, SIZE), resize=16, **given), mx.image.ForceResizeAug((4, 4))]
    nested = mx.image.SequentialAug([mx.image.RandomOrderAug([mx.image.HorizontalFlipAug(0.5)]), *augmenters])
    assert all(isinstance(step, Kernel) for step in steps_of([nested], "ImageIter"))
    assert not all(isinstance(step, Kernel) for step in steps_of([nested, lambda image: image], "ImageIter"))


def test_functions_of_the_users_get_images_as_in_mxnet(folder):
    seen = []

    class Doubled(mx.image.Augmenter):
        def __call__(self, src):
            seen.append((type(src), src.dtype, src.shape))
            src *= 2
            return src

    class Flipped(mx.image.HorizontalFlipAug):
        def __call__(self, src):
            return src[:, ::-1]

    crop, cast = mx.image.CenterCropAug((SIZE, SIZE)), mx.image.CastAug()
    plain = indexed(folder).next().data[0]
    own = indexed(folder, aug_list=[crop, cast, Doubled(), Flipped(0.0)]).next().data[0]
    assert np.array_equal(own, 2 * plain[..., ::-1])
    assert set(seen) == {(mx.nd.NDArray, np.dtype(np.float32), (SIZE, SIZE, 3))}
    bytes_of_own = indexed(folder, aug_list=[crop, lambda image: 255 - image]).next().data[0]
    assert np.array_equal(bytes_of_own, 255 - plain)
    nested = mx.image.SequentialAug([crop, mx.image.RandomOrderAug([lambda image: image // 2])])
    assert np.array_equal(indexed(folder, aug_list=[nested]).next().data[0], plain // 2)


def test_functions_may_draw_by_the_seed(folder):
    def noisy(image, rng):
        return image + rng.integers(0, 9, image.shape)

    def data(seed):
        aug_list = [mx.image.CenterCropAug((SIZE, SIZE)), mx.image.CastAug(), noisy]
        return indexed(folder, seed=seed, aug_list=aug_list).next().data[0]

    assert np.array_equal(data(1), data(1)) and not np.array_equal(data(1), data(2))


def test_kernels_may_be_among_augmenters(folder):
    crop = mx.image.CenterCropAug((SIZE, SIZE))
    inverted = indexed(folder, aug_list=[V.Invert(), crop]).next().data[0]
    assert np.array_equal(inverted, 255 - indexed(folder).next().data[0])


def test_explain_says_what_runs_and_the_budget(folder):
    iterator = indexed(folder, memory="64MiB", last_batch_handle="roll_over", **RANDOM)
    assert iterator.explain().startswith("ImageIter: an image goes through Decode, RandomResizedCrop, Random")
    iterator.next()
    assert "64.0 MiB" in iterator.explain() and "RandomLighting" in iterator.explain()

    def darker(image):
        return image // 2

    assert "darker (in Python), TypeCast, HWC2CHW" in indexed(folder, aug_list=[darker]).explain()


def test_the_tail_has_the_first_rows_as_they_were_augmented(folder):
    iterator = indexed(folder, shuffle=True, **RANDOM)
    for _ in range(2):
        first, _, last = iterator
        assert last.pad == 2
        for given, expect in ((last.data, first.data), (last.label, first.label)):
            assert np.array_equal(given[0][2:], expect[0][:2])
        iterator.reset()


# ---- rows that fail ----


@pytest.fixture(scope="module")
def bad(folder):
    """Ten records, of which those at both ends and one in the middle cannot be decoded."""
    payloads = [encoded(image_of(i)) for i in range(ROWS)]
    for number in (0, 5, 9):
        payloads[number] = b"no image"
    write_records(folder, "bad", payloads)
    return folder


@pytest.mark.parametrize("make", [some, indexed])
@pytest.mark.parametrize("ending", ENDINGS)
def test_rows_that_cannot_be_decoded_are_left_out(bad, make, ending):
    rows = [1, 2, 3, 4, 6, 7, 8]
    told = expected(len(rows), 4, ending, 3)
    named = [each if each == "end" else ([rows[i] for i in each[0]], each[1]) for each in told]
    iterator = make(bad, "bad", on_error="skip", last_batch_handle=ending)
    assert steps(iterator, len(named)) == named
    assert "bad.rec" in iterator.explain()
    with pytest.raises(hr.DataError, match="max_errors"):
        steps(make(bad, "bad", on_error="skip", max_errors=1, last_batch_handle=ending), len(named))


def test_errors_name_the_record(bad):
    with pytest.raises(hr.DataError, match=r"bad\.rec"):
        indexed(bad, "bad").next()


def test_a_file_that_is_missing_is_named(folder, tmp_path):
    (tmp_path / "a.lst").write_text("1\t2\tmissing.png\n")
    with pytest.raises(hr.NotFoundError, match=r"missing\.png"):
        mx.image.ImageIter(1, (3, 8, 8), path_imglist=tmp_path / "a.lst", path_root=tmp_path).next()
    with pytest.raises(hr.NotFoundError, match=r"none\.rec"):
        mx.image.ImageIter(1, (3, 8, 8), path_imgrec=tmp_path / "none.rec")


def test_a_file_without_rows_is_named(tmp_path):
    (tmp_path / "none.rec").touch()
    with pytest.raises(
        hr.GraphError, match=r"path_imgrec=.*none\.rec.* gives no rows.*roll_over.*; give \"pad\", or other"
    ):
        mx.image.ImageIter(1, (3, 8, 8), path_imgrec=tmp_path / "none.rec", last_batch_handle="roll_over").next()


def test_another_shape_than_data_shape_is_an_error(folder):
    with pytest.raises(hr.DataError, match=r"data of a batch has shape .*, and should have \(4, 3, 8, 8\)"):
        indexed(folder, aug_list=[mx.image.ForceResizeAug((8, 9))]).next()
    with pytest.raises(hr.DataError, match=r"its augmenters take sizes as \(width, height\)"):
        indexed(folder, aug_list=[mx.image.ForceResizeAug((8, 9))]).next()


@pytest.mark.parametrize("make", [indexed, listed, in_python])
def test_images_of_different_shapes_are_told_of_aug_list(tmp_path, make):
    images = [encoded(np.zeros((8 + i, 8, 3), np.uint8)) for i in range(ROWS)]
    write_records(tmp_path, "some", images)
    (tmp_path / "one.lst").write_text("".join(f"{100 + i}\t{i}\t{i}.png\n" for i in range(ROWS)))
    for i, image in enumerate(images):
        (tmp_path / f"{i}.png").write_bytes(image)
    with pytest.raises(
        hr.GraphError, match=r"aug_list must give images of data_shape.*such as ForceResizeAug"
    ) as raised:
        make(tmp_path, aug_list=[mx.image.HorizontalFlipAug(0.5)]).next()
    assert "ragged" not in str(raised.value)


def test_a_function_without_a_return_is_named(folder):
    with pytest.raises(hr.FunctionError, match=r"TypeError: None is no image \(does the function lack its return\?\)"):
        indexed(folder, aug_list=[lambda image: None]).next()


def test_labels_of_another_number_are_told_without_what_is_not_taken(folder):
    with pytest.raises(
        hr.DataError, match="label_width is 2; set label_width to the number of labels, or read"
    ) as raised:
        some(folder, label_width=2).next()
    assert "-1 if" not in str(raised.value)


REFUSED = {
    "no images are named": {"path_imgrec": None},
    "batch_size": {"batch_size": 0},
    "data_shape is 5": {"data_shape": 5},
    "3 channels": {"data_shape": (1, 8, 8)},
    "label_width": {"label_width": 0},
    "shuffle needs the rows' numbers; give path_imgidx": {"shuffle": True},
    "num_parts needs the rows' numbers": {"num_parts": 2},
    "path_root and path_imgrec are both given": {"path_root": "photos"},
    "imglist and path_imgrec are both given": {"imglist": [[0, "0.png"]]},
    "path_imgidx is .*, and needs path_imgrec": {"path_imgrec": None, "path_imglist": "a.lst", "path_imgidx": "a.idx"},
    "dtype": {"dtype": "float16"},
    "last_batch_handle": {"last_batch_handle": "rollover"},
    "on_error": {"on_error": "ignore"},
    "resize, mean has no effect beside aug_list": {"aug_list": [], "resize": 5, "mean": True},
    "aug_list is 5": {"aug_list": 5},
    "is no augmenter": {"aug_list": [5]},
    "rand_resize is set": {"rand_resize": True},
    "imglist is": {"path_imgrec": None, "imglist": []},
    r"imglist\[0\] is .* 1 label, as label_width says": {"path_imgrec": None, "imglist": [[1, 2, "0.png"]]},
    r"imglist\[1\] is": {"path_imgrec": None, "imglist": [[1, "0.png"], ["1", "1.png"]]},
    r"imglist\[0\] is \['0": {"path_imgrec": None, "imglist": [["0.png"]]},
    "seed": {"seed": -1},
    "place it before ColorNormalizeAug": {
        "aug_list": [mx.image.ColorNormalizeAug(1, 2), mx.image.BrightnessJitterAug(0.1)]
    },
    "RandomOrderAug: ColorNormalizeAug changes": {
        "aug_list": [mx.image.RandomOrderAug([mx.image.ColorNormalizeAug(1, 2), mx.image.HorizontalFlipAug(0.5)])]
    },
}


@pytest.mark.parametrize("message", REFUSED)
def test_mistakes_are_named(folder, message):
    with pytest.raises(hr.GraphError, match=message):
        some(folder, **REFUSED[message])


def test_other_mistakes(folder):
    with pytest.raises(hr.GraphError, match="fewer than num_parts=11"):
        indexed(folder, num_parts=11)
    with pytest.raises(TypeError, match="rand_mirrored"):
        some(folder, rand_mirrored=True)


# ---- MXNet ----


@needs_mxnet
def test_batches_are_those_of_mxnet(folder, tmp_path):
    shape = {"batch_size": 4, "data_shape": [3, SIZE, SIZE]}
    records = {"path_imgrec": str(folder / "some.rec"), **shape}
    index = {"path_imgidx": str(folder / "some.idx"), **records}
    two = {"path_imgrec": str(folder / "two.rec"), "label_width": 2, **shape}
    files = {"path_imglist": str(folder / "two.lst"), "path_root": str(folder), "label_width": 2, **shape}
    entries = {"imglist": [[i, i / 2, f"{i}.png"] for i in range(7)], "path_root": str(folder), "label_width": 2}
    sources = (records, index, two, files, {**entries, **shape})
    given = [{**source, "last_batch_handle": ending} for source in sources for ending in ENDINGS]
    given += [{**index, "num_parts": 3, "part_index": 2}, {**files, "num_parts": 4, "part_index": 1, "batch_size": 2}]
    given += [{**index, "resize": 14, "inter_method": way, "mean": True, "std": True} for way in (0, 1, 2)]
    # MXNet looks labels up by the keys of the index, this by the ids of the records.
    by_key = tmp_path / "keys.lst"
    by_key.write_text("".join(f"{i}\t{i}\t{2 * i}\t{i}.png\n" for i in range(ROWS)))
    by_id = str(folder / "two.lst")
    given.append({**index, "path_imglist": str(by_key), "label_width": 2})
    theirs = run_mxnet(tmp_path, [("ImageIter", each, 4) for each in given])
    for each, expect in zip(given, theirs, strict=True):
        if each.get("path_imglist") == str(by_key):
            each["path_imglist"] = by_id
        ours = run_ours(mx.image.ImageIter(**each), 4)
        assert ours.described == expect.described
        assert [[one[2] for one in epoch] for epoch in ours.epochs] == [
            [one[2] for one in epoch] for epoch in expect.epochs
        ]
        for epoch, expected_epoch in zip(ours.epochs, expect.epochs, strict=True):
            for (data, label, _), (expected_data, expected_label, _) in zip(epoch, expected_epoch, strict=True):
                assert np.array_equal(label, expected_label)
                assert np.array_equal(data, expected_data), each
