"""Colours of float32 images of 0 … 1: in pipelines and in calls, and what is refused."""

import itertools

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

DRAWS = np.random.default_rng(5)
IMAGES = DRAWS.random((4, 23, 29, 3), np.float32)

COLOURS = [
    V.AdjustBrightness(1.5),
    V.AdjustContrast(0.4),
    V.AdjustSaturation(1.5),
    V.AdjustHue(0.2),
    V.AdjustGamma(2.2),
    V.AdjustSharpness(2),
    V.Invert(),
    V.Posterize(3),
    V.Solarize(0.5),
    V.AutoContrast(),
    V.Equalize(),
    V.Grayscale(3),
    V.GaussianNoise(),
    V.ColorJitter(0.4, 0.4, 0.4, 0.1),
    V.RandomGrayscale(0.5),
    V.RandomInvert(),
    V.RandomSolarize(0.5),
    V.RandomPosterize(3),
    V.RandomAutocontrast(),
    V.RandomEqualize(),
    V.RandomAdjustSharpness(2),
    V.RandomLighting(),
    V.RandomPhotometricDistort(),
    V.AutoAugment(),
    V.RandAugment(),
    V.TrivialAugmentWide(),
    V.TimmRandAugment("rand-m9-p1-mstd0.5-inc1", fill=0.5),
    V.AugMix(),
    V.UniformAugment([V.Equalize(), V.Invert(), V.RandomRotation(30)]),
]


def names(kernel: object) -> str:
    return type(kernel).__name__


@pytest.mark.parametrize("kernel", COLOURS, ids=names)
def test_a_pipeline_gives_what_a_call_gives(kernel):
    dataset = hr.Numpy({"x": IMAGES}).map(kernel, "x")
    rows = [row["x"] for row in dataset.iterate(seed=3)]
    plain = [row["x"] for row in dataset.iterate(seed=3, optimize=False)]
    called = hr.compose([kernel], seed=3)
    # Draws depend on a kernel's place in the graph; those that draw nothing give the same.
    deterministic = not any(word in names(kernel) for word in ("Random", "Aug", "Jitter", "Noise"))
    for row, same, image in zip(rows, plain, IMAGES, strict=True):
        assert row.dtype == np.float32
        assert row.min() >= 0
        assert row.max() <= 1
        np.testing.assert_array_equal(row, same)
        if deterministic:
            np.testing.assert_array_equal(row, called(image))


# A chooser runs what it draws alone.
@pytest.mark.parametrize("kernel", COLOURS[:-1], ids=names)
def test_a_value_outside_is_refused_with_its_row(kernel):
    spoilt = IMAGES.copy()
    spoilt[2, 22, 28, 2] = 1.5
    dataset = hr.Numpy({"x": spoilt}).map(kernel, "x")
    for optimize in (True, False):
        rows = dataset.iterate(optimize=optimize)
        assert len(list(itertools.islice(rows, 2))) == 2
        with pytest.raises(hr.DataError, match=r"takes floats of 0 … 1, and got 1.5: make them by ToFloat") as caught:
            next(rows)
        assert caught.value.row == "epoch 0, key 2"
    assert len(list(dataset.on_error("skip"))) == 3


def test_floats_of_bytes_are_refused_wherever_they_are_made(photos):
    images = hr.ImageFolder(photos).map([V.Decode(), V.Resize((20, 30))], "image")
    for kernels in (
        [T.TypeCast("float32"), V.RandomInvert(0)],
        [V.Normalize(0, 1), V.Invert(), V.HWC2CHW()],
        [V.Rescale(1.0), V.Grayscale(), V.ToFloat()][:2],
    ):
        with pytest.raises(hr.DataError, match="ToFloat"):
            list(images.map(kernels, "image"))


def test_what_is_for_bytes_names_the_order():
    image = IMAGES[0]
    for kernel in (V.AutoContrast(cutoff=2), V.RandomHls(hue=3), V.JPEG(50), V.EncodeJpeg(), V.EncodePng()):
        with pytest.raises(hr.GraphError, match="put it before ToFloat"):
            kernel(image)
    with pytest.raises(hr.GraphError, match="threshold = 128 is one of uint8"):
        assert hr.Numpy({"x": IMAGES}).map(V.Solarize(128), "x").schema
    with pytest.raises(hr.GraphError, match="fill has 128"):
        V.RandAugment(fill=128)(image)
