"""Functions on single images, as `mxnet.image` has them: arrays of shape (height, width, channels), in the order red,
green, blue; `ImageIter` with its augmenters, and `ImageDetIter` with those that move objects, too. Batches are made by
these, `mx.io.ImageRecordIter` and pipelines, which run the steps without Python."""

from typing import TYPE_CHECKING

from headrace.mx.absent import no_name
from headrace.mx.augmenters import (
    Augmenter,
    BrightnessJitterAug,
    CastAug,
    CenterCropAug,
    ColorJitterAug,
    ColorNormalizeAug,
    ContrastJitterAug,
    ForceResizeAug,
    HorizontalFlipAug,
    HueJitterAug,
    LightingAug,
    RandomCropAug,
    RandomGrayAug,
    RandomOrderAug,
    RandomSizedCropAug,
    ResizeAug,
    SaturationJitterAug,
    SequentialAug,
)
from headrace.mx.create_augmenter import CreateAugmenter
from headrace.mx.create_det_augmenter import CreateDetAugmenter
from headrace.mx.det_augmenters import (
    CreateMultiRandCropAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomCropAug,
    DetRandomPadAug,
    DetRandomSelectAug,
)
from headrace.mx.image.image import (
    center_crop,
    color_normalize,
    copyMakeBorder,
    fixed_crop,
    imdecode,
    imread,
    imresize,
    random_crop,
    random_size_crop,
    resize_short,
    scale_down,
)
from headrace.mx.image.rotation import imrotate, random_rotate
from headrace.mx.image_det_iter import ImageDetIter
from headrace.mx.image_iter import ImageIter

__all__ = [
    "Augmenter",
    "BrightnessJitterAug",
    "CastAug",
    "CenterCropAug",
    "ColorJitterAug",
    "ColorNormalizeAug",
    "ContrastJitterAug",
    "CreateAugmenter",
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
    "ForceResizeAug",
    "HorizontalFlipAug",
    "HueJitterAug",
    "ImageDetIter",
    "ImageIter",
    "LightingAug",
    "RandomCropAug",
    "RandomGrayAug",
    "RandomOrderAug",
    "RandomSizedCropAug",
    "ResizeAug",
    "SaturationJitterAug",
    "SequentialAug",
    "center_crop",
    "color_normalize",
    "copyMakeBorder",
    "fixed_crop",
    "imdecode",
    "imread",
    "imresize",
    "imrotate",
    "random_crop",
    "random_rotate",
    "random_size_crop",
    "resize_short",
    "scale_down",
]

if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        raise no_name(__name__, name)
