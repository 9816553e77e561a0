"""`memory=` and `on_error=` of the iterators of headrace.mx around others: they run as if they had been made with them."""

import pickle
import struct

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from tests.mx_batches import next_batches
from tests.small_image_records import encoded, image_of, write_records

ROWS = 10
SENTENCES = [[1, 2], [3, 4], [5], [6], [7, 8, 9], [1, 3], [2], [4], [4, 4, 4]]
BAD = {3, 8}


def write_idx(path, array):
    path.write_bytes(struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("around")
    images = [b"no image" if i in BAD else encoded(image_of(i)) for i in range(ROWS)]
    write_records(folder, "bad", images)
    boxes = [np.float32([2, 5, i % 3, 0.1, 0.2, 0.5, 0.6] + [1, 0.4, 0.4, 0.9, 0.8] * (i % 2)) for i in range(ROWS)]
    write_records(folder, "boxes", images, boxes)
    (folder / "data.csv").write_text("".join("no,number\n" if i in BAD else f"{i},{2 * i}\n" for i in range(ROWS)))
    (folder / "data.libsvm").write_text("".join("no:line\n" if i in BAD else f"{i} 0:{i}\n" for i in range(ROWS)))
    write_idx(folder / "images", np.arange(ROWS * 24, dtype=np.uint8).reshape(ROWS, 4, 6))
    write_idx(folder / "labels", np.arange(ROWS, dtype=np.uint8))
    return folder


def records(folder, name="bad", kind=mx.io.ImageRecordIter, **given):
    parameters = {"path_imgrec": str(folder / f"{name}.rec"), "data_shape": (3, 8, 8), "batch_size": 3}
    return kind(**{**parameters, "verbose": False, **given})


def listed(folder, kind, name, **given):
    index = {"path_imgrec": str(folder / f"{name}.rec"), "path_imgidx": str(folder / f"{name}.idx")}
    return kind(3, (3, 8, 8), **index, shuffle=True, rand_mirror=True, **given)


# Those of rows that fail, and those of rows that cannot.
FAILING = {
    "records": lambda f, **g: records(f, path_imgidx=str(f / "bad.idx"), shuffle=True, rand_crop=True, **g),
    "records in splits": lambda f, **g: records(f, **g),
    "records, padded": lambda f, **g: records(f, round_batch=False, **g),
    "records to a device": lambda f, **g: records(f, device="cpu:0", **g),
    "objects": lambda f, **g: records(f, "boxes", mx.io.ImageDetRecordIter, label_pad_width=20, **g),
    "images": lambda f, **g: listed(f, mx.image.ImageIter, "bad", **{"seed": 1, **g}),
    "images with objects": lambda f, **g: listed(f, mx.image.ImageDetIter, "boxes", **{"seed": 1, **g}),
    "lines": lambda f, **g: mx.io.CSVIter(data_csv=str(f / "data.csv"), data_shape=(2,), batch_size=3, **g),
    "sparse": lambda f, **g: mx.io.LibSVMIter(data_libsvm=str(f / "data.libsvm"), data_shape=(1,), batch_size=3, **g),
}
OTHERS = {
    "arrays": lambda f, **g: mx.io.NDArrayIter(np.arange(ROWS), None, 4, True, **{"seed": 1, **g}),
    "arrays, rolled over": lambda f, **g: mx.io.NDArrayIter(
        np.arange(ROWS), None, 4, last_batch_handle="roll_over", device="cpu:0", **{"seed": 1, **g}
    ),
    "digits": lambda f, **g: mx.io.MNISTIter(
        image=str(f / "images"), label=str(f / "labels"), batch_size=3, silent=True, **g
    ),
    "sentences": lambda f, **g: mx.rnn.BucketSentenceIter(SENTENCES, 2, **{"seed": 1, **g}),
}
EVERY = FAILING | OTHERS
every = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
failing = pytest.mark.parametrize("make", FAILING.values(), ids=FAILING)
SAID = {"memory": "37MiB", "on_error": "skip"}


def tell(batch):
    arrays = [
        each.asnumpy() if hasattr(each, "asnumpy") else np.array(np.from_dlpack(each))
        for each in [*batch.data, *batch.label]
    ]
    index = None if batch.index is None else batch.index.tolist()
    return [(each.dtype, each.shape, each.tobytes()) for each in arrays], batch.pad, index, batch.bucket_key


def resized(within, state=None, **given):
    return mx.io.ResizeIter(within(state["data_iter"] if state else None), 5, state=state, **given)


def ahead(within, state=None, **given):
    return mx.io.PrefetchingIter(within(state["iters"][0] if state else None), state=state, **given)


AROUND = {
    "resized": resized,
    "ahead": ahead,
    "ahead, resized": lambda within, state=None, **given: ahead(lambda part: resized(within, part), state, **given),
    "resized, ahead": lambda within, state=None, **given: resized(lambda part: ahead(within, part), state, **given),
}
all_around = pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)


