"""Golden data for table_steps_test.cc: Pillow's ImageOps, and torchvision's formulas of gamma and Gaussian blur."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from kernels.testdata.golden import save, source


def gamma(image: Image.Image, exponent: float, gain: float) -> Image.Image:
    table = [int((255 + 1 - 1e-3) * gain * pow(value / 255.0, exponent)) for value in range(256)]
    return image.point(table * len(image.getbands()))


CHANGES: list[Callable[[Image.Image], Image.Image]] = [
    ImageOps.invert,
    lambda image: ImageOps.posterize(image, 1),
    lambda image: ImageOps.posterize(image, 5),
    lambda image: ImageOps.posterize(image, 8),
    lambda image: ImageOps.solarize(image, 0),
    lambda image: ImageOps.solarize(image, 100),
    lambda image: ImageOps.solarize(image, 256),
    ImageOps.equalize,
    ImageOps.autocontrast,
    lambda image: ImageOps.autocontrast(image, cutoff=7.3, ignore=[0, 255]),
    lambda image: gamma(image, 2.2, 1.0),
    lambda image: gamma(image, 0.4, 1.5),
    lambda image: ImageEnhance.Sharpness(image).enhance(0.0),
    lambda image: ImageEnhance.Sharpness(image).enhance(1.7),
    lambda image: ImageEnhance.Sharpness(image).enhance(5.0),
]


def part() -> np.ndarray:
    return source()[10:40, 20:60]


def pale() -> np.ndarray:
    """Of few values, another range in each channel; the last one is constant."""
    values = part().copy()
    values[..., 0] = values[..., 0] // 4 + 90
    values[..., 1] = values[..., 1] // 16
    values[..., 2] = 77
    return values


def blurred(values: np.ndarray, height: int, width: int, sigma: float) -> np.ndarray:
    """torchvision's gaussian_blur of a tensor, in float64, not rounded."""

    def weights(size: int) -> np.ndarray:
        x = np.arange(size) - (size - 1) / 2
        kernel = np.exp(-0.5 * (x / sigma) ** 2)
        return kernel / kernel.sum()

    rows, columns = height // 2, width // 2
    padded = np.pad(values.astype(np.float64), ((rows, rows), (columns, columns), (0, 0)), mode="reflect")
    kernel = np.outer(weights(height), weights(width))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(0, 1))
    return np.einsum("yxcij,ij->yxc", windows, kernel)


def main() -> None:
    save("pale", pale())
    for name, image in (("source", Image.fromarray(part())), ("pale", Image.fromarray(pale()))):
        save(f"tables.{name}", np.stack([np.asarray(change(image)) for change in CHANGES]))
    grey = Image.fromarray(part()).convert("L")
    save("tables.grey", np.stack([np.asarray(change(grey)) for change in CHANGES]))
    save("blur", blurred(part(), 5, 9, 1.3).astype(np.float32))


if __name__ == "__main__":
    main()
