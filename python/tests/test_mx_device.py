"""`device=` of the iterators of headrace.mx: batches, epochs, states, errors and ends are those in host memory. And
`device_id`: which host memory that is."""

import gc
import struct

import numpy as np
import pytest
from conftest import eventually, pipeline_threads
from test_cuda import driver, run  # noqa: F401

import headrace as hr
import headrace.mx as mx
from tests.small_image_records import encoded, image_of, write_records

ROWS = 10
SENTENCES = [[1, 2], [3, 4], [5], [6], [7, 8, 9], [1, 3], [2], [4], [4, 4, 4]]


def write_idx(path, array):
    path.write_bytes(struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    images = [encoded(image_of(i)) for i in range(ROWS)]
    write_records(folder, "some", images)
    write_records(folder, "bad", [b"no image" if i == 6 else each for i, each in enumerate(images)])
    boxes = [np.float32([2, 5, i % 3, 0.1, 0.2, 0.5, 0.6] + [1, 0.4, 0.4, 0.9, 0.8] * (i % 2)) for i in range(ROWS)]
    write_records(folder, "boxes", images, boxes)
    (folder / "data.csv").write_text("".join(f"{i},{2 * i}\n" for i in range(ROWS)))
    (folder / "data.libsvm").write_text("".join(f"{i} {i % 2}:{i}\n" for i in range(ROWS)))
    write_idx(folder / "images", np.arange(ROWS * 24, dtype=np.uint8).reshape(ROWS, 4, 6))
    write_idx(folder / "labels", np.arange(ROWS, dtype=np.uint8))
    return folder


def records(folder, name="some", kind=mx.io.ImageRecordIter, **given):
    parameters = {"path_imgrec": str(folder / f"{name}.rec"), "data_shape": (3, 8, 8), "batch_size": 4}
    return kind(**{**parameters, "verbose": False, **given})


def arrays(folder, how="pad", **given):
    data = {"x": np.arange(20.0).reshape(10, 2), "y": np.arange(10)}
    return mx.io.NDArrayIter(data, np.arange(10), 4, True, how, seed=1, **given)


def listed(folder, kind, name, **given):
    index = {"path_imgrec": str(folder / f"{name}.rec"), "path_imgidx": str(folder / f"{name}.idx")}
    return kind(4, (3, 8, 8), **index, shuffle=True, rand_mirror=True, seed=1, **given)


ITERATORS = {
    "records": lambda f, **g: records(f, path_imgidx=str(f / "some.idx"), shuffle=True, rand_crop=True, **g),
    "records in splits": lambda f, **g: records(f, rand_mirror=True, **g),
    "records, padded": lambda f, **g: records(f, round_batch=False, **g),
    "bytes": lambda f, **g: records(f, kind=mx.io.ImageRecordUInt8Iter, **g),
    "signed bytes": lambda f, **g: records(f, kind=mx.io.ImageRecordInt8Iter, **g),
    "objects": lambda f, **g: records(f, "boxes", mx.io.ImageDetRecordIter, rand_mirror_prob=0.5, **g),
    "skipped": lambda f, **g: records(f, "bad", on_error="skip", **g),
    "images": lambda f, **g: listed(f, mx.image.ImageIter, "some", **g),
    "images, rolled over": lambda f, **g: listed(f, mx.image.ImageIter, "some", last_batch_handle="roll_over", **g),
    "images, discarded": lambda f, **g: listed(f, mx.image.ImageIter, "some", last_batch_handle="discard", **g),
    "images with objects": lambda f, **g: listed(f, mx.image.ImageDetIter, "boxes", **g),
    "arrays": arrays,
    "arrays, rolled over": lambda f, **g: arrays(f, "roll_over", **g),
    "arrays, discarded": lambda f, **g: arrays(f, "discard", **g),
    "lines": lambda f, **g: mx.io.CSVIter(data_csv=str(f / "data.csv"), data_shape=(2,), batch_size=4, **g),
    "digits": lambda f, **g: mx.io.MNISTIter(
        image=str(f / "images"), label=str(f / "labels"), batch_size=4, silent=True, **g
    ),
    "sentences": lambda f, **g: mx.rnn.BucketSentenceIter(SENTENCES, 2, seed=1, **g),
    "sentences, turned": lambda f, **g: mx.rnn.BucketSentenceIter(SENTENCES, 2, seed=1, layout="TN", **g),
}
all_iterators = pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)


def tell(batch):
    both = [[np.array(np.from_dlpack(each)) for each in given] for given in (batch.data, batch.label)]
    told = [[(each.dtype, each.shape, each.tobytes()) for each in given] for given in both]
    index = None if batch.index is None else batch.index.tolist()
    return told, batch.pad, index, batch.bucket_key, batch.provide_data


def epoch_of(iterator):
    return [tell(batch) for batch in iterator]