@all_around
@every
def test_what_is_said_around_is_as_said_within(folder, make, around):
    expected = around(lambda state: make(folder, state=state, **SAID))
    said = around(lambda state: make(folder, state=state), **SAID)
    assert next_batches(said, 12, tell) == next_batches(expected, 12, tell)
    assert "37.0 MiB" in said.explain()


@all_around
@every
@pytest.mark.parametrize("taken", range(0, 7, 2))
def test_a_state_goes_on_as_it_was_said_around(folder, make, around, taken):
    at = around(lambda state: make(folder, state=state), **SAID)
    next_batches(at, taken, tell)
    state = pickle.loads(pickle.dumps(at.state()))
    again = around(lambda state: make(folder, state=state), state, **SAID)
    assert repr(again.state()) == repr(state)
    assert "37.0 MiB" in again.explain()
    assert next_batches(again, 9, tell) == next_batches(at, 9, tell)


@every
def test_what_is_said_around_takes_the_place_of_what_is_said_within(folder, make):
    expected = resized(lambda state: make(folder, **SAID))
    said = resized(lambda state: make(folder, memory="99MiB", on_error="raise"), **SAID)
    assert next_batches(said, 6, tell) == next_batches(expected, 6, tell)
    assert "37.0 MiB" in said.explain() and "99.0 MiB" not in said.explain()


@failing
def test_rows_fail_as_they_are_said_to_around(folder, make):
    kept = resized(lambda state: make(folder, on_error="skip"), memory="37MiB")
    assert len(next_batches(kept, 6, tell)) == 6
    with pytest.raises(hr.DataError):
        next_batches(resized(lambda state: make(folder, on_error="skip"), on_error="raise"), 6, tell)
    with pytest.raises(hr.DataError):
        next_batches(resized(lambda state: make(folder), memory="37MiB"), 6, tell)


@all_around
def test_objects_of_another_shape_run_as_said_around(folder, around):
    def reshaped(**given):
        within = listed(folder, mx.image.ImageDetIter, "boxes", seed=1, **given)
        within.reshape((3, 6, 6))
        return within

    def reshaped_behind(state):
        within = listed(folder, mx.image.ImageDetIter, "boxes", seed=1)
        made.append(within)
        return within

    made = []
    expected = next_batches(around(lambda state: reshaped(**SAID)), 6, tell)
    assert next_batches(around(lambda state: reshaped(), **SAID), 6, tell) == expected
    said = around(reshaped_behind, **SAID)
    made[0].reshape((3, 6, 6))
    assert next_batches(said, 6, tell) == expected


class Own(mx.io.DataIter):
    """A user-defined iterator."""

    def __init__(self):
        super().__init__(2)
        self.provide_data = [("data", (2, 3))]
        self.provide_label = [("label", (2,))]

    def next(self):
        return mx.io.DataBatch([mx.nd.zeros((2, 3))], [mx.nd.zeros(2)], pad=0)


def arrays(**given):
    return mx.io.NDArrayIter(np.arange(ROWS), None, 2, **given)


def asked(iterator):
    iterator.next()
    return iterator


def behind_a_reset():
    iterator = arrays(state=asked(arrays()).state())
    iterator.reset()
    return iterator


