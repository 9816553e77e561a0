"""Functions of headrace.mx.image against OpenCV, which MXNet's call."""

import json
import random
import subprocess

import cv2
import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from tests.mxnet_reference import PYTHON, needs_mxnet


@pytest.fixture(scope="module")
def image():
    """Blue, green, red."""
    return cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, (30, 41, 3), np.uint8), (0, 0), 1.0)


def test_images_are_decoded(image, tmp_path):
    encoded = cv2.imencode(".png", image)[1]
    (tmp_path / "a.png").write_bytes(encoded.tobytes())
    for decoded in (
        mx.image.imdecode(encoded.tobytes()),
        mx.image.imdecode(encoded),
        mx.image.imread(tmp_path / "a.png"),
    ):
        assert type(decoded) is mx.nd.NDArray and np.array_equal(decoded, image[:, :, ::-1])
    assert np.array_equal(mx.image.imdecode(encoded, to_rgb=False), image)
    assert mx.image.imdecode(encoded, flag=0).shape == (30, 41, 1)
    with pytest.raises(hr.DataError):
        mx.image.imdecode(b"no image")
    for wrong in ("cat.jpg", 5):
        with pytest.raises(
            hr.GraphError, match="imdecode: buf is .*; it must be the bytes of an image, .* imread reads"
        ):
            mx.image.imdecode(wrong)
    with pytest.raises(hr.NotFoundError, match=r"b\.png"):
        mx.image.imread(tmp_path / "b.png")
    with pytest.raises(hr.GraphError, match="flag is 2"):
        mx.image.imdecode(encoded, 2)


def test_sizes_are_those_of_mxnet(image):
    ways = {0: cv2.INTER_NEAREST, 1: cv2.INTER_LINEAR, 2: cv2.INTER_CUBIC, 3: cv2.INTER_AREA, 4: cv2.INTER_LANCZOS4}
    for interp, way in ways.items():
        given = mx.image.imresize(image, 20, 25, interp)
        assert np.abs(given.astype(int) - cv2.resize(image, (20, 25), interpolation=way)).max() <= 1
    assert mx.image.resize_short(image, 15).shape == (15, 20, 3)
    assert mx.image.resize_short(image.transpose(1, 0, 2), 15, interp=9).shape == (20, 15, 3)
    with pytest.raises(hr.UnsupportedError, match=r"imresize: interp is 5; it must be .* 9 .* or 10 \(random\)"):
        mx.image.imresize(image, 3, 3, interp=5)


def test_a_drawn_interpolation_is_one_of_five(image):
    """Python's `random` decides which, in all functions that resize."""
    for resized in (
        lambda interp: mx.image.imresize(image, 20, 25, interp),
        lambda interp: mx.image.resize_short(image, 20, interp),
        lambda interp: mx.image.fixed_crop(image, 1, 2, 9, 8, (20, 25), interp),
        lambda interp: mx.image.center_crop(image, (60, 70), interp)[0],
    ):
        kinds = {resized(number).tobytes(): number for number in range(5)}
        assert len(kinds) == 5
        random.seed(4)
        drawn = [kinds[resized(10).tobytes()] for _ in range(60)]
        assert {*drawn} == {*range(5)}
        random.seed(4)
        assert [kinds[resized(10).tobytes()] for _ in range(60)] == drawn


def test_crops_are_arrays_of_their_own(image):
    height, width = image.shape[:2]
    for cut in (
        lambda: mx.image.fixed_crop(image, 0, 3, width, 5),
        lambda: mx.image.fixed_crop(image, 2, 3, 4, 5, (4, 5)),
        lambda: mx.image.center_crop(image, (width, height))[0],
        lambda: mx.image.random_crop(image, (9, 8))[0],
        lambda: mx.image.random_size_crop(image, (width, height), (1, 1), (width / height, width / height))[0],
    ):
        before = image.copy()
        part = cut()
        assert type(part) is mx.nd.NDArray
        part[:] = 0
        assert np.array_equal(image, before)


