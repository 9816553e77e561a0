"""headrace.mx.io.MNISTIter on idx files of our own, and against MXNet 1.9.1."""

import gzip
import logging
import pickle
import struct

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from tests.mx_batches import next_batches, python_calls
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours


def write_idx(path, array):
    head = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    path.write_bytes(head + array.tobytes())
    return str(path)


PIXELS = np.random.default_rng(0).integers(0, 256, (100, 4, 6), np.uint8)
LABELS = np.arange(100, dtype=np.uint8)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mnist")
    return {"image": write_idx(folder / "images", PIXELS), "label": write_idx(folder / "labels", LABELS)}


def test_values_are_pixels_divided_by_256(files):
    iterator = mx.io.MNISTIter(**files, batch_size=30, shuffle=False)
    assert [tuple(each) for each in iterator.provide_data] == [("data", (30, 1, 4, 6))]
    assert [tuple(each) for each in iterator.provide_label] == [("softmax_label", (30,))]
    batches = [*iterator]
    # The last ten rows fill no batch.
    assert [batch.label[0].tolist() for batch in batches] == [list(range(i, i + 30)) for i in (0, 30, 60)]
    assert all(batch.data[0].dtype == batch.label[0].dtype == np.float32 and batch.pad == 0 for batch in batches)
    assert np.array_equal(batches[1].data[0][:, 0], PIXELS[30:60] / 256)
    assert batches[1].index.tolist() == list(range(30, 60))
    flat = mx.io.MNISTIter(**files, batch_size=30, shuffle=False, flat=True, data_name="pixels", label_name="digit")
    assert np.array_equal(flat.next().data[0], PIXELS[:30].reshape(30, 24) / 256)
    assert flat.provide_data[0] == ("pixels", (30, 24)) and flat.provide_label[0].name == "digit"


def test_each_epoch_is_shuffled_anew_by_the_seed(files):
    def epochs(**given):
        iterator = mx.io.MNISTIter(**files, batch_size=50, **given)
        return [
            [row for batch in [*iterator] for row in batch.label[0].tolist()]
            for _ in range(3)
            if iterator.reset() is None
        ]

    first = epochs(seed=1)
    assert all(sorted(epoch) == list(range(100)) for epoch in first) and len({*map(tuple, first)}) == 3
    assert epochs(seed=1) == first != epochs(seed=2)
    assert epochs(shuffle=False) == [list(range(100))] * 3
    # As in MXNet: all epochs have one order, which is that of the first.
    assert epochs(seed=1, same_order=True) == [epochs(seed=1)[0]] * 3
    assert epochs(seed=2, same_order=True)[0] != first[0]
    assert epochs(shuffle=False, same_order=True) == [list(range(100))] * 3


def test_the_order_is_the_same_behind_a_reset_and_a_state(files):
    def made(state=None):
        return mx.io.MNISTIter(**files, batch_size=10, seed=10, same_order=1, num_parts=2, part_index=1, state=state)

    iterator = made()
    first = iterator.next()
    assert first.index.tolist() == first.label[0].tolist() and (first.index >= 50).all()
    for _ in range(3):
        iterator.next()
    iterator.reset()
    assert iterator.next().label[0].tolist() == first.label[0].tolist()
    again = made(pickle.loads(pickle.dumps(iterator.state())))
    assert again.next().label[0].tolist() == iterator.next().label[0].tolist()


def test_parts_are_those_of_mxnet(files):
    for parts in (1, 3, 7):
        rows = []
        for part in range(parts):
            iterator = mx.io.MNISTIter(**files, batch_size=1, shuffle=False, num_parts=parts, part_index=part)
            own = [int(batch.label[0][0]) for batch in iterator]
            assert own == list(range(int(100 / parts * part), int(100 / parts * (part + 1))))
            rows += own
        assert rows == list(range(100))


def test_a_state_goes_on(files):
    def steps(iterator, count):
        return next_batches(iterator, count, lambda batch: batch.label[0].tolist())

    whole = steps(mx.io.MNISTIter(**files, batch_size=40, seed=3), 10)
    for before in range(9):
        iterator = mx.io.MNISTIter(**files, batch_size=40, seed=3)
        steps(iterator, before)
        state = pickle.loads(pickle.dumps(iterator.state()))
        assert steps(mx.io.MNISTIter(**files, batch_size=40, seed=3, state=state), 10 - before) == whole[before:]
    with pytest.raises(hr.StateError, match="batch_size=40"):
        mx.io.MNISTIter(**files, batch_size=50, seed=3, state=state)


