"""Files of arrays of headrace.mx.nd, as MXNet 1.9.1 writes them."""

import pathlib
import subprocess

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from tests.mxnet_reference import PYTHON, needs_mxnet

REAL = pathlib.Path(__file__).resolve().parents[2] / "io/formats/ndarray/testdata/mxnet-mean.bin"
SHAPE = (3, 8, 6)
TYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")


def test_a_file_of_mxnet_is_read():
    arrays = mx.nd.load(REAL)
    assert [*arrays] == ["mean_img"] and type(arrays["mean_img"]) is mx.nd.NDArray
    assert np.array_equal(arrays["mean_img"], np.arange(144, dtype=np.float32).reshape(SHAPE) / 2)
    arrays["mean_img"][0] = 1


def test_what_was_saved_is_loaded(tmp_path):
    path = tmp_path / "arrays"
    mx.nd.save(path, mx.nd.load(REAL))
    assert path.read_bytes() == REAL.read_bytes()
    mx.nd.save(path, [np.arange(3, dtype=np.int64), mx.nd.zeros((2, 2), dtype="uint8")[:, :1]])
    one, other = mx.nd.load(path)
    assert one.dtype == np.int64 and one.tolist() == [0, 1, 2]
    assert other.dtype == np.uint8 and other.tolist() == [[0], [0]]
    mx.nd.save(path, np.float32([7]))
    assert [each.tolist() for each in mx.nd.load(path)] == [[7]]
    arrays = {name: np.array([1, 0, 3], name) for name in TYPES}
    mx.nd.save(path, arrays)
    loaded = mx.nd.load(path)
    assert [*loaded] == [*arrays]
    for name, values in loaded.items():
        assert values.dtype == name and np.array_equal(values, arrays[name]) and values.flags.writeable
    mx.nd.save(path, np.array([1, 2], ">f4"))
    assert mx.nd.load(path)[0].tolist() == [1, 2]
    assert [*tmp_path.iterdir()] == [path]


def test_what_is_no_file_of_arrays_is_refused(tmp_path):
    with pytest.raises(hr.NotFoundError, match=r"none\.bin"):
        mx.nd.load(tmp_path / "none.bin")
    (tmp_path / "short.bin").write_bytes(REAL.read_bytes()[:200])
    with pytest.raises(hr.DataError, match=r"short\.bin, byte"):
        mx.nd.load(tmp_path / "short.bin")
    with pytest.raises(hr.NotFoundError, match="cannot write"):
        mx.nd.save(tmp_path / "none/a", np.zeros(2))


def test_what_mxnet_does_not_read_is_not_saved(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(hr.GraphError, match="save: 3 is no name; the keys of a dict must be strings"):
        mx.nd.save(path, {3: np.zeros(2)})
    for name in ("int16", "uint16", "uint32", "uint64", "complex64", "datetime64[D]", "O", "U3"):
        with pytest.raises(
            hr.UnsupportedError, match=r"save: an array is of type .*; cast it, as by astype: float16, "
        ):
            mx.nd.save(path, [np.zeros(2, name)])
    for wrong in (3, [1, 2, 3], [[1, 2], [3, 4]], {"a": [1, 2]}, None, "text"):
        with pytest.raises(hr.GraphError, match="is no array; give an array, a list of arrays, or a dict of them"):
            mx.nd.save(path, wrong)
    for wrong in (np.float32(3), np.array(3.0), {"a": np.zeros(())}):
        with pytest.raises(hr.GraphError, match=r"has no dimension, which MXNet does not read; reshape it to \(1,\)"):
            mx.nd.save(path, wrong)
    assert not path.exists()


_PROGRAM = """
import sys
import mxnet as mx, numpy as np
for name, values in mx.nd.load(sys.argv[1]).items():
    assert values.asnumpy().tolist() == [1, 0, 1] and np.dtype(values.dtype) == name, name
"""


@needs_mxnet
def test_mxnet_reads_what_was_saved(tmp_path):
    mx.nd.save(tmp_path / "a", {name: np.array([1, 0, 1], name) for name in TYPES})
    subprocess.run([PYTHON, "-c", _PROGRAM, str(tmp_path / "a")], check=True, timeout=120)