@all_iterators
def test_epochs_are_those_in_host_memory(folder, make):
    on_host, there = make(folder), make(folder, device="cpu:0")
    assert there.provide_data == on_host.provide_data and there.provide_label == on_host.provide_label
    for _ in range(3):
        assert epoch_of(there) == epoch_of(on_host)
        with pytest.raises(StopIteration):
            there.next()
        for each in (there, on_host):
            each.reset()


@all_iterators
def test_resets_in_mid_epoch_are_those_in_host_memory(folder, make):
    on_host, there = make(folder), make(folder, device="cpu:0")
    # After the last batch, too, whose end the loop has not seen.
    for taken in range(5):
        told = []
        for each in (on_host, there):
            told.append([tell(batch) for batch, _ in zip(each, range(taken), strict=False)])
            each.reset()
        assert told[0] == told[1]
    assert epoch_of(there) == epoch_of(on_host)


@all_iterators
def test_a_state_is_the_position_of_the_loop(folder, make):
    whole = make(folder)
    expected = epoch_of(whole)
    whole.reset()
    expected += epoch_of(whole)
    for step in range(len(expected) + 1):
        there = make(folder, device="cpu:0")
        told = []
        while len(told) < step:
            try:
                told.append(tell(there.next()))
            except StopIteration:
                there.reset()
        state = there.state()
        for given in ({"device": "cpu:0"}, {}):
            again = make(folder, state=state, **given)
            rest = epoch_of(again)
            if len(told) + len(rest) < len(expected):
                again.reset()
                rest += epoch_of(again)
            assert told + rest == expected[: len(told) + len(rest)]
        del there


@all_iterators
def test_a_reset_behind_a_state_is_that_of_the_iterator_it_was_taken_of(folder, make):
    batches = len(epoch_of(make(folder)))
    for taken in range(batches + 1):
        at = make(folder)
        for _ in range(taken):
            at.next()
        state = at.state()
        at.reset()
        expected = epoch_of(at)
        for given in ({"device": "cpu:0"}, {}):
            again = make(folder, state=state, **given)
            again.reset()
            assert epoch_of(again) == expected


@pytest.mark.parametrize("make", [arrays, ITERATORS["images"], ITERATORS["images with objects"]])
def test_a_hard_reset_is_that_in_host_memory(folder, make):
    on_host, there = make(folder), make(folder, device="cpu:0")
    for each in (on_host, there):
        each.next()
        each.hard_reset()
    assert epoch_of(there) == epoch_of(on_host)


def test_shapes_may_be_changed_between_epochs(folder):
    on_host, there = (listed(folder, mx.image.ImageDetIter, "boxes", **given) for given in ({}, {"device": "cpu:0"}))
    for each in (on_host, there):
        each.next()
        each.reset()
        each.reshape((3, 6, 6), (4, 5))
    assert epoch_of(there) == epoch_of(on_host)
    with pytest.raises(hr.UnsupportedError, match="draw_next: batches are on a device"):
        there.draw_next()


def test_an_error_comes_behind_the_batches_before_it(folder):
    there = records(folder, "bad", device="cpu:0")
    there.next()
    for _ in range(2):
        with pytest.raises(hr.DataError, match=r"bad\.rec"):
            there.next()
    there.reset()
    assert there.next().index.tolist() == [100, 101, 102, 103]
    with pytest.raises(hr.DataError, match=r"bad\.rec"):
        there.next()


def test_a_state_that_cannot_be_taken_says_so_when_it_is_asked_for(folder, monkeypatch):
    there = arrays(folder, device="cpu:0")
    monkeypatch.setattr(type(there), "state_on_host", lambda _: (_ for _ in ()).throw(hr.StateError("no state")))
    assert len(epoch_of(there)) == 3
    there.reset()
    there.next()
    with pytest.raises(hr.StateError, match="no state"):
        there.state()


def test_a_loop_that_keeps_more_than_there_is_gets_an_error(folder, monkeypatch):
    monkeypatch.setattr("headrace.mx.io.device_batches._DEVICE_MEMORY", 4096)
    there = mx.io.NDArrayIter(np.zeros((4000, 8)), None, 100, device="cpu:0")
    kept = []
    with pytest.raises(hr.ResourceError, match=r"the loop keeps \d batch(es)? on cpu:0"):
        for batch in there:
            kept.append(batch)
    assert kept
    kept.clear()
    there.reset()
    assert there.next().data[0].shape == (100, 8)


def test_streams_can_be_named(folder):
    there = arrays(folder, device="cpu:0")
    there.next().record_stream(7)


def test_an_iterator_that_is_let_go_leaves_no_thread(folder):
    gc.collect()
    gc.disable()
    try:
        before = len(pipeline_threads())
        there = records(folder, device="cpu:0")
        there.next()
        assert "headrace-device" in pipeline_threads()
        del there
        assert eventually(lambda: len(pipeline_threads()) <= before)
    finally:
        gc.enable()


def test_explain_has_both_pipelines(folder):
    for make in (records, arrays):
        there = make(folder, device="cpu:0")
        assert "device: cpu:0, up to 3 batches ahead" in there.explain()
        epoch_of(there)
        assert "On the way to the device:" in there.explain()
        assert "device cpu:0: 3 batches sent" in there.explain()