def test_what_changes_no_value(files, caplog):
    caplog.set_level(logging.INFO, "headrace.mx")
    plain = mx.io.MNISTIter(**files, batch_size=40)
    assert "100 images, shuffle=True, shape=(40, 1, 4, 6)" in caplog.text
    caplog.clear()
    quiet = mx.io.MNISTIter(
        **files, batch_size=40, silent=True, prefetch_buffer=2, ctx="cpu", memory="64MiB", on_error="skip"
    )
    assert np.array_equal(plain.next().data[0], quiet.next().data[0]) and caplog.text == ""
    assert "prefetch_buffer=2" in quiet.explain() and "ctx=cpu" in quiet.explain() and "64.0 MiB" in quiet.explain()
    assert "prefetch_buffer" not in plain.explain()


def test_no_python_runs_for_a_row(tmp_path):
    image = write_idx(tmp_path / "images", np.zeros((2000, 4, 6), np.uint8))
    label = write_idx(tmp_path / "labels", np.zeros(2000, np.uint8))

    def calls(size):
        return python_calls(mx.io.MNISTIter(image=image, label=label, batch_size=size))

    assert calls(500) < calls(2) + 30


def test_files_that_do_not_fit_are_named(files, tmp_path):
    (tmp_path / "images.gz").write_bytes(gzip.compress(b"\0\0\x08\3"))
    (tmp_path / "text").write_text("no bytes")
    short = tmp_path / "short"
    short.write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, 2, 4, 6) + bytes(47))
    for image, message in (
        (tmp_path / "images.gz", r"images\.gz is no idx file .* compressed with gzip"),
        (short, "short says that it has 64 bytes, and has 63"),
        (
            files["label"],
            "MNISTIter: image .* no idx file of bytes with 3 axes, as it has 1; .* may have been exchanged",
        ),
        (tmp_path / "text", "text is no idx file of bytes with 3 axes$"),
        (write_idx(tmp_path / "few", PIXELS[:3]), "3 images.*100 labels"),
    ):
        with pytest.raises(hr.DataError, match=message):
            mx.io.MNISTIter(image=image, label=files["label"])
    with pytest.raises(hr.NotFoundError, match="MNISTIter: image: cannot read .*nothing"):
        mx.io.MNISTIter(image=tmp_path / "nothing", label=files["label"])
    with pytest.raises(hr.GraphError, match="batch_size is 0"):
        mx.io.MNISTIter(**files, batch_size=0)
    for given in ({"batch_size": 101}, {"batch_size": 51, "num_parts": 2}):
        with pytest.raises(hr.GraphError, match=r"MNISTIter: image='.*images' gives \d+ rows, fewer than batch_size="):
            mx.io.MNISTIter(**files, **given)


@pytest.mark.parametrize("name", ["data_shape", "input_shape"])
def test_the_shape_that_scripts_expect_is_checked(files, name):
    """MXNet ignores it: `flat` decides the shape."""
    plain = mx.io.MNISTIter(**files, batch_size=40).next().data[0]
    for shape in ((1, 4, 6), (4, 6), (24,), 24, [6, 4]):
        assert np.array_equal(mx.io.MNISTIter(**files, batch_size=40, **{name: shape}).next().data[0], plain)
    for shape in ((1, 28, 28), (784,), 784):
        with pytest.raises(
            hr.GraphError, match=rf"{name} is .*(784|28).* 4 rows of 6 pixels; give \(24,\) or \(1, 4, 6\)"
        ):
            mx.io.MNISTIter(**files, **{name: shape})
    for shape in ((), "24", (0, 24)):
        with pytest.raises(hr.GraphError, match=name):
            mx.io.MNISTIter(**files, **{name: shape})


@needs_mxnet
def test_batches_equal_mxnets(files, tmp_path):
    cases = [
        ("MNISTIter", {**files, "shuffle": False, "silent": True, **given}, 3)
        for given in (
            {"batch_size": 30},
            {"batch_size": 25, "flat": True, "input_shape": (24,)},
            {"batch_size": 7, "num_parts": 3, "part_index": 2},
        )
    ]
    for theirs, (_, given, epochs) in zip(run_mxnet(tmp_path, cases), cases, strict=True):
        ours = run_ours(mx.io.MNISTIter(**given), epochs)
        assert ours.described == theirs.described
        for mine, other in zip(ours.epochs, theirs.epochs, strict=True):
            assert [pad for *_, pad in mine] == [pad for *_, pad in other]
            for one, its in zip(mine, other, strict=True):
                assert np.array_equal(one[0], its[0]) and np.array_equal(one[1], its[1])
