"""Arrays that are not row-major give the rows of their copies, and are not copied."""

import json
import pickle
import subprocess
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import headrace as hr
from headrace._datasets import pickling

DTYPES = ("bool", "int8", "uint16", "float16", "int32", "float64")


@st.composite
def strided_arrays(draw, least_axes=1):
    """Arrays over one piece of memory, with strides that may be negative, zero, overlap, or lead between elements."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(st.lists(st.integers(0, 5), min_size=least_axes, max_size=4))
    strides = [draw(st.integers(-24, 24)) for _ in shape]
    if draw(st.booleans()):
        strides = [step * dtype.itemsize for step in strides]
    reach = [(size - 1) * step if size > 0 else 0 for size, step in zip(shape, strides, strict=True)]
    first = -sum(min(0, each) for each in reach)
    bytes_ = first + sum(max(0, each) for each in reach) + dtype.itemsize
    memory = np.random.default_rng(len(shape)).integers(0, 2, bytes_, np.uint8)
    return as_strided(np.ndarray((), dtype, memory, first), shape, strides, writeable=False)


def given_rows(dataset, epoch=0):
    dataset.epoch = epoch
    return [{name: value.tobytes() for name, value in row.items()} for row in dataset]


@settings(max_examples=150, deadline=None)
@given(strided_arrays(), st.booleans())
def test_rows_are_those_of_the_copy(array, shuffle):
    strided = hr.Numpy(array, shuffle=shuffle, seed=3)
    copied = hr.Numpy(np.ascontiguousarray(array), shuffle=shuffle, seed=3)
    assert strided.schema == copied.schema
    assert given_rows(strided) == given_rows(copied)
    assert given_rows(strided.batch(3), 1) == given_rows(copied.batch(3), 1)


@settings(max_examples=60, deadline=None)
@given(strided_arrays(), st.integers(0, 4))
def test_a_state_of_one_goes_on_in_the_other(array, taken):
    strided = hr.Numpy({"x": array}, shuffle=True)
    copied = hr.Numpy({"x": np.ascontiguousarray(array)}, shuffle=True)
    for begun, other in ((strided, copied), (copied, strided)):
        with begun.iterate(seed=7) as rows:
            for _ in range(min(taken, len(array))):
                next(rows)
            state, rest = rows.state(), [row["x"].tolist() for row in rows]
        with other.iterate(seed=7, state=state) as rows:
            assert [row["x"].tolist() for row in rows] == rest


@settings(max_examples=60, deadline=None)
@given(strided_arrays(), st.lists(st.integers(0, 5), max_size=4))
def test_ragged_values_may_be_strided(array, lengths):
    ends = np.minimum(np.cumsum([0, *lengths]), len(array))
    splits = np.append(ends, len(array)) if ends[-1] < len(array) else ends
    for shuffle in (False, True):
        rows = hr.Numpy({"x": hr.ragged(array, splits)}, shuffle=shuffle, seed=1)
        copied = hr.Numpy({"x": hr.ragged(np.ascontiguousarray(array), splits)}, shuffle=shuffle, seed=1)
        assert given_rows(rows) == given_rows(copied)
        assert given_rows(rows.batch(2, ragged="splits")) == given_rows(copied.batch(2, ragged="splits"))


@settings(max_examples=100, deadline=None)
@given(strided_arrays())
def test_a_pickle_has_the_array(array):
    dataset = hr.Numpy({"x": array})
    again = pickle.loads(pickle.dumps(dataset))
    assert given_rows(again) == given_rows(dataset)
    assert pickle.dumps(again) == pickle.dumps(pickle.loads(pickle.dumps(again)))


def test_a_pickle_of_windows_has_their_memory_once(monkeypatch):
    monkeypatch.setattr(pickling, "MOST_BYTES", 1 << 20)
    series = np.arange(10_000.0)
    for windows in (sliding_window_view(series, 500), sliding_window_view(series, 500)[::-7, ::-1]):
        pickled = pickle.dumps(hr.Numpy(windows))
        assert len(pickled) < series.nbytes + 10_000
        again = pickle.loads(pickled)
        assert [row["data"].tolist() for row in again.take(3)] == windows[:3].tolist()
    with pytest.raises(hr.GraphError, match="write them to files"):
        pickle.dumps(hr.Numpy(np.ascontiguousarray(sliding_window_view(series, 500))))


def test_a_long_row_that_is_row_major_is_a_view():
    series = np.arange(30_000.0)
    windows = sliding_window_view(series, 20_000)
    rows = list(hr.Numpy(windows[::-1]).take(3))
    assert all(np.shares_memory(row["data"], series) for row in rows)
    assert not any(row["data"].flags.writeable for row in rows)


def test_other_byte_orders_and_structured_arrays():
    swapped = np.arange(24, dtype=">i4").reshape(4, 6)[:, ::2]
    packed = np.zeros(5, np.dtype([("flag", "u1"), ("x", "<f8")]))
    packed["x"] = np.arange(5)
    rows = list(hr.Numpy({"swapped": swapped, "flag": packed["flag"][:4], "x": packed["x"][:4]}))
    assert [row["swapped"].tolist() for row in rows] == swapped.tolist()
    assert [float(row["x"]) for row in rows] == [0, 1, 2, 3]


@pytest.mark.torch
def test_tensors_of_torch_may_be_strided():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16):
        tensor = torch.arange(24).to(dtype).reshape(4, 6).t()
        rows = list(hr.Numpy(tensor).options(as_="torch"))
        assert [row["data"].tolist() for row in rows] == tensor.tolist()


def test_an_initial_state_of_scan_may_be_strided():
    initial = np.arange(6, dtype=np.int64).reshape(2, 3)[:, ::-1]
    scanned = hr.Range(2).scan(lambda state, value: (state + value, state[0]), initial, "value", "x")
    assert [row["x"].tolist() for row in scanned][0] == [2, 1, 0]


WINDOWS = """
import json, resource, sys
import numpy as np
import headrace as hr
series = np.random.default_rng(1).random(1_000_511)
windows = np.lib.stride_tricks.sliding_window_view(series, 512)
assert windows.nbytes > 4_000_000_000
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
next(iter(hr.Numpy(windows[:100], shuffle=True).batch(64)))
before = peak()
dataset = hr.Numpy({"x": windows}, shuffle=True).batch(64)
with dataset.iterate(seed=1) as rows:
    batches = [next(rows)["x"] for _ in range(20)]
    held = rows.report()["peak_bytes"]
print(json.dumps({"grown": peak() - before, "held": held, "rows": len(dataset),
                  "first": bool((windows[:, 0] == batches[0][0, 0]).any())}))
"""


def test_a_million_windows_take_no_more_memory_than_their_series():
    run = subprocess.run([sys.executable, "-c", WINDOWS], stdout=subprocess.PIPE, check=True, timeout=120)
    found = json.loads(run.stdout)
    assert found["first"] and found["rows"] == 15_625
    assert found["grown"] < 300 << 20 and found["held"] < 300 << 20
