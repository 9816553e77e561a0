"""Images of 16 bits pass every geometric kernel: they become what bytes become, but finer."""

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V

CORNERS, MOVED = (0, 0, 39, 0, 39, 29, 0, 29), (3, 2, 35, 0, 39, 29, 0, 25)
KERNELS = [
    V.Resize(20),
    V.Resize((50, 70), interpolation="bicubic"),
    V.Resize((20, 60), interpolation="lanczos"),
    V.Resize(None, max_size=25),
    V.Resize(20, antialias=False),
    V.RandomResizedCrop(16),
    V.RandomResize(20, 50),
    V.RandomShortestSize(20),
    V.ScaleJitter((30, 30)),
    V.Rotate(20, interpolation="bilinear"),
    V.RandomRotation(20, interpolation="bicubic"),
    V.Affine(10, shear=(5, 0), interpolation="bilinear"),
    V.RandomAffine(10, interpolation="bilinear"),
    V.Perspective(CORNERS, MOVED, interpolation="bilinear"),
    V.RandomPerspective(p=1, interpolation="bilinear"),
    V.ElasticTransform(),
    V.RandomCrop(20),
    V.RandomHorizontalFlip(1),
    V.Pad(3),
]


def images(scale: int, dtype: type) -> np.ndarray:
    """Two with some noise, dark and bright enough that no filter leaves the range."""
    y, x, c = np.mgrid[:30, :40, :3]
    noise = np.random.default_rng(0).integers(0, 20, (2, 30, 40, 3))
    return ((60 + y + 2 * x + 10 * c + noise) * scale).astype(dtype)


def given(scale: int, dtype: type) -> hr.Dataset:
    return hr.Numpy({"image": images(scale, dtype)})


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_geometric_kernel_takes_them(kernel):
    words = given(257, np.uint16).map(kernel, "image")
    assert words.schema["image"].dtype == "uint16"
    for row, expected in zip(words, given(1, np.uint8).map(kernel, "image"), strict=True):
        assert row["image"].dtype == np.uint16
        assert row["image"].shape == expected["image"].shape
        # Bytes are rounded after each pass, and by some kernels cut off.
        assert np.abs(row["image"] / 257 - expected["image"]).max() <= 1.5


def test_chains_give_what_their_kernels_do_one_by_one():
    chain = [V.RandomResizedCrop(16), V.RandomHorizontalFlip(), V.Rotate(5, interpolation="bilinear"), V.ToFloat()]
    together = given(257, np.uint16).map(chain, "image")
    apart = given(257, np.uint16)
    for kernel in chain:
        apart = apart.map(kernel, "image")
    for row, plain in zip(together, apart.iterate(optimize=False), strict=True):
        np.testing.assert_array_equal(row["image"], plain["image"])


def test_calls_take_them():
    image = images(257, np.uint16)[0]
    resized = V.Resize(20)(image)
    np.testing.assert_array_equal(resized, next(iter(given(257, np.uint16).map(V.Resize(20), "image")))["image"])
    flipped = hr.compose([V.Resize(20), V.RandomHorizontalFlip(1)])(image)
    np.testing.assert_array_equal(flipped, resized[:, ::-1])
