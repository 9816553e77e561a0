"""Arrays are read by their memory, whatever their own methods return."""

import time

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V
from tests.thinning import one_in


class Lying(np.ndarray):
    """Pretends to be one small array."""

    def lie(self, *_, **__):
        return np.zeros(1, np.float32)

    astype = reshape = copy = ravel = flatten = view = __array__ = __getitem__ = lie
    shape = strides = (1,)
    dtype = np.dtype("float32")
    nbytes = size = itemsize = 1
    ndim = 1

    def tolist(self):
        return [0.0]

    def __len__(self):
        return 1


HONEST = {
    "native": np.arange(3000.0).reshape(2, 1500),
    "swapped": np.arange(3000, dtype=">i8").reshape(2, 1500),
    "strided": np.arange(6000, dtype=np.int16).reshape(2, 3000)[:, ::2],
    "texts": np.array([["a", "bc"], ["", "d"]]),
    "bytes": np.array([[b"a", b"bc"], [b"x", b"d"]], object),
}


@pytest.mark.parametrize("kind", HONEST)
def test_a_subclass_that_lies(kind, tmp_path):
    honest = HONEST[kind]
    lying = honest.copy().view(Lying) if kind != "strided" else honest.view(Lying)
    rows = honest.tolist()
    assert [row["data"].tolist() for row in hr.Numpy(lying)] == rows
    [row] = hr.Range(1).map(lambda _: lying, "value")
    assert row["value"].tolist() == rows
    [row] = hr.Generator(lambda: iter([(lying,)]), "value")
    assert row["value"].tolist() == rows
    hr.Numpy(honest).save(tmp_path / "g.hrg")
    loaded = hr.load(tmp_path / "g.hrg", {"arrays#0": {"data": lying}})
    assert [row["data"].tolist() for row in loaded] == rows


def test_numpys_own_subclasses(tmp_path):
    np.arange(4000, dtype=np.int32).tofile(tmp_path / "file")
    mapped = np.memmap(tmp_path / "file", np.int32, shape=(4, 1000))
    for array in (mapped, np.ma.masked_array(np.ones((4, 1000))), np.matrix(np.ones((4, 1000)))):
        assert [row["data"].tolist() for row in hr.Numpy(array)] == np.asarray(array).tolist()
        [row] = hr.Range(1).map(lambda _, array=array: array, "value")
        assert row["value"].tolist() == np.asarray(array).tolist()


def test_masked_values_are_refused():
    with pytest.raises(hr.GraphError, match=r'Numpy: column "x" has masked values, .*filled\(value\)'):
        hr.Numpy({"x": np.ma.masked_equal([1, -1, 2], -1)})


def test_the_memory_of_a_subclass_is_shared_and_kept():
    class Own(np.ndarray):
        pass

    array = np.arange(4000.0).reshape(4, 1000).view(Own)
    rows = iter(hr.Numpy(array))
    array[3, 0] = -1
    kept = next(rows)["data"]
    assert np.shares_memory(kept, array)
    del array
    assert kept[1] == 1.0 and [row["data"][0] for row in rows][-1] == -1


def test_a_tuple_that_lies_about_its_length():
    class Longer(tuple):
        def __iter__(self):
            return iter((1, 2, 3))

    for function, given in [(lambda: iter([Longer((1, 2))]), "tuple of 3 values for 2 columns")]:
        with pytest.raises(hr.GraphError, match=given):
            list(hr.Generator(function, ["a", "b"]))
    with pytest.raises(hr.Error, match="gave 3 values for 2 columns"):
        list(hr.Range(3).map(lambda x: Longer((1, 2)), "value", ["a", "b"]))


# Pipelines over a dataset of many columns.
WIDE = {
    "batch": lambda wide, names: wide.batch(5),
    "project": lambda wide, names: wide.project(names[::-1]),
    "rename": lambda wide, names: wide.rename({name: name + "x" for name in names}),
    "concat": lambda wide, names: wide.concat(wide),
    "zip": lambda wide, names: wide.zip(wide.rename({name: name + "x" for name in names})),
    "filter": lambda wide, names: wide.filter(hr.col("c7") < 3),
    "function": lambda wide, names: wide.map(lambda *columns: columns, names),
    "kernel": lambda wide, names: wide.map(V.Rescale(2), names),
}


def seconds_of_columns(pipeline: str, count: int) -> float:
    """CPU time of the process for an epoch of so many columns."""
    began = time.process_time()
    names = [f"c{i}" for i in range(count)]
    wide = hr.Numpy({name: np.arange(8) for name in names})
    rows = list(WIDE[pipeline](wide, names))
    seconds = time.process_time() - began
    assert rows and all(len(row) >= count for row in rows)
    return seconds


@pytest.mark.parametrize("pipeline", one_in(4, list(WIDE)))
def test_time_grows_as_the_columns_do(pipeline):
    """Four times the columns take about four times as long, and sixteen times if the work is quadratic."""
    tries = []
    # Other processes may disturb a try.
    while len(tries) < 3:
        few, many = (seconds_of_columns(pipeline, count) for count in (2_000, 8_000))
        if many < 8 * few:
            return
        tries.append((few, many))
    pytest.fail(f"seconds of 2,000 and of 8,000 columns: {tries}")
