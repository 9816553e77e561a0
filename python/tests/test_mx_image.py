"""Functions of headrace.mx.image against OpenCV, which MXNet's call."""

import random

import cv2
import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx


@pytest.fixture(scope="module")
def picture():
    """Blue, green, red."""
    return cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, (30, 41, 3), np.uint8), (0, 0), 1.0)


def test_pictures_are_decoded(picture, tmp_path):
    encoded = cv2.imencode(".png", picture)[1]
    (tmp_path / "a.png").write_bytes(encoded.tobytes())
    for decoded in (
        mx.image.imdecode(encoded.tobytes()),
        mx.image.imdecode(encoded),
        mx.image.imread(tmp_path / "a.png"),
    ):
        assert type(decoded) is mx.nd.NDArray and np.array_equal(decoded, picture[:, :, ::-1])
    assert np.array_equal(mx.image.imdecode(encoded, to_rgb=False), picture)
    assert mx.image.imdecode(encoded, flag=0).shape == (30, 41, 1)
    with pytest.raises(hr.DataError):
        mx.image.imdecode(b"no picture")
    with pytest.raises(hr.NotFoundError, match=r"b\.png"):
        mx.image.imread(tmp_path / "b.png")
    with pytest.raises(hr.GraphError, match="flag is 2"):
        mx.image.imdecode(encoded, 2)


def test_sizes_are_those_of_mxnet(picture):
    ways = {0: cv2.INTER_NEAREST, 1: cv2.INTER_LINEAR, 2: cv2.INTER_CUBIC, 3: cv2.INTER_AREA, 4: cv2.INTER_LANCZOS4}
    for interp, way in ways.items():
        given = mx.image.imresize(picture, 20, 25, interp)
        assert np.abs(given.astype(int) - cv2.resize(picture, (20, 25), interpolation=way)).max() <= 1
    assert mx.image.resize_short(picture, 15).shape == (15, 20, 3)
    assert mx.image.resize_short(picture.transpose(1, 0, 2), 15, interp=9).shape == (20, 15, 3)
    with pytest.raises(hr.UnsupportedError, match=r"imresize: interp is 10; it must be .* 4 \(Lanczos\) or 9"):
        mx.image.imresize(picture, 3, 3, interp=10)


def test_crops_are_cut_and_enlarged(picture):
    cut, box = mx.image.center_crop(picture, (20, 11))
    assert box == (10, 9, 20, 11) and np.array_equal(cut, picture[9:20, 10:30])
    enlarged, box = mx.image.center_crop(picture, (60, 60))
    assert enlarged.shape == (60, 60, 3) and box == (5, 0, 30, 30)
    assert np.array_equal(mx.image.fixed_crop(picture, 3, 4, 10, 12), picture[4:16, 3:13])
    assert mx.image.fixed_crop(picture, 3, 4, 10, 12, (5, 6), interp=1).shape == (6, 5, 3)
    assert mx.image.scale_down((640, 480), (720, 120)) == (640, 106)
    places = set()
    for seed in range(20):
        random.seed(seed)
        cut, (x0, y0, w, h) = mx.image.random_crop(picture, (20, 11))
        assert (w, h) == (20, 11) and np.array_equal(cut, picture[y0 : y0 + h, x0 : x0 + w])
        places.add((x0, y0))
    assert len(places) > 10


def test_colours_are_normalised(picture):
    mean, std = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 8.0])
    expected = ((picture - mean) / std).astype(np.float32)
    given = mx.image.color_normalize(mx.nd.array(picture), mean, std)
    assert given.dtype == np.float32 and np.allclose(given, expected)
    assert np.array_equal(mx.image.color_normalize(picture, None), picture)
