"""Golden data of unit_colors_test.cc: the definitions of torchvision's code for tensors of floats, in float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.testdata.golden import RowRandom, save, source

Array = np.ndarray
Adjust = Callable[[Array, float], Array]
LUMA = np.array([0.2989, 0.587, 0.114])


def unit_source() -> Array:
    """Of 0 … 1, between the levels of bytes, with both ends and greys."""
    values = source()[20:43, 30:59].astype(np.float64) / 255
    rows, columns, channels = np.indices(values.shape)
    values = np.clip(values + 0.02 * np.sin(rows * 3.1 + columns * 1.7 + channels), 0, 1)
    values[3, 5:8] = [[0, 0, 0], [1, 1, 1], [0.25, 0.25, 0.25]]
    values[4, 5:8] = [[1, 0, 0], [0, 1, 1], [0.4, 0.4, 0.1]]
    return np.asarray(values, np.float32)


def blend(image: Array, other: Array | float, factor: float) -> Array:
    return np.clip(image * factor + other * (1 - factor), 0, 1)


def gray(image: Array) -> Array:
    return np.sum(image * LUMA, -1, keepdims=True) if image.ndim == 3 else image


def brightness(image: Array, factor: float) -> Array:
    return blend(image, 0, factor)


def contrast(image: Array, factor: float) -> Array:
    return blend(image, gray(image).mean(), factor)


def saturation(image: Array, factor: float) -> Array:
    return blend(image, gray(image), factor) if image.ndim == 3 else image


def hue(image: Array, turn: float) -> Array:
    if image.ndim == 2:
        return image
    most, least = image.max(-1), image.min(-1)
    span = np.where(most == least, 1, most - least)
    s = (most - least) / np.where(most == least, 1, most)
    rc, gc, bc = np.moveaxis((most[..., None] - image) / span[..., None], -1, 0)
    is_red = most == image[..., 0]
    is_green = ~is_red & (most == image[..., 1])
    h = np.where(is_red, bc - gc, np.where(is_green, 2 + rc - bc, 4 + gc - rc))
    h6 = ((h / 6 + 1) % 1 + turn) % 1 * 6
    sector = np.floor(h6).astype(int)
    f = h6 - sector
    v = most
    p, q, t = (1 - s) * v, (1 - s * f) * v, (1 - s * (1 - f)) * v
    choices = [[v, q, p, p, t, v], [t, v, v, q, p, p], [p, p, t, v, v, q]]
    return np.stack([np.choose(sector % 6, choice) for choice in choices], -1)


def gamma(image: Array, exponent: float, gain: float) -> Array:
    return np.asarray(np.clip(gain * image**exponent, 0, 1))


def sharpness(image: Array, factor: float) -> Array:
    result = image.copy()
    middle = image[1:-1, 1:-1]
    height, width = image.shape[:2]
    parts = [image[y : y + height - 2, x : x + width - 2] for y in range(3) for x in range(3)]
    smooth = (sum(parts) + 4 * middle) / 13
    result[1:-1, 1:-1] = np.clip(middle + (1 - factor) * (smooth - middle), 0, 1)
    return result


def posterize(image: Array, bits: int) -> Array:
    levels = 1 << bits
    return np.asarray(np.minimum(np.floor(image * levels), levels - 1) / levels)


def solarize(image: Array, threshold: float) -> Array:
    return np.where(image.astype(np.float32) >= np.float32(threshold), 1 - image, image)


def autocontrast(image: Array) -> Array:
    low, high = image.min((0, 1)), image.max((0, 1))
    same = low == high
    return (image - np.where(same, 0, low)) / np.where(same, 1, high - low)


def equalize(image: Array) -> Array:
    planes = image if image.ndim == 3 else image[..., None]
    levels = (planes.astype(np.float32) * np.float32(255.999)).astype(np.uint8)
    results = []
    for plane in np.moveaxis(levels, -1, 0):
        counts = np.bincount(plane.ravel(), minlength=256)
        step = (plane.size - counts[np.flatnonzero(counts)[-1]]) // 255
        sums = np.concatenate([[0], np.cumsum(counts)[:-1]])
        table = np.clip((sums + step // 2) // step, 0, 255) if step else np.arange(256)
        results.append(table[plane] / 255)
    return np.stack(results, -1).reshape(image.shape)


CHANGES: list[Callable[[Array], Array]] = [
    *(lambda image, f=f: brightness(image, f) for f in (0.3, 1.7)),
    *(lambda image, f=f: contrast(image, f) for f in (0.3, 1.7)),
    *(lambda image, f=f: saturation(image, f) for f in (0.0, 1.7)),
    *(lambda image, f=f: hue(image, f) for f in (-0.5, -0.13, 0.0, 0.25)),
    *(lambda image, g=g: gamma(image, *g) for g in ((2.2, 1.0), (0.4, 1.5), (0.0, 0.5))),
    *(lambda image, f=f: sharpness(image, f) for f in (0.0, 1.7)),
    lambda image: 1 - image,
    *(lambda image, n=n: posterize(image, n) for n in (1, 5)),
    *(lambda image, t=t: solarize(image, t) for t in (0.4, 1.0)),
    autocontrast,
    equalize,
]


def jittered(image: Array, row: int) -> Array:
    """ColorJitter(0.4, 0.4, 0.4, 0.1) with seed 0 and salt 0."""
    random = RowRandom(0, 0, 0, row)
    factors: dict[Adjust, float] = {each: random.uniform(0.6, 1.4) for each in (brightness, contrast, saturation)}
    factors[hue] = random.uniform(-0.1, 0.1)
    order = list(factors)
    for left in range(4, 1, -1):
        other = random.below(left)
        order[left - 1], order[other] = order[other], order[left - 1]
    for adjust in order:
        image = adjust(image, factors[adjust])
    return image


def main() -> None:
    save("unit", unit_source())
    image = unit_source().astype(np.float64)
    save("unit.changes", np.stack([change(image) for change in CHANGES]).astype(np.float32))
    save("unit.grey.changes", np.stack([change(image[..., 1]) for change in CHANGES]).astype(np.float32))
    save("unit.jitter", np.stack([jittered(image, row) for row in range(6)]).astype(np.float32))
    save("unit.luma", gray(image).astype(np.float32))


if __name__ == "__main__":
    main()
