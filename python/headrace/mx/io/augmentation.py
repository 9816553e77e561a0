"""MXNet's parameters of augmentation, as kernels of ours: `headrace.vision`, in the order in which MXNet's default
augmenter does what they say. One for which there is no kernel is refused, unless it has its default."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np

from headrace import options, vision
from headrace import transforms as T
from headrace.errors import GraphError, UnsupportedError
from headrace.interpolation_numbers import Interpolation, interpolation_of
from headrace.kernel import Kernel
from headrace.mx.io.given_values import flag, number_or_nan

__all__ = ["AugmentationParameters", "KernelsOf", "MeanOf", "augmentation"]

MeanOf: TypeAlias = Callable[[str, list[Kernel]], np.ndarray]
"""From the path of the mean image, and the kernels that give the pictures that it is made of, to the mean, of shape
(height, width, channels)."""
KernelsOf: TypeAlias = Callable[[MeanOf | None], list[Kernel]]
"""From what gives the mean image to the kernels; None: to such kernels with a mean of zeros, to check them by."""


class AugmentationParameters(TypedDict, total=False):
    """Those of `mxnet.io.ImageRecordIter`, by the same names; values are in units of 0 … 255."""

    resize: int
    """The length of the shorter side, to which pictures are resized first; -1: they are not."""
    rand_crop: bool
    """Whether pictures are cropped at random places, else in the middle. A picture smaller than the crop is enlarged."""
    random_resized_crop: bool
    """Whether a rectangle of random area and ratio is cropped and resized, if these may differ from 1."""
    max_random_area: float
    min_random_area: float
    """The greatest and the least share of the area, for random_resized_crop."""
    max_aspect_ratio: float
    min_aspect_ratio: float | None
    """The greatest and the least width over height, for random_resized_crop; without the least: 1 ± max_aspect_ratio."""
    max_rotate_angle: int
    """Turns by a random angle, from -v to v degrees."""
    rotate: int
    """Turns by this angle, counter-clockwise, if it is above 0."""
    brightness: float
    contrast: float
    saturation: float
    """Multiply each by a factor between 1 - v and 1 + v."""
    pca_noise: float
    """The deviation of the noise along the colours' principal components."""
    fill_value: int
    """The value of pixels beyond the picture."""
    inter_method: int
    """0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos (not with a rotation), 9 by the sizes."""
    pad: int
    """Pixels that are added on each side."""
    mirror: bool
    """Swaps left and right in all pictures."""
    rand_mirror: bool
    """Swaps left and right in half of the pictures."""
    mean_r: float
    mean_g: float
    mean_b: float
    mean_a: float
    """What is subtracted from each channel."""
    std_r: float
    std_g: float
    std_b: float
    std_a: float
    """What each channel is divided by."""
    scale: float
    """What all values are multiplied by, after the mean is subtracted."""
    mean_img: str | os.PathLike[str]
    """The file of a mean image, which is subtracted; if it is missing, it is made of all rows and saved there."""
    max_shear_ratio: float
    max_crop_size: int
    min_crop_size: int
    max_random_scale: float
    min_random_scale: float
    max_img_size: float
    min_img_size: float
    random_h: int
    random_s: int
    random_l: int
    max_random_contrast: float
    max_random_illumination: float
    """Refused, unless they have their defaults: there is no kernel for them."""


