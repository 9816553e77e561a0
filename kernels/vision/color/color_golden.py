"""Golden data of color_test.cc: Pillow's ImageEnhance, and torchvision's adjust_hue over Pillow's HSV."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageEnhance

from kernels.testdata.golden import RowRandom, save, source

FACTORS = (0.0, 0.3, 1.0, 1.7, 5.0)
TURNS = (-0.5, -0.13, 0.0, 0.25, 0.5)

Adjust = Callable[[Image.Image, float], Image.Image]


def brightness(image: Image.Image, factor: float) -> Image.Image:
    return ImageEnhance.Brightness(image).enhance(factor)


def contrast(image: Image.Image, factor: float) -> Image.Image:
    return ImageEnhance.Contrast(image).enhance(factor)


def saturation(image: Image.Image, factor: float) -> Image.Image:
    return ImageEnhance.Color(image).enhance(factor)


def hue(image: Image.Image, factor: float) -> Image.Image:
    if image.mode == "L":
        return image
    h, s, v = image.convert("HSV").split()
    turned = np.asarray(h) + np.int32(factor * 255).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), s, v)).convert("RGB")


ADJUSTS: dict[str, Adjust] = {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue}


def jittered(image: Image.Image, row: int) -> Image.Image:
    """ColorJitter(0.4, 0.4, 0.4, 0.1) with seed 0 and salt 0."""
    random = RowRandom(0, 0, 0, row)
    factors = {name: random.uniform(0.6, 1.4) for name in ("brightness", "contrast", "saturation")}
    factors["hue"] = random.uniform(-0.1, 0.1)
    order = list(factors)
    for left in range(4, 1, -1):
        other = random.below(left)
        order[left - 1], order[other] = order[other], order[left - 1]
    for name in order:
        image = ADJUSTS[name](image, factors[name])
    return image


def colors() -> np.ndarray:
    """Every colour of 23 levels a channel: all sectors of the hue and all ties."""
    levels = np.round(np.linspace(0, 255, 23)).astype(np.uint8)
    return np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(23, -1, 3)


def main() -> None:
    image = Image.fromarray(source())
    save("color.all", colors())
    for name, adjust in ADJUSTS.items():
        amounts = TURNS if name == "hue" else FACTORS
        save(f"color.{name}", np.stack([np.asarray(adjust(image, amount)) for amount in amounts]))
        save(f"color.{name}.grey", np.stack([np.asarray(adjust(image.convert("L"), amount)) for amount in amounts]))
    save("color.hue.all", np.stack([np.asarray(hue(Image.fromarray(colors()), turn)) for turn in TURNS]))
    save("color.saturation.all", np.stack([np.asarray(saturation(Image.fromarray(colors()), f)) for f in FACTORS]))
    save("color.jitter", np.stack([np.asarray(jittered(image, row)) for row in range(6)]))


if __name__ == "__main__":
    main()
