"""Golden data for timm_rand_augment_test.cc: timm's RandAugment by its definitions, with Pillow."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageOps

from kernels.testdata.golden import RowRandom, save, source
from kernels.vision.augment.augmentation_golden import ENHANCERS, normal

OPERATIONS = (
    "autocontrast", "equalize", "invert", "rotate", "posterize", "solarize", "solarize_add", "color", "contrast",
    "brightness", "sharpness", "shear_x", "shear_y", "translate_x", "translate_y",
)  # fmt: skip
FILL = (124, 116, 104)


def solarize_add(image: Image.Image, level: float) -> Image.Image:
    added = min(128, int(level * 110))
    return image.point([min(255, value + added) if value < 128 else value for value in range(256)] * 3)


def posterize(image: Image.Image, level: float, increasing: bool) -> Image.Image:
    bits = 4 - int(level * 4) if increasing else int(level * 4)
    if bits >= 8:
        return image
    return ImageOps.posterize(image, bits) if bits > 0 else image.point(lambda _: 0)


def applied(
    image: Image.Image, name: str, level: float, sign: float, increasing: bool, resample: Image.Resampling
) -> Image.Image:
    def moved(*matrix: float) -> Image.Image:
        return image.transform(image.size, Image.Transform.AFFINE, matrix, resample, fillcolor=FILL)

    if name in ENHANCERS:
        factor = max(0.1, 1 + sign * (level * 0.9)) if increasing else level * 1.8 + 0.1
        return ENHANCERS[name](image).enhance(factor)
    match name:
        case "rotate":
            return image.rotate(sign * level * 30, resample, fillcolor=FILL)
        case "shear_x":
            return moved(1, sign * level * 0.3, 0, 0, 1, 0)
        case "shear_y":
            return moved(1, 0, 0, sign * level * 0.3, 1, 0)
        case "translate_x":
            return moved(1, 0, sign * level * 0.45 * image.width, 0, 1, 0)
        case "translate_y":
            return moved(1, 0, 0, 0, 1, sign * level * 0.45 * image.height)
        case "posterize":
            return posterize(image, level, increasing)
        case "solarize":
            threshold = min(256, int(level * 256))
            return ImageOps.solarize(image, 256 - threshold if increasing else threshold)
        case "solarize_add":
            return solarize_add(image, level)
    return {"autocontrast": ImageOps.autocontrast, "equalize": ImageOps.equalize, "invert": ImageOps.invert}[name](
        image
    )


def augmented(image: Image.Image, row: int, operations: int, deviation: float, increasing: bool) -> Image.Image:
    """Of magnitude 9, each operation with the probability 0.8."""
    random = RowRandom(0, 0, 0, row)
    for _ in range(operations):
        name = OPERATIONS[random.below(15)]
        apply = random.uniform() < 0.8
        magnitude = 9 + deviation * normal(random) if deviation > 0 else 9.0
        level = min(max(magnitude, 0), 10) / 10
        sign = -1 if random.uniform() < 0.5 else 1
        resample = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC)[random.below(2)]
        if apply:
            image = applied(image, name, level, sign, increasing, resample)
    return image


def main() -> None:
    image = Image.fromarray(source()[10:40, 20:60])
    for name, arguments in {"timm": (2, 0.5, True), "timm.plain": (3, 0.0, False)}.items():
        save(f"augment.{name}", np.stack([np.asarray(augmented(image, row, *arguments)) for row in range(40)]))


if __name__ == "__main__":
    main()
