"""Golden data for augmentation_test.cc: the policies with Pillow, after torchvision's definitions."""

from __future__ import annotations

import math
import re

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from kernels.testdata.golden import RowRandom, save, source
from kernels.vision.geometry.warp_golden import inverse
from kernels.vision.mixing.mixing_golden import beta

# "Po.4/8 Ro.6/9": posterize with probability 0.4 and magnitude 8, then rotate with 0.6 and 9.
POLICIES = {
    "imagenet": (
        "Po.4/8 Ro.6/9 · So.6/5 AC.6 · Eq.8 Eq.6 · Po.6/7 Po.6/6 · Eq.4 So.2/4 · "
        "Eq.4 Ro.8/8 · So.6/3 Eq.6 · Po.8/5 Eq1 · Ro.2/3 So.6/8 · Eq.6 Po.4/6 · "
        "Ro.8/8 Co.4/0 · Ro.4/9 Eq.6 · Eq0 Eq.8 · Iv.6 Eq1 · Co.6/4 Ct1/8 · "
        "Ro.8/8 Co1/2 · Co.8/8 So.8/7 · Sh.4/7 Iv.6 · SX.6/5 Eq1 · Co.4/0 Eq.6 · "
        "Eq.4 So.2/4 · So.6/5 AC.6 · Iv.6 Eq1 · Co.6/4 Ct1/8 · Eq.8 Eq.6"
    ),
    "cifar10": (
        "Iv.1 Ct.2/6 · Ro.7/2 TX.3/9 · Sh.8/1 Sh.9/3 · SY.5/8 TY.7/9 · AC.5 Eq.9 · "
        "SY.2/7 Po.3/7 · Co.4/3 Br.6/7 · Sh.3/9 Br.7/9 · Eq.6 Eq.5 · Ct.6/7 Sh.6/5 · "
        "Co.7/7 TX.5/8 · Eq.3 AC.4 · TY.4/3 Sh.2/6 · Br.9/6 Co.2/8 · So.5/2 Iv0 · "
        "Eq.2 AC.6 · Eq.2 Eq.6 · Co.9/9 Eq.6 · AC.8 So.2/8 · Br.1/3 Co.7/0 · "
        "So.4/5 AC.9 · TY.9/9 TY.7/9 · AC.9 So.8/3 · Eq.8 Iv.1 · TY.7/9 AC.9"
    ),
    "svhn": (
        "SX.9/4 Iv.2 · SY.9/8 Iv.7 · Eq.6 So.6/6 · Iv.9 Eq.6 · Eq.6 Ro.9/3 · "
        "SX.9/4 AC.8 · SY.9/8 Iv.4 · SY.9/5 So.2/6 · Iv.9 AC.8 · Eq.6 Ro.9/3 · "
        "SX.9/4 So.3/3 · SY.8/8 Iv.7 · Eq.9 TY.6/6 · Iv.9 Eq.6 · Ct.3/3 Ro.8/4 · "
        "Iv.8 TY0/2 · SY.7/6 So.4/8 · Iv.6 Ro.8/4 · SY.3/7 TX.9/3 · SX.1/6 Iv.6 · "
        "So.7/2 TY.6/7 · SY.8/4 Iv.8 · SX.7/9 TY.8/3 · SY.8/5 AC.7 · SX.7/2 Iv.1"
    ),
}
SHORT = {
    "Po": "posterize", "So": "solarize", "Ro": "rotate", "Eq": "equalize", "AC": "autocontrast", "Iv": "invert",
    "Co": "color", "Ct": "contrast", "Br": "brightness", "Sh": "sharpness",
    "SX": "shear_x", "SY": "shear_y", "TX": "translate_x", "TY": "translate_y",
}  # fmt: skip
USUAL = (
    "identity", "shear_x", "shear_y", "translate_x", "translate_y", "rotate", "brightness", "color", "contrast",
    "sharpness", "posterize", "solarize", "autocontrast", "equalize",
)  # fmt: skip
SIGNED = USUAL[1:10]
ENHANCERS = {
    "brightness": ImageEnhance.Brightness,
    "color": ImageEnhance.Color,
    "contrast": ImageEnhance.Contrast,
    "sharpness": ImageEnhance.Sharpness,
}


def magnitude(name: str, bin_: int, bins: int, size: tuple[int, int], wide: bool) -> float:
    part = bin_ / (bins - 1)
    if name.startswith("shear"):
        return (0.99 if wide else 0.3) * part
    if name.startswith("translate"):
        side = size[0] if name.endswith("x") else size[1]
        return (32 if wide else 150.0 / 331.0 * side) * part
    if name == "rotate":
        return (135 if wide else 30) * part
    if name in ENHANCERS:
        return (0.99 if wide else 0.9) * part
    if name == "posterize":
        return round(8 - (6 if wide else 4) * part)
    return 255 * (bins - 1 - bin_) / (bins - 1)