@all_iterators
def test_the_name_is_checked_at_once(folder, make):
    with pytest.raises(hr.GraphError, match='Iter: device is "gpu"'):
        make(folder, device="gpu")


def test_a_consumer_of_a_gpu_finds_the_batches(folder, driver):  # noqa: F811
    code = f"""
import headrace.mx as mx

def made(**given):
    return mx.io.ImageRecordIter(path_imgrec={str(folder / "some.rec")!r}, data_shape=(3, 8, 8), batch_size=4, **given)

on_host, there = made(), made(device="cuda:0")
stream = driver.TestDriverMakeStream()
for _ in range(2):
    for here, batch in zip(on_host, there, strict=True):
        for array, lent in zip([*here.data, *here.label], [*batch.data, *batch.label]):
            assert lent.__dlpack_device__() == (2, 0) and lent.shape == array.shape
            capsule, tensor = taken(lent, 1)
            capsule_of_further, _ = taken(lent, stream)
            batch.record_stream(stream)
            expect(1, tensor.data, array)
            expect(stream, tensor.data, array)
            del lent, capsule, capsule_of_further
        del batch
    on_host.reset(), there.reset()
# Batches are made where the device copies from.
assert "copied once more" not in there.explain()
del there, on_host, here, array
gc.collect()
# What was let go of behind its run is given back with the next one.
last = made()
next(last)
last.current_batch = None
del last
driver.TestDriverEndStream(stream)
print(findings() or "nothing")
"""
    assert run(driver, code) == "nothing"


# ---- page-locked memory ----

IN_USE = """
import headrace.mx as mx

class Users:
    \"\"\"Another library of the process.\"\"\"

    def __init__(self):
        find = driver.cuGetProcAddress_v2
        self.functions = {}
        for name, types in (("cuInit", [ctypes.c_uint]), ("cuDevicePrimaryCtxRetain", [ctypes.c_void_p, ctypes.c_int]),
                            ("cuDevicePrimaryCtxRelease", [ctypes.c_int])):
            found = ctypes.c_void_p()
            assert find(name.encode(), ctypes.byref(found), 12000, ctypes.c_ulonglong(0), None) == 0
            self.functions[name] = ctypes.CFUNCTYPE(ctypes.c_int, *types)(found.value)
        assert self.functions["cuInit"](0) == 0

    def begin(self):
        context = ctypes.c_void_p()
        assert self.functions["cuDevicePrimaryCtxRetain"](ctypes.addressof(context), 0) == 0

    def end(self):
        assert self.functions["cuDevicePrimaryCtxRelease"](0) == 0

users = Users()
"""


ON_HOST = {
    "records": ("ImageRecordIter", lambda f: {"path_imgrec": str(f / "some.rec"), "data_shape": (3, 8, 8)}),
    "objects": ("ImageDetRecordIter", lambda f: {"path_imgrec": str(f / "boxes.rec"), "data_shape": (3, 8, 8)}),
    "lines": ("CSVIter", lambda f: {"data_csv": str(f / "data.csv"), "data_shape": (2,)}),
    "sparse lines": ("LibSVMIter", lambda f: {"data_libsvm": str(f / "data.libsvm"), "data_shape": (3,)}),
    "digits": ("MNISTIter", lambda f: {"image": str(f / "images"), "label": str(f / "labels"), "device_id": 0}),
}


@pytest.mark.parametrize(("kind", "given"), ON_HOST.values(), ids=ON_HOST)
def test_batches_are_page_locked_where_the_process_uses_the_gpu(folder, driver, kind, given):  # noqa: F811
    code = f"""
def made(**given):
    return mx.io.{kind}(**{{**{given(folder)!r}, "batch_size": 4, **given}})

def told(iterator):
    return [[np.asarray(each.asnumpy()).tolist() for each in [*batch.data, *batch.label]] for batch in iterator]

expected = told(made(device_id=-1))
plain = made()
assert told(plain) == expected and "in page-locked memory of cuda:0" not in plain.explain()
assert findings() == "", findings()
users.begin()
locked = made()
assert "result: in page-locked memory of cuda:0" in locked.explain()
assert "page-locked" not in made(device_id=-1)._batches.explain()
assert "page-locked" not in made(device_id=1)._batches.explain()
assert told(locked) == expected
print([line for line in findings().splitlines()])
users.end()
del locked
gc.collect()
print(findings() or "nothing")
"""
    held, left = run(driver, IN_USE + code).splitlines()
    assert "pieces of page-locked memory were not given back" in held
    assert left == "nothing"


def test_any_context_and_number_is_taken(folder):
    for given in ({"ctx": "cpu"}, {"ctx": mx.cpu_pinned(3)}, {"device_id": 1 << 70}, {"device_id": None}):
        assert records(folder, **given).next().data[0].shape == (4, 3, 8, 8)