def test_crops_begin_in_the_image(image):
    for given, name in (((-5, 0, 10, 10), "x0 is -5"), ((0, -1, 10, 10), "y0 is -1"), ((0, 0, -3, 10), "w is -3")):
        with pytest.raises(hr.GraphError, match=f"fixed_crop: {name}; it must be at least 0"):
            mx.image.fixed_crop(image, *given)
    for given in ((41, 0, 3, 3), (0, 30, 3, 3), (0, 0, 0, 5)):
        with pytest.raises(hr.GraphError, match="fixed_crop: no pixel of an image of 41 x 30 is at x0="):
            mx.image.fixed_crop(image, *given)
    # As MXNet has it.
    assert mx.image.fixed_crop(image, 38, 28, 10, 10).shape == (2, 3, 3)


def test_kernels_are_made_once_for_equal_arguments(image, monkeypatch):
    made = []
    resize = mx.resizing.vision.Resize
    monkeypatch.setattr(
        mx.resizing.vision, "Resize", lambda *given, **named: made.append(given) or resize(*given, **named)
    )
    mx.resizing._resize.cache_clear()
    for width in (7, np.int64(7), 8):
        assert mx.image.imresize(image, width, 9).shape == (9, width, 3)
    assert made == [((9, 7),), ((9, 8),)]
    with pytest.raises(hr.GraphError, match=r"imresize: w is 7\.0; it must be a whole number"):
        mx.image.imresize(image, 7.0, 9)


def test_crops_are_cut_and_enlarged(image):
    cut, box = mx.image.center_crop(image, (20, 11))
    assert box == (10, 9, 20, 11) and np.array_equal(cut, image[9:20, 10:30])
    enlarged, box = mx.image.center_crop(image, (60, 60))
    assert enlarged.shape == (60, 60, 3) and box == (5, 0, 30, 30)
    assert np.array_equal(mx.image.fixed_crop(image, 3, 4, 10, 12), image[4:16, 3:13])
    assert mx.image.fixed_crop(image, 3, 4, 10, 12, (5, 6), interp=1).shape == (6, 5, 3)
    assert mx.image.scale_down((640, 480), (720, 120)) == (640, 106)
    places = set()
    for seed in range(20):
        random.seed(seed)
        cut, (x0, y0, w, h) = mx.image.random_crop(image, (20, 11))
        assert (w, h) == (20, 11) and np.array_equal(cut, image[y0 : y0 + h, x0 : x0 + w])
        places.add((x0, y0))
    assert len(places) > 10


def test_colours_are_normalised(image):
    mean, std = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 8.0])
    expected = ((image - mean) / std).astype(np.float32)
    given = mx.image.color_normalize(mx.nd.array(image), mean, std)
    assert given.dtype == np.float32 and np.allclose(given, expected)
    assert np.array_equal(mx.image.color_normalize(image, None), image)


def test_parts_of_random_size_are_cut(image):
    shares, ratios, places = [], [], set()
    for seed in range(200):
        random.seed(seed)
        cut, (x0, y0, w, h) = mx.image.random_size_crop(image, (7, 9), (0.1, 0.5), (0.5, 2.0), interp=1)
        assert cut.shape == (9, 7, 3)
        assert np.array_equal(cut, mx.image.fixed_crop(image, x0, y0, w, h, (7, 9), 1))
        shares.append(w * h / (30 * 41))
        ratios.append(w / h)
        places.add((x0, y0))
    assert 0.09 < min(shares) < 0.15 and 0.45 < max(shares) < 0.55
    assert 0.45 < min(ratios) < 0.6 and 1.7 < max(ratios) < 2.2 and len(places) > 50
    areas = [mx.image.random_size_crop(image, (7, 9), 0.9, (1.3, 1.4))[1] for _ in range(20)]
    assert all(w * h > 0.88 * 30 * 41 for _, _, w, h in areas)
    # No draw of this ratio fits.
    assert mx.image.random_size_crop(image, (7, 9), 1, (9, 9))[1] == mx.image.center_crop(image, (7, 9))[1]


