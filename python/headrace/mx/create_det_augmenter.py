"""The augmenters of images and objects that a script names by numbers, in MXNet's order."""

from collections.abc import Sequence
from typing import Any

from headrace._arguments import options
from headrace.errors import GraphError
from headrace.mx.augmenters import (
    CastAug,
    ColorJitterAug,
    ForceResizeAug,
    HueJitterAug,
    LightingAug,
    RandomGrayAug,
    ResizeAug,
)
from headrace.mx.create_augmenter import normalization
from headrace.mx.det_augmenters import (
    CreateMultiRandCropAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomPadAug,
    DetRandomSelectAug,
)
from headrace.mx.io.given_values import image_shape, number_or_nan, share

__all__ = ["CreateDetAugmenter"]

_OF = "CreateDetAugmenter"


def CreateDetAugmenter(
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 3.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    pad_val: Any = (127, 127, 127),
) -> list[DetAugmenter]:
    """Augmenters in the order resize, crop, mirror, pad, resize to `data_shape`, cast to float32, colours, hue, noise, grey,
    mean and deviation; those whose parameter has its default are left out, but for the resize to `data_shape` and the cast.

    Args:
        data_shape: (3, height, width) of the result.
        resize: The length of the shorter side, to which images are resized first; 0: they are not.
        rand_crop: How likely an image is cropped, 0 to 1.
        rand_pad: How likely it is put on a larger canvas, 0 to 1.
        rand_gray: How likely it becomes grey, 0 to 1.
        rand_mirror: Swaps left and right in half of the images.
        mean: What is subtracted: an array of one or three numbers; True: 123.68, 116.28, 103.53; None: nothing.
        std: What values are divided by then; True: 58.395, 57.12, 57.375.
        brightness: The factor is between 1 - v and 1 + v; 0 to 1.
        contrast: Likewise.
        saturation: Likewise.
        pca_noise: The deviation of the noise along the colours' principal components.
        hue: Turns it by at most v half turns; 0 to 1.
        inter_method: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by the sizes, 10 one of 0 to 4, drawn for each
            image.
        min_object_covered: Of the crop, as for `DetRandomCropAug`; lists are for several crops, one of which is chosen.
        aspect_ratio_range: Of the crop, and of the canvas.
        area_range: The least and the greatest area of the crop; the greatest is that of the canvas as well.
        min_eject_coverage: Of the crop.
        max_attempts: Of the crop, and of the canvas.
        pad_val: The value of pixels beyond the image.

    Raises:
        GraphError: A parameter is out of its range.
    """
    _, height, width = image_shape(data_shape, (3,), _OF)
    made: list[DetAugmenter] = []
    if options.whole("resize", resize, 0, _OF) > 0:
        made.append(DetBorrowAug(ResizeAug(resize, inter_method)))
    if (chance := share("rand_crop", rand_crop, _OF)) > 0:
        made.append(
            CreateMultiRandCropAugmenter(
                min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts, 1 - chance
            )
        )
    if share("rand_mirror", rand_mirror, _OF) > 0:
        made.append(DetHorizontalFlipAug(0.5))
    if (chance := share("rand_pad", rand_pad, _OF)) > 0:
        canvas = _pad(aspect_ratio_range, area_range, max_attempts, pad_val)
        made.append(DetRandomSelectAug([canvas], 1 - chance))
    borrowed: list[Any] = [ForceResizeAug((width, height), inter_method), CastAug()]
    if any((brightness, contrast, saturation)):
        borrowed.append(ColorJitterAug(brightness, contrast, saturation))
    for asked, kind in ((hue, HueJitterAug), (pca_noise, LightingAug), (rand_gray, RandomGrayAug)):
        if asked:
            borrowed.append(kind(asked))
    return [*made, *map(DetBorrowAug, borrowed + normalization(mean, std, _OF))]


def _pad(ratios: Any, areas: Any, attempts: Any, value: Any) -> DetRandomPadAug:
    for name, given in (("aspect_ratio_range", ratios), ("area_range", areas), ("max_attempts", attempts)):
        if isinstance(given, list):
            raise GraphError(
                f"{_OF}: {name} is {options.shown(given)}, for several crops, and rand_pad has one canvas; make the list of "
                "augmenters yourself"
            )
    most = areas[1] if isinstance(areas, tuple) else areas
    if not number_or_nan(most) > 1:
        raise GraphError(f"{_OF}: area_range is {options.shown(areas)}, and rand_pad needs a canvas larger than 1")
    return DetRandomPadAug(ratios, (1.0, most), attempts, value)