def applied(
    image: Image.Image, name: str, amount: float, resample: Image.Resampling = Image.Resampling.NEAREST
) -> Image.Image:
    def moved(center: tuple[float, float], translate: tuple[float, float], shear: tuple[float, float]) -> Image.Image:
        return image.transform(image.size, Image.Transform.AFFINE, inverse(center, 0, translate, 1, shear), resample)

    middle = (image.width * 0.5, image.height * 0.5)
    if name in ENHANCERS:
        return ENHANCERS[name](image).enhance(1 + amount)
    match name:
        case "shear_x":
            return moved((0, 0), (0, 0), (math.degrees(math.atan(amount)), 0))
        case "shear_y":
            return moved((0, 0), (0, 0), (0, math.degrees(math.atan(amount))))
        case "translate_x":
            return moved(middle, (int(amount), 0), (0, 0))
        case "translate_y":
            return moved(middle, (0, int(amount)), (0, 0))
        case "rotate":
            return image.rotate(amount, resample)
        case "posterize":
            # Of no bits Pillow makes nothing, torchvision's tensor code black.
            return ImageOps.posterize(image, int(amount)) if amount > 0 else image.point(lambda _: 0)
        case "solarize":
            return ImageOps.solarize(image, amount)  # type: ignore[arg-type]
        case "identity":
            return image
    return {"autocontrast": ImageOps.autocontrast, "equalize": ImageOps.equalize, "invert": ImageOps.invert}[name](
        image
    )


def signed(name: str, amount: float, negative: bool) -> float:
    return -amount if negative and name in SIGNED else amount


def auto_augmented(image: Image.Image, policy: str, row: int) -> Image.Image:
    random = RowRandom(0, 0, 0, row)
    pairs = POLICIES[policy].split(" · ")
    for text in pairs[random.below(len(pairs))].split():
        short, probability, bin_ = re.fullmatch(r"(..)([.0-9]+)(?:/(.))?", text).groups()  # type: ignore[union-attr]
        apply, negative = random.uniform() < float(probability), random.uniform() < 0.5
        if apply:
            name = SHORT[short]
            amount = magnitude(name, int(bin_ or 0), 10, image.size, False)
            image = applied(image, name, signed(name, amount, negative))
    return image


def rand_augmented(image: Image.Image, row: int) -> Image.Image:
    random = RowRandom(0, 0, 0, row)
    for _ in range(2):
        name = USUAL[random.below(14)]
        amount = magnitude(name, 9, 31, image.size, False)
        image = applied(image, name, signed(name, amount, random.uniform() < 0.5))
    return image


def trivially_augmented(image: Image.Image, row: int) -> Image.Image:
    random = RowRandom(0, 0, 0, row)
    name = USUAL[random.below(14)]
    amount = magnitude(name, random.below(31), 31, image.size, True)
    return applied(image, name, signed(name, amount, random.uniform() < 0.5))


def normal(random: RowRandom) -> float:
    return math.sqrt(-2 * math.log1p(-random.uniform())) * math.cos(2 * math.pi * random.uniform())


def gamma(alpha: float, random: RowRandom) -> float:
    """Marsaglia and Tsang's method, from alpha = 1."""
    d = alpha - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal(random)
        if 1 + c * x <= 0:
            continue
        v = (1 + c * x) ** 3
        if math.log(1 - random.uniform()) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


def mixed_magnitude(name: str, bin_: int, size: tuple[int, int]) -> float:
    """AugMix's own, of 10 bins."""
    if name.startswith("translate"):
        return (size[0] if name.endswith("x") else size[1]) / 3 * bin_ / 9
    if name == "posterize":
        return round(4 - bin_ / (9 / 4))
    return magnitude(name, bin_, 10, size, False)


def mixed(image: Image.Image, row: int, severity: int, width: int, depth: int, all_ops: bool) -> np.ndarray:
    random = RowRandom(0, 0, 0, row)
    names = [name for name in USUAL[1:] if all_ops or name not in ENHANCERS]
    of_mixture = beta(1.0, random)
    drawn = [gamma(1.0, random) for _ in range(width)]
    result = np.float32(1 - of_mixture) * np.asarray(image, np.float32)
    for weight in drawn:
        changed = image
        for _ in range(depth if depth > 0 else 1 + random.below(3)):
            name = names[random.below(len(names))]
            amount = mixed_magnitude(name, random.below(severity), image.size)
            amount = signed(name, amount, random.uniform() < 0.5)
            changed = applied(changed, name, amount, Image.Resampling.BILINEAR)
        result += np.float32(weight / sum(drawn)) * np.float32(of_mixture) * np.asarray(changed, np.float32)
    return np.minimum(result, 255).astype(np.uint8)


def main() -> None:
    image = Image.fromarray(source()[10:40, 20:60])
    save("augment.mix", np.stack([mixed(image, row, 10, 3, -1, True) for row in range(20)]))
    save("augment.mix.deep", np.stack([mixed(image, row, 3, 2, 5, False) for row in range(10)]))
    for policy in POLICIES:
        save(f"augment.{policy}", np.stack([np.asarray(auto_augmented(image, policy, row)) for row in range(20)]))
    save("augment.rand", np.stack([np.asarray(rand_augmented(image, row)) for row in range(20)]))
    save("augment.trivial", np.stack([np.asarray(trivially_augmented(image, row)) for row in range(20)]))


if __name__ == "__main__":
    main()