def test_borders_are_opencvs(image):
    margins = {"top": 3, "bot": 1, "left": 0, "right": 5}
    for kind in range(5):
        expected = cv2.copyMakeBorder(image, 3, 1, 0, 5, kind, value=(9, 9, 9))
        given = mx.image.copyMakeBorder(image, **margins, type=kind, value=9)
        assert type(given) is mx.nd.NDArray and given.dtype == np.uint8 and np.array_equal(given, expected)
    for values in ((1, 2, 3), (7,), (7, 8), (1, 2, 3, 4), np.array([1, 2, 3]), (300, -4, 2.5), (2.6, 3.5, 254.5)):
        expected = cv2.copyMakeBorder(image, 3, 1, 0, 5, cv2.BORDER_CONSTANT, value=tuple(map(float, values)))
        assert np.array_equal(mx.image.copyMakeBorder(image, **margins, values=values), expected), values
    for value, pixel in ((300, 255), (-5, 0), (2.5, 2), (2.6, 3)):
        assert (mx.image.copyMakeBorder(image, 1, 0, 0, 0, value=value)[0] == pixel).all()
    floats = image.astype(np.float32)
    assert (mx.image.copyMakeBorder(floats, 1, 0, 0, 0, value=-2.5)[0] == -2.5).all()
    assert mx.image.copyMakeBorder(image[:, :, 0], 1, 1, 1, 1).shape == (32, 43)
    for wrong, message in (
        ({"type": 5}, "type is 5; it must be 0 to 4"),
        ({"top": -1}, "top is -1"),
        ({"values": (1, 2, 3, 4, 5)}, "there are 5 values; the image has 3 channels"),
    ):
        with pytest.raises(hr.GraphError, match=message):
            mx.image.copyMakeBorder(image, **{**margins, **wrong})


_PROGRAM = """
import json, random
import mxnet as mx, numpy as np
image = mx.nd.array(np.arange(30 * 41 * 3).reshape(30, 41, 3) % 251, dtype="uint8")
out = []
for seed in range(20):
    for area, ratio in ((0.3, (0.5, 2)), ((0.05, 0.2), (1, 1)), (1, (2, 3))):
        random.seed(seed)
        cut, box = mx.image.random_size_crop(image, (7, 9), area, ratio, interp=0)
        out.append([cut.asnumpy().tolist(), box])
print("RESULT" + json.dumps(out))
"""


@needs_mxnet
def test_parts_of_random_size_equal_mxnets():
    ran = subprocess.run([PYTHON, "-c", _PROGRAM], text=True, check=True, timeout=120, capture_output=True)
    theirs = iter(json.loads(ran.stdout[ran.stdout.index("RESULT") + 6 :]))
    image = (np.arange(30 * 41 * 3).reshape(30, 41, 3) % 251).astype(np.uint8)
    for seed in range(20):
        for area, ratio in ((0.3, (0.5, 2)), ((0.05, 0.2), (1, 1)), (1, (2, 3))):
            random.seed(seed)
            cut, box = mx.image.random_size_crop(image, (7, 9), area, ratio, interp=0)
            assert [cut.tolist(), [*box]] == next(theirs)


# ---- into an array that is there ----


def test_images_are_written_into_out(image):
    encoded = cv2.imencode(".png", image)[1].tobytes()
    calls = [
        lambda out: mx.image.imresize(image, 6, 5, out=out),
        lambda out: mx.image.copyMakeBorder(image, 1, 2, 3, 4, value=7, out=out),
        lambda out: mx.image.copyMakeBorder(image, 1, 2, 3, 4, type=1, out=out),
        lambda out: mx.image.imdecode(encoded, out=out),
        lambda out: mx.image.imdecode(encoded, to_rgb=0, out=out),
    ]
    for call in calls:
        expected = call(None)
        for dtype in ("uint8", "float32", "int32"):
            into = mx.nd.zeros(expected.shape, dtype=dtype)
            assert call(into) is into and np.array_equal(into, expected)
        with pytest.raises(hr.GraphError, match=r"out has shape \(1, 2, 3\), and the result"):
            call(mx.nd.zeros((1, 2, 3), dtype="uint8"))
    with pytest.raises(hr.GraphError, match="imresize: out is of type uint8, which does not hold the result"):
        mx.image.imresize(image.astype(np.float32) + 0.5, 6, 5, out=mx.nd.zeros((5, 6, 3), dtype="uint8"))