_DEFAULTS: dict[str, Any] = {
    "resize": -1,
    "rand_crop": False,
    "random_resized_crop": False,
    "max_random_area": 1.0,
    "min_random_area": 1.0,
    "max_aspect_ratio": 0.0,
    "min_aspect_ratio": None,
    "max_rotate_angle": 0,
    "rotate": -1,
    "brightness": 0.0,
    "contrast": 0.0,
    "saturation": 0.0,
    "pca_noise": 0.0,
    "fill_value": 255,
    "inter_method": 1,
    "pad": 0,
    "mirror": False,
    "rand_mirror": False,
    **dict.fromkeys(("mean_r", "mean_g", "mean_b", "mean_a"), 0.0),
    **dict.fromkeys(("std_r", "std_g", "std_b", "std_a"), 1.0),
    "scale": 1.0,
    "mean_img": "",
    "max_shear_ratio": 0.0,
    "max_crop_size": -1,
    "min_crop_size": -1,
    "max_random_scale": 1.0,
    "min_random_scale": 1.0,
    "max_img_size": 1e10,
    "min_img_size": 0.0,
    "random_h": 0,
    "random_s": 0,
    "random_l": 0,
    "max_random_contrast": 0.0,
    "max_random_illumination": 0.0,
}
_MISSING = {
    "max_shear_ratio": "shears by a random ratio; V.RandomAffine in a pipeline of your own shears by an angle",
    "max_crop_size": "crops squares of a random size; random_resized_crop crops rectangles of random area",
    "min_crop_size": "crops squares of a random size; random_resized_crop crops rectangles of random area",
    "max_random_scale": "resizes by a random factor; V.RandomResize in a pipeline of your own draws a length",
    "min_random_scale": "resizes by a random factor; V.RandomResize in a pipeline of your own draws a length",
    "max_img_size": "bounds the size of a picture in the middle of its augmentation",
    "min_img_size": "bounds the size of a picture in the middle of its augmentation",
    "random_h": "shifts the hue in HLS; V.ColorJitter(hue=…) in a pipeline of your own shifts it in HSV",
    "random_s": "shifts the saturation in HLS; saturation multiplies it",
    "random_l": "shifts the lightness in HLS; brightness multiplies it",
    "max_random_contrast": "multiplies normalised values by a random factor; contrast changes pixels before",
    "max_random_illumination": "adds a random number to normalised values; brightness changes pixels before",
}
# Rotations take bilinear for area and auto, as OpenCV warps with the area, or by equal sizes.
_WARPS: dict[Interpolation, Literal["nearest", "bilinear", "bicubic"]] = {
    "nearest": "nearest",
    "bilinear": "bilinear",
    "bicubic": "bicubic",
    "area": "bilinear",
    "auto": "bilinear",
}
_DRAWN = 10
_RANDOM_GEOMETRY = (
    "max_rotate_angle",
    "rand_crop",
    "random_resized_crop",
    "max_random_area",
    "min_random_area",
    "max_aspect_ratio",
    "min_aspect_ratio",
)
_FLAGS = ("rand_crop", "random_resized_crop", "mirror", "rand_mirror")
_NOT_NEGATIVE = ("brightness", "contrast", "saturation", "pca_noise")
_WHOLE = {"resize": -1, "max_rotate_angle": 0, "rotate": -1_000_000, "fill_value": 0, "inter_method": 0, "pad": 0}


def augmentation(
    given: Mapping[str, Any],
    data_shape: tuple[int, int, int],
    dtype: str,
    seed: int | None,
    of: str,
) -> KernelsOf:
    """What gives the kernels from encoded pictures to data of `data_shape` (channels, height, width) and `dtype`,
    "float32", "uint8" or "int8". All parameters are checked before.

    Args:
        given: Parameters by name; those not given have their defaults.
        data_shape: The channels are 1, 3 or 4.
        dtype: Whole numbers are not normalised, but the rounded mean is subtracted for int8.
        seed: Of the random kernels; None: the pipeline's.
        of: The iterator, for messages.

    Raises:
        GraphError: A parameter is out of its range, or has no effect with the others.
        TypeError: There is no such parameter.
        UnsupportedError: There is no kernel for a parameter.
    """
    return _Steps({**_DEFAULTS, **_checked(given, of)}, data_shape, dtype, seed, of).kernels()


def _checked(given: Mapping[str, Any], of: str) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _DEFAULTS:
            raise TypeError(f"{of}() has no parameter {name}; those of augmentation are {', '.join(_DEFAULTS)}")
        if name in _MISSING and value != _DEFAULTS[name]:
            raise UnsupportedError(
                f"{of}: {name} is {options.shown(value)}, and no kernel {_MISSING[name]}; leave it at "
                f"{_DEFAULTS[name]!r}"
            )
        checked[name] = _value(name, value, of)
    return checked


def _value(name: str, value: Any, of: str) -> Any:
    if name in _FLAGS:
        return flag(name, value, of)
    if name in _WHOLE:
        return options.whole(name, value, _WHOLE[name], of)
    if name == "mean_img":
        return _path(name, value, of)
    if value is None and _DEFAULTS[name] is None:
        return value
    number = _number(name, value, of)
    if name in _NOT_NEGATIVE and number < 0:
        raise GraphError(f"{of}: {name} is {options.shown(value)}; it must be at least 0")
    return number


