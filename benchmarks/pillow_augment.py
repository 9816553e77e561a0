"""augment.py's recipes by Pillow's functions alone, written by hand as torchvision defines them."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import augment_recipes as recipes
import numpy as np
import work
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

# Magnitudes of TrivialAugmentWide above the least one, and the pixels of its furthest shift.
_MAGNITUDES = 30
_SHIFT = 32
_Step = Callable[[Image.Image, float], Image.Image]


def _cropped(image: Image.Image) -> Image.Image:
    left, top, width, height = work.crop_box(*image.size)
    box = (left, top, left + width, top + height)
    crop = image.resize((recipes.SIDE, recipes.SIDE), Image.Resampling.BILINEAR, box=box)
    return crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if random.random() < 0.5 else crop


def turned(image: Image.Image, turn: float) -> Image.Image:
    """The hue, by a part of a full circle."""
    hue, saturation, value = image.convert("HSV").split()
    shift = int(turn * 255)
    hue = hue.point([(level + shift) % 256 for level in range(256)])
    return Image.merge("HSV", (hue, saturation, value)).convert("RGB")


def _jittered(image: Image.Image, strength: float, turn: float) -> Image.Image:
    def enhanced(kind: Any) -> Callable[[Image.Image], Image.Image]:
        return lambda image: kind(image).enhance(random.uniform(1 - strength, 1 + strength))

    kinds = (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color)
    steps = [*map(enhanced, kinds), lambda image: turned(image, random.uniform(-turn, turn))]
    random.shuffle(steps)
    for step in steps:
        image = step(image)
    return image


def _moved(image: Image.Image, *coefficients: float) -> Image.Image:
    return image.transform(image.size, Image.Transform.AFFINE, coefficients)


# By magnitudes from 0 to 1, or from -1 to 1 where the direction is drawn.
DIRECTED: Sequence[_Step] = (
    lambda image, part: _moved(image, 1, 0.99 * part, 0, 0, 1, 0),
    lambda image, part: _moved(image, 1, 0, 0, 0.99 * part, 1, 0),
    lambda image, part: _moved(image, 1, 0, int(_SHIFT * part), 0, 1, 0),
    lambda image, part: _moved(image, 1, 0, 0, 0, 1, int(_SHIFT * part)),
    lambda image, part: image.rotate(135 * part),
    lambda image, part: ImageEnhance.Brightness(image).enhance(1 + 0.99 * part),
    lambda image, part: ImageEnhance.Color(image).enhance(1 + 0.99 * part),
    lambda image, part: ImageEnhance.Contrast(image).enhance(1 + 0.99 * part),
    lambda image, part: ImageEnhance.Sharpness(image).enhance(1 + 0.99 * part),
)
UNDIRECTED: Sequence[_Step] = (
    lambda image, part: image,
    lambda image, part: ImageOps.posterize(image, 8 - round(6 * part)),
    lambda image, part: ImageOps.solarize(image, int(255 * (1 - part))),
    lambda image, part: ImageOps.autocontrast(image),
    lambda image, part: ImageOps.equalize(image),
)


def _trivially(image: Image.Image) -> Image.Image:
    step = random.choice((*DIRECTED, *UNDIRECTED))
    part = random.randint(0, _MAGNITUDES) / _MAGNITUDES
    return step(image, -part if step in DIRECTED and random.random() < 0.5 else part)


def _write_planes(image: Image.Image, target: Any, mean: Sequence[float], std: Sequence[float]) -> None:
    """Writes a scaled and normalised image into an array of planes."""
    for band, plane, of_mean, of_std in zip(image.split(), target, mean, std, strict=True):
        np.multiply(np.asarray(band), np.float32(1 / (255 * of_std)), out=plane)
        plane -= np.float32(of_mean / of_std)


def _erase(target: Any) -> None:
    side = recipes.SIDE
    for _ in range(10):
        area = side * side * random.uniform(*recipes.ERASED_SCALE)
        ratio = math.exp(random.uniform(*map(math.log, recipes.ERASED_RATIO)))
        height, width = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if height < side and width < side:
            top, left = random.randint(0, side - height), random.randint(0, side - width)
            target[:, top : top + height, left : left + width] = 0
            return


def _contrastive_view(image: Image.Image) -> Image.Image:
    view = _cropped(image)
    if random.random() < 0.8:
        view = _jittered(view, 0.8, 0.2)
    if random.random() < 0.2:
        view = view.convert("L").convert("RGB")
    if random.random() < 0.5:
        view = view.filter(ImageFilter.GaussianBlur(random.uniform(0.1, 2.0)))
    return view


def write_views(recipe: str, path: str, targets: Sequence[Any]) -> None:
    """Writes the views of an image into arrays of planes."""
    with Image.open(path) as file:
        # To convert an RGB image would copy it.
        image = file if file.mode == "RGB" else file.convert("RGB")
        if recipe == "simclr":
            for target in targets:
                _write_planes(_contrastive_view(image), target, (0.0,) * 3, (1.0,) * 3)
            return
        crop = _cropped(image)
    changed = _jittered(crop, 0.4, 0.1) if recipe == "jitter" else _trivially(crop)
    _write_planes(changed, targets[0], recipes.MEAN, recipes.STD)
    if random.random() < 0.1:
        _erase(targets[0])
