"""RandomColor and RandomSharpness: Pillow's enhancers, by the factor that the row's stream gives."""

import numpy as np
import pytest
from PIL import Image, ImageEnhance

import headrace as hr
from headrace import vision as V
from kernels.testdata.golden import RowRandom

IMAGE = np.random.default_rng(5).integers(0, 256, (30, 40, 3), np.uint8)
ENHANCERS = [(V.RandomColor, ImageEnhance.Color), (V.RandomSharpness, ImageEnhance.Sharpness)]


@pytest.mark.parametrize("degrees", [None, (0.0, 0.5), (1.5, 3.0), (2.0, 2.0)])
@pytest.mark.parametrize(("kernel", "enhancer"), ENHANCERS)
def test_the_factor_is_uniform_between_the_degrees(kernel, enhancer, degrees):
    low, high = degrees or (0.1, 1.9)
    kernels = kernel(seed=7) if degrees is None else kernel(degrees, seed=7)
    results = []
    for row in range(20):
        factor = low + (high - low) * RowRandom(7, 0, 0, row).uniform()
        results.append(kernels(IMAGE))
        np.testing.assert_array_equal(results[-1], enhancer(Image.fromarray(IMAGE)).enhance(factor))
    assert (len({result.tobytes() for result in results}) > 15) == (low < high)


@pytest.mark.parametrize(("kernel", "enhancer"), ENHANCERS)
def test_a_pipeline_draws_alike_and_leaves_masks_alone(kernel, enhancer):
    rows = hr.Numpy({"image": np.repeat(IMAGE[None], 6, 0), "mask": IMAGE[None, ..., 0].repeat(6, 0)})
    mapped = rows.map(V.HorizontalFlip(), ["image", hr.mask("mask")]).map(kernel(seed=3), ["image", hr.mask("mask")])
    several = [row["image"].tobytes() for row in mapped.iterate(epoch=0)]
    assert several == [row["image"].tobytes() for row in mapped.iterate(epoch=0, optimize=False, workers=2)]
    assert len(set(several)) == 6
    assert all(np.array_equal(row["mask"], IMAGE[:, ::-1, 0]) for row in mapped)


@pytest.mark.parametrize(("kernel", "enhancer"), ENHANCERS)
def test_what_does_not_fit_is_refused(kernel, enhancer):
    with pytest.raises(hr.GraphError, match="degrees"):
        kernel((1.5, 0.5))(IMAGE)
    with pytest.raises(hr.GraphError, match="degrees is .*at least 0"):
        kernel((-1.0, 0.5))(IMAGE)
    with pytest.raises(hr.GraphError, match="channel"):
        kernel()(IMAGE[..., :2])
