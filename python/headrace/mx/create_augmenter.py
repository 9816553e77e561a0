"""The augmenters that a script names by numbers, in MXNet's order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace._arguments import options
from headrace.errors import GraphError
from headrace.mx import nd
from headrace.mx.augmenters import (
    Augmenter,
    CastAug,
    CenterCropAug,
    ColorJitterAug,
    ColorNormalizeAug,
    HorizontalFlipAug,
    HueJitterAug,
    LightingAug,
    RandomCropAug,
    RandomGrayAug,
    RandomSizedCropAug,
    ResizeAug,
)
from headrace.mx.io.given_values import flag, image_shape

__all__ = ["CreateAugmenter", "normalization", "normalization_values"]

_OF = "CreateAugmenter"
# Of ImageNet, for True.
_MEAN = (123.68, 116.28, 103.53)
_DEVIATION = (58.395, 57.12, 57.375)
_LEAST_AREA = 0.08
_RATIOS = (3 / 4, 4 / 3)


def CreateAugmenter(
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> list[Augmenter]:
    """Augmenters in the order resize, crop, mirror, cast to float32, colours, hue, noise, grey, mean and deviation; those
    whose parameter has its default are left out, but for the crop and the cast.

    Args:
        data_shape: (3, height, width) of the result.
        resize: The length of the shorter side, to which images are resized first; 0: they are not.
        rand_crop: Whether images are cropped at random places, else in the middle.
        rand_resize: Whether the crop has a random area from 0.08 on, and a ratio between 3/4 and 4/3; needs rand_crop.
        rand_mirror: Swaps left and right in half of the images.
        mean: What is subtracted: an array of one or three numbers; True: 123.68, 116.28, 103.53; None: nothing.
        std: What values are divided by then; True: 58.395, 57.12, 57.375.
        brightness: The factor is between 1 - v and 1 + v; 0 to 1.
        contrast: Likewise.
        saturation: Likewise.
        hue: Turns it by at most v half turns; 0 to 1.
        pca_noise: The deviation of the noise along the colours' principal components.
        rand_gray: How likely an image becomes grey, 0 to 1.
        inter_method: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by the sizes (not with rand_resize), 10 one of 0
            to 4, drawn for each image.

    Raises:
        GraphError: A parameter is out of its range.
        UnsupportedError: There is no kernel for inter_method.
    """
    _, height, width = image_shape(data_shape, (3,), _OF)
    resized = [ResizeAug(resize, inter_method)] if options.whole("resize", resize, 0, _OF) > 0 else []
    mirrored = [HorizontalFlipAug(0.5)] if flag("rand_mirror", rand_mirror, _OF) else []
    crop = _crop(
        (width, height), flag("rand_crop", rand_crop, _OF), flag("rand_resize", rand_resize, _OF), inter_method
    )
    colours: list[Augmenter] = [ColorJitterAug(brightness, contrast, saturation)]
    colours += [HueJitterAug(hue), LightingAug(pca_noise), RandomGrayAug(rand_gray)]
    asked = (any((brightness, contrast, saturation)), hue, pca_noise, rand_gray)
    augmenters = [*resized, crop, *mirrored, CastAug(), *(each for each, on in zip(colours, asked, strict=True) if on)]
    return augmenters + normalization(mean, std, _OF)


def _crop(size: tuple[int, int], random: bool, resized: bool, inter_method: int) -> Augmenter:
    if not resized:
        return RandomCropAug(size, inter_method) if random else CenterCropAug(size, inter_method)
    if not random:
        raise GraphError(f"{_OF}: rand_resize is set, and needs rand_crop=True")
    return RandomSizedCropAug(size, _LEAST_AREA, _RATIOS, inter_method)


def normalization(mean: Any, std: Any, of: str) -> list[Augmenter]:
    """What subtracts `mean` and divides by `std`, as `CreateAugmenter` takes them; nothing if both are None."""
    subtracted, divided = normalization_values(mean, std, of)
    return [] if subtracted is None and divided is None else [ColorNormalizeAug(subtracted, divided)]


def normalization_values(mean: Any, std: Any, of: str) -> tuple[nd.NDArray | None, nd.NDArray | None]:
    """The numbers of `mean` and `std`, as `CreateAugmenter` takes them."""
    return _of_channels("mean", mean, _MEAN, of), _of_channels("std", std, _DEVIATION, of)


def _of_channels(name: str, given: Any, of_true: Sequence[float], of: str) -> nd.NDArray | None:
    """A mean or a deviation; None: there is none."""
    if given is None:
        return None
    if given is True:
        return nd.array(of_true)
    if given is False or not isinstance(given, (np.ndarray, list, tuple)):
        raise GraphError(f"{of}: {name} is {options.shown(given)}; it must be an array, True or None")
    return nd.array(given, dtype=np.float32)
