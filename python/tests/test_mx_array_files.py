"""Files of arrays of headrace.mx.nd, as MXNet 1.9.1 writes them."""

import pathlib

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx

REAL = pathlib.Path(__file__).resolve().parents[2] / "io/formats/ndarray/testdata/mxnet-mean.bin"
SHAPE = (3, 8, 6)


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
    assert [*tmp_path.iterdir()] == [path]


def test_what_is_no_file_of_arrays_is_refused(tmp_path):
    with pytest.raises(hr.NotFoundError, match=r"none\.bin"):
        mx.nd.load(tmp_path / "none.bin")
    (tmp_path / "short.bin").write_bytes(REAL.read_bytes()[:200])
    with pytest.raises(hr.DataError, match=r"short\.bin, byte"):
        mx.nd.load(tmp_path / "short.bin")
    with pytest.raises(hr.GraphError, match="save: 3 is no name"):
        mx.nd.save(tmp_path / "a", {3: np.zeros(2)})
    with pytest.raises(hr.UnsupportedError):
        mx.nd.save(tmp_path / "a", np.array(["text"]))
    with pytest.raises(hr.NotFoundError, match="cannot write"):
        mx.nd.save(tmp_path / "none/a", np.zeros(2))