def test_what_is_of_the_users_own_is_refused():
    for around, name in (
        (lambda **given: mx.io.ResizeIter(Own(), 2, **given), "ResizeIter: data_iter is "),
        (lambda **given: mx.io.PrefetchingIter([arrays(), Own()], **given), r"PrefetchingIter: iters\[1\] is "),
        (
            lambda **given: mx.io.ResizeIter(mx.io.PrefetchingIter([arrays(), Own()]), 2, **given),
            r"ResizeIter: data_iter\.iters\[1\] is ",
        ),
        (
            lambda **given: mx.io.PrefetchingIter(mx.io.ResizeIter(Own(), 2), **given),
            r"PrefetchingIter: iters\[0\]\.data_iter is ",
        ),
    ):
        for given in ({"memory": "64MiB"}, {"on_error": "raise"}):
            with pytest.raises(hr.GraphError, match=name + ".*Own.*, of a class of your own, on which memory="):
                around(**given)
        assert around().next().pad == 0


@pytest.mark.parametrize(
    "begun",
    [
        lambda: asked(arrays()),
        behind_a_reset,
        lambda: asked(arrays(device="cpu:0")),
        lambda: asked(mx.rnn.BucketSentenceIter(SENTENCES, 2)),
        lambda: asked(mx.io.ResizeIter(arrays(), 2)),
        lambda: asked(mx.io.PrefetchingIter(arrays())),
        lambda: mx.io.ResizeIter(asked(arrays()), 2),
        lambda: mx.io.PrefetchingIter(asked(arrays())),
    ],
)
def test_what_has_begun_is_refused(begun):
    with pytest.raises(hr.GraphError, match=r"ResizeIter: data_iter, an? \w+, has begun"):
        mx.io.ResizeIter(begun(), 2, memory="64MiB")
    with pytest.raises(hr.GraphError, match=r"PrefetchingIter: iters\[1\], an? \w+, has begun"):
        mx.io.PrefetchingIter([arrays(), begun()], on_error="skip")
    mx.io.ResizeIter(begun(), 2).next()


def test_a_refusal_changes_nothing():
    first = arrays()
    with pytest.raises(hr.GraphError):
        mx.io.PrefetchingIter([first, Own()], memory="37MiB")
    assert "37.0 MiB" not in first.explain()


def test_what_has_not_begun_is_taken():
    fresh = arrays()
    fresh.reset()
    fresh.state()
    assert "37.0 MiB" in mx.io.ResizeIter(fresh, 2, memory="37MiB").explain()


def test_values_that_cannot_be_are_refused(folder):
    for given, message in (
        ({"memory": "much"}, "ResizeIter: memory is 'much'"),
        ({"on_error": "ignore"}, "ResizeIter: on_error is 'ignore'"),
    ):
        with pytest.raises(hr.GraphError, match=message):
            mx.io.ResizeIter(arrays(), 2, **given)
    in_parts = records(folder, num_parts=2)
    with pytest.raises(hr.UnsupportedError, match=r"ResizeIter: data_iter, an? ImageRecordIter: .* give path_imgidx"):
        mx.io.ResizeIter(in_parts, 2, on_error="skip")
    sparse = mx.io.LibSVMIter(data_libsvm=str(folder / "data.libsvm"), data_shape=(1,), batch_size=2, num_parts=2)
    with pytest.raises(hr.UnsupportedError, match=r"iters\[0\], an? LibSVMIter: .* give round_batch=False"):
        mx.io.PrefetchingIter(sparse, on_error="skip")


@failing
def test_a_state_that_was_taken_under_another_policy_is_refused(folder, make):
    state = resized(lambda state: make(folder)).state()
    with pytest.raises(hr.StateError, match='ResizeIter: on_error is "skip", and data_iter, .* taken with "raise"'):
        resized(lambda part: make(folder, state=part), state, on_error="skip")
    skipping = resized(lambda state: make(folder), on_error="skip").state()
    # It says itself how the rows within are read.
    within = make(folder, state=skipping["data_iter"])
    assert len(next_batches(within, 6, tell)) == 6