def _path(name: str, value: Any, of: str) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise GraphError(f"{of}: {name} is {options.shown(value)}; it must be a path")
    return os.fsdecode(value)


def _number(name: str, value: Any, of: str) -> float:
    number = number_or_nan(value)
    if not math.isfinite(number):
        raise GraphError(f"{of}: {name} is {options.shown(value)}; it must be a number")
    return number


class _Steps:
    def __init__(
        self,
        given: dict[str, Any],
        data_shape: tuple[int, int, int],
        dtype: str,
        seed: int | None,
        of: str,
    ) -> None:
        self._given = given
        self._data_shape = data_shape
        self._channels, *self._size = data_shape
        self._dtype = dtype
        self._seed: dict[str, Any] = {} if seed is None else {"seed": seed}
        self._of = of
        method = given["inter_method"]
        why = ", as no kernel draws one for each picture" if method == _DRAWN else ""
        self._interpolation = interpolation_of(method, "inter_method", of, why)

    def kernels(self) -> KernelsOf:
        before = [*self._geometry(), *self._colours()]
        behind = [*self._mirroring(), *self._values(), vision.HWC2CHW()]
        mean = self._mean_image()
        return lambda mean_of: [*before, *mean(mean_of), *behind]

    def _geometry(self) -> list[Kernel]:
        return [
            self._decoding(),
            *self._resizing(),
            *self._turning(),
            *self._padding(),
            *self._cropping(),
        ]

    def _mean_image(self) -> KernelsOf:
        path = self._given["mean_img"]
        if not path:
            return lambda mean_of: []
        for name in _MEANS:
            if self._given[name] != _DEFAULTS[name]:
                raise GraphError(
                    f"{self._of}: mean_img is {path!r} and {name} is {self._given[name]!r}; give one mean of the two kinds"
                )
        still = _Steps(
            {**self._given, **{name: _DEFAULTS[name] for name in _RANDOM_GEOMETRY}},
            self._data_shape,
            self._dtype,
            None,
            self._of,
        )
        geometry = still._geometry()

        def subtracted(mean_of: MeanOf | None) -> list[Kernel]:
            if mean_of is None:
                return [vision.SubtractImage(0, (*self._size, self._channels))]
            mean = mean_of(path, geometry)
            return [vision.SubtractImage(mean.ravel().tolist(), mean.shape)]

        return subtracted

    def _decoding(self) -> Kernel:
        # As OpenCV's imdecode, which turns a picture unless it is decoded as it is.
        if self._channels == 4:
            return vision.Decode(mode="any")
        return vision.Decode(mode="RGB" if self._channels == 3 else "L", orientation=True)

    def _resizing(self) -> list[Kernel]:
        shorter = self._given["resize"]
        if shorter == -1:
            return []
        options.whole("resize", shorter, 1, self._of)
        return [vision.Resize(shorter, interpolation=self._interpolation, antialias=False)]

    def _turning(self) -> list[Kernel]:
        angle, most, fill = self._given["rotate"], self._given["max_rotate_angle"], self._given["fill_value"]
        if angle <= 0 and most <= 0:
            return []
        if self._interpolation not in _WARPS:
            raise UnsupportedError(
                f"{self._of}: inter_method is {self._given['inter_method']}, and no kernel rotates by Lanczos; give 0 to "
                "3 or 9, or leave out rotate and max_rotate_angle"
            )
        how = _WARPS[self._interpolation]
        if angle > 0:
            return [vision.Rotate(angle, interpolation=how, fill=fill)]
        return [vision.RandomRotation((-most, most), interpolation=how, fill=fill, **self._seed)]

    def _padding(self) -> list[Kernel]:
        pad = self._given["pad"]
        return [vision.Pad(pad, fill=self._given["fill_value"])] if pad > 0 else []

    def _cropping(self) -> list[Kernel]:
        area = (self._given["min_random_area"], self._given["max_random_area"])
        ratio = self._ratios()
        if self._given["random_resized_crop"]:
            if self._given["rand_crop"]:
                raise GraphError(f"{self._of}: random_resized_crop and rand_crop are both set; set one of them")
            if area != (1.0, 1.0) or ratio != (1.0, 1.0):
                return [self._resized_crop(area, ratio)]
        else:
            self._refuse_unused(("min_random_area", "max_random_area", "min_aspect_ratio", "max_aspect_ratio"))
        enlarge = vision.EnlargeToSize(self._size, interpolation=self._interpolation, antialias=False)
        if self._given["rand_crop"]:
            return [enlarge, vision.RandomCrop(self._size, **self._seed)]
        return [enlarge, vision.CenterCrop(self._size, rounding="down")]

    def _resized_crop(self, area: tuple[float, float], ratio: tuple[float, float]) -> Kernel:
        if self._interpolation == "auto":
            raise UnsupportedError(
                f"{self._of}: inter_method is 9, and with random_resized_crop no kernel chooses by the sizes; give 0 "
                "to 4"
            )
        for name, (least, most) in (("random_area", area), ("aspect_ratio", ratio)):
            if least > most:
                raise GraphError(f"{self._of}: min_{name} is {least}, above max_{name}, which is {most}; exchange them")
        return vision.RandomResizedCrop(
            self._size, scale=area, ratio=ratio, interpolation=self._interpolation, antialias=False, **self._seed
        )

    def _ratios(self) -> tuple[float, float]:
        least, most = self._given["min_aspect_ratio"], self._given["max_aspect_ratio"]
        return (1 - most, 1 + most) if least is None else (least, most)

    def _refuse_unused(self, names: Sequence[str]) -> None:
        for name in names:
            if self._given[name] != _DEFAULTS[name]:
                raise UnsupportedError(
                    f"{self._of}: {name} is {self._given[name]!r}; it needs random_resized_crop=True, as no kernel changes "
                    "the ratio or the area of a picture without cropping it"
                )

    def _colours(self) -> list[Kernel]:
        names = ("brightness", "contrast", "saturation")
        kernels: list[Kernel] = []
        if any(self._given[name] > 0 for name in names):
            kernels.append(vision.ColorJitter(**{name: self._given[name] for name in names}, **self._seed))
        if self._given["pca_noise"] > 0:
            kernels.append(vision.RandomLighting(self._given["pca_noise"], **self._seed))
        return kernels

    def _mirroring(self) -> list[Kernel]:
        if self._given["mirror"]:
            return [vision.RandomHorizontalFlip(1.0)]
        return [vision.RandomHorizontalFlip(0.5, **self._seed)] if self._given["rand_mirror"] else []

    def _values(self) -> list[Kernel]:
        means = [self._given[name] for name in _MEANS]
        deviations = [self._given[name] for name in _DEVIATIONS]
        if self._dtype == "uint8":
            self._refuse_for_type((*_MEANS, "mean_img", *_DEVIATIONS, "scale"))
            return []
        if self._dtype == "int8":
            self._refuse_for_type(("mean_img", *_DEVIATIONS, "scale"))
            # Halves away from zero.
            rounded = [math.copysign(math.floor(abs(mean) + 0.5), mean) for mean in means[: self._channels]]
            return [vision.Normalize(rounded, 1.0), T.TypeCast("int8")]
        if not all(deviation > 0 for deviation in deviations):
            raise GraphError(f"{self._of}: the deviations are {deviations}; each must be above 0")
        return _normalised(means[: self._channels], deviations[: self._channels], self._given["scale"])

    def _refuse_for_type(self, names: Sequence[str]) -> None:
        for name in names:
            if self._given[name] != _DEFAULTS[name]:
                raise GraphError(
                    f"{self._of}: {name} is {self._given[name]!r}, and has no effect on {self._dtype}; leave it out, or "
                    'give dtype="float32"'
                )


_MEANS = ("mean_r", "mean_g", "mean_b", "mean_a")
_DEVIATIONS = ("std_r", "std_g", "std_b", "std_a")


def _normalised(means: list[float], deviations: list[float], scale: float) -> list[Kernel]:
    """(x - mean) * scale / deviation, in float32: as MXNet computes it, where all channels have one deviation."""
    kernels: list[Kernel] = []
    if len(set(deviations)) > 1:
        kernels.append(vision.Normalize(means, deviations))
        factor = float(np.float32(scale))
    else:
        if any(means):
            kernels.append(vision.Normalize(means, 1.0))
        factor = float(np.float32(scale) / np.float32(deviations[0]))
    if factor != 1.0:
        kernels.append(vision.Rescale(factor))
    return kernels or [T.TypeCast("float32")]