# ---- rotation ----


def test_images_are_turned_about_their_middle():
    image = np.arange(2 * 5 * 5, dtype=np.float32).reshape(2, 5, 5)
    for turns in range(4):
        # A quarter turn meets the pixels.
        assert np.allclose(mx.image.imrotate(image, 90 * turns), np.rot90(image, turns, (1, 2)), atol=1e-4)
    several = mx.image.imrotate(np.stack([image] * 3), mx.nd.array([0, 90, 10]))
    assert np.allclose(several[1], np.rot90(image, 1, (1, 2)), atol=1e-4) and several.dtype == np.float32
    assert np.allclose(several[2], mx.image.imrotate(image, 10), atol=1e-4)
    assert np.allclose(mx.image.imrotate(np.stack([image] * 2), 10)[1], several[2], atol=1e-4)


def test_zooms_show_all_of_the_image_or_nothing_beyond_it():
    white = np.ones((1, 40, 60), np.float32)
    assert mx.image.imrotate(white, 30).min() == 0
    assert mx.image.imrotate(white, 30, zoom_in=True).min() > 0.9
    # Its corners, too, are in the smaller image.
    corner = np.zeros_like(white)
    corner[0, :4, :4] = 1
    assert mx.image.imrotate(corner, 30).max() < 0.5 < mx.image.imrotate(corner, 30, zoom_out=True).max()


def test_rotations_that_cannot_be_are_refused():
    image = np.zeros((3, 4, 5), np.float32)
    with pytest.raises(ValueError, match="zoom_in and zoom_out are both True"):
        mx.image.imrotate(image, 11, True, True)
    with pytest.raises(TypeError, match="src is uint8; it must be float32"):
        mx.image.imrotate(image.astype(np.uint8), 11)
    with pytest.raises(TypeError, match="one image takes one number"):
        mx.image.imrotate(image, mx.nd.array([1, 2]))
    with pytest.raises(ValueError, match="src has 2 axes"):
        mx.image.imrotate(image[0], 1)
    with pytest.raises(ValueError, match=r"there are 2 images, and rotation_degrees has shape \(3,\)"):
        mx.image.imrotate(np.stack([image] * 2), [1, 2, 3])


def test_random_angles_are_numpys():
    image = np.random.default_rng(0).random((3, 30, 60), np.float32)

    def drawn(src):
        np.random.seed(3)
        return mx.image.random_rotate(src, (-5.0, 5.0))

    assert drawn(image).shape == (3, 30, 60) and np.array_equal(drawn(image), drawn(image))
    several = drawn(np.stack([image] * 3))
    assert several.shape == (3, 3, 30, 60) and not np.array_equal(several[0], several[1])


@needs_mxnet
def test_rotations_equal_mxnets(tmp_path):
    images = np.random.default_rng(0).random((3, 2, 31, 44), np.float32)
    np.save(tmp_path / "images.npy", images)
    program = (
        "import sys, numpy as np, mxnet as mx\n"
        "images = mx.nd.array(np.load(sys.argv[1] + '/images.npy'))\n"
        "angles = mx.nd.array([6, -50, 130])\n"
        "zooms = [(False, False), (True, False), (False, True)]\n"
        "np.save(sys.argv[1] + '/turned.npy', np.stack([mx.image.imrotate(images, angles, *z).asnumpy() for z in zooms]))"
    )
    subprocess.run([PYTHON, "-c", program, tmp_path], check=True, timeout=120, capture_output=True)
    zooms = [(False, False), (True, False), (False, True)]
    given = np.stack([mx.image.imrotate(images, [6, -50, 130], *each) for each in zooms])
    assert np.allclose(given, np.load(tmp_path / "turned.npy"), atol=2e-4)


def test_the_private_choice_of_an_interpolation_is_there():
    choice = mx.image.image._get_interp_method
    assert [choice(9, sizes) for sizes in ((4, 4, 8, 8), (8, 8, 4, 4), (4, 8, 8, 4), ())] == [2, 3, 1, 2]
    assert choice(3) == 3 and {choice(10) for _ in range(200)} == {0, 1, 2, 3, 4}
