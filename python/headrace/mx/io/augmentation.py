"""MXNet's parameters of augmentation, as kernels of ours: `headrace.vision`, in the order in which MXNet's default
augmenter does what they say. A parameter that asks for a step that the others leave out is refused; one that says how a
step is done, such as fill_value, is taken without one."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from headrace import transforms as T
from headrace import vision
from headrace._arguments import options
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError, UnsupportedError
from headrace.mx.given_interpolation import GivenInterpolation
from headrace.mx.io.given_values import flag, number_or_nan
from headrace.mx.io.mean_subtraction import KernelsOf, mean_subtraction
from headrace.pack.interpolation_numbers import Interpolation

__all__ = ["AugmentationParameters", "augmentation", "normalised"]


class AugmentationParameters(TypedDict, total=False):
    """Those of `mxnet.io.ImageRecordIter`, by the same names; values are in units of 0 … 255."""

    resize: int
    """The length of the shorter side, to which images are resized first; -1: they are not."""
    rand_crop: bool
    """Whether images are cropped at random places, else in the middle. An image smaller than the crop is enlarged."""
    random_resized_crop: bool
    """Whether a rectangle of random area and ratio is cropped and resized, if these may differ from 1."""
    max_random_area: float
    min_random_area: float
    """The greatest and the least share of the area, for random_resized_crop."""
    max_aspect_ratio: float
    min_aspect_ratio: float | None
    """The greatest and the least width over height of what random_resized_crop cuts out; without it, of the factors by which
    height and width are stretched. Without the least: 1 ± max_aspect_ratio."""
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
    """The value of pixels beyond the image."""
    inter_method: int
    """0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by the sizes, 10 one of 0 to 4 for each image, drawn anew for
    each use. Not 4 or 10 where images are turned or stretched."""
    pad: int
    """Pixels that are added on each side."""
    mirror: bool
    """Swaps left and right in all images."""
    rand_mirror: bool
    """Swaps left and right in half of the images."""
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
    """Shears by a random part of the height, from -v to v."""
    max_crop_size: int
    min_crop_size: int
    """The greatest and the least side of the square that is cut out, at a random place with rand_crop, and resized; -1:
    the crop has the size of data_shape."""
    max_random_scale: float
    min_random_scale: float
    """The greatest and the least factor by which both sides are resized at random, before the crop."""
    max_img_size: float
    min_img_size: float
    """The greatest and the least side of an image before the crop; beyond them it is cut off or gets a border."""
    random_h: int
    random_s: int
    random_l: int
    """Shift hue, saturation and lightness by random numbers from -v to v, in the units of OpenCV's HLS of bytes."""
    max_random_contrast: float
    """Multiplies what is left after the mean by a random factor between 1 - v and 1 + v."""
    max_random_illumination: float
    """Then adds a random number from -v to v to it, before the scale."""


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
# Rotations take bilinear for area and auto, as OpenCV warps with the area, or by equal sizes.
_WARPS: dict[Interpolation, Literal["nearest", "bilinear", "bicubic"]] = {
    "nearest": "nearest",
    "bilinear": "bilinear",
    "bicubic": "bicubic",
    "area": "bilinear",
    "auto": "bilinear",
}
_RANDOM_GEOMETRY = (
    "max_rotate_angle",
    "max_shear_ratio",
    "max_random_scale",
    "min_random_scale",
    "max_crop_size",
    "min_crop_size",
    "rand_crop",
    "random_resized_crop",
    "max_random_area",
    "min_random_area",
    "max_aspect_ratio",
    "min_aspect_ratio",
)
_FLAGS = ("rand_crop", "random_resized_crop", "mirror", "rand_mirror")
_NOT_NEGATIVE = (
    "brightness",
    "contrast",
    "saturation",
    "pca_noise",
    "max_shear_ratio",
    "max_random_contrast",
    "max_random_illumination",
    "max_img_size",
    "min_img_size",
)
_WHOLE = {
    "resize": -1,
    "max_rotate_angle": 0,
    "rotate": -1_000_000,
    "fill_value": 0,
    "inter_method": 0,
    "pad": 0,
    "max_crop_size": -1,
    "min_crop_size": -1,
    **dict.fromkeys(("random_h", "random_s", "random_l"), 0),
}
_STRETCHING = ("max_shear_ratio", "max_random_scale", "min_random_scale", "max_img_size", "min_img_size")
_HLS = {"random_h": 180, "random_l": 255, "random_s": 255}
# The longest side that kernels give.
_LONGEST = 65535


def augmentation(
    given: Mapping[str, Any],
    data_shape: tuple[int, int, int],
    dtype: str,
    seed: int | None,
    of: str,
) -> KernelsOf:
    """What gives the kernels from encoded images to data of `data_shape` (channels, height, width) and `dtype`,
    "float32", "uint8" or "int8". All parameters are checked before.

    Args:
        given: Parameters by name; those not given have their defaults.
        data_shape: The channels are 1, 3 or 4.
        dtype: Whole numbers are not normalised, but the rounded mean is subtracted for int8.
        seed: Of the random kernels; None: the pipeline's.
        of: The iterator, for messages.

    Raises:
        GraphError: A parameter is out of its range, or asks for what has no effect with the others.
        UnsupportedError: There is no kernel for a parameter with these others.
    """
    return _Steps({**_DEFAULTS, **_checked(given, of)}, data_shape, dtype, seed, of).kernels()


def _checked(given: Mapping[str, Any], of: str) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for name, value in given.items():
        checked[name] = _value(name, value, of)
    return checked


def _value(name: str, value: Any, of: str) -> Any:
    if name in _FLAGS:
        return flag(name, value, of)
    if name in _WHOLE:
        return options.whole(name, value, _WHOLE[name], of)
    if name == "mean_img" or (value is None and _DEFAULTS[name] is None):
        return value
    number = _number(name, value, of)
    if name in _NOT_NEGATIVE and number < 0:
        raise GraphError(f"{of}: {name} is {options.shown(value)}; it must be at least 0")
    return number


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
        self._how = GivenInterpolation(given["inter_method"], "inter_method", of)

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
        height, width = self._size
        means = {name: self._given[name] for name in _MEANS}
        return mean_subtraction(
            self._given["mean_img"], means, self._still_geometry, (height, width, self._channels), self._of
        )

    def _still_geometry(self) -> list[Kernel]:
        """Without random steps."""
        drawn = ["inter_method"] if self._how.fixed is None else []
        fixed = {name: _DEFAULTS[name] for name in (*_RANDOM_GEOMETRY, *drawn)}
        return _Steps({**self._given, **fixed}, self._data_shape, self._dtype, None, self._of)._geometry()

    def _decoding(self) -> Kernel:
        # As OpenCV's imdecode, which turns an image unless it is decoded as it is.
        if self._channels == 4:
            return vision.Decode(mode="any")
        return vision.Decode(mode="RGB" if self._channels == 3 else "L", orientation=True)

    def _resizing(self) -> list[Kernel]:
        shorter = self._given["resize"]
        if shorter == -1:
            return []
        options.whole("resize", shorter, 1, self._of)
        return [self._by(lambda how: vision.Resize(shorter, interpolation=how, antialias=False))]

    def _by(self, make: Callable[[Interpolation], Kernel]) -> Kernel:
        return self._how.kernel(make, **self._seed)

    def _turning(self) -> list[Kernel]:
        angle, most, fill = self._given["rotate"], self._given["max_rotate_angle"], self._given["fill_value"]
        stretches = self._stretches()
        if angle <= 0 and most <= 0 and not stretches:
            return []
        if self._how.fixed not in _WARPS:
            raise UnsupportedError(
                f"{self._of}: inter_method is {self._given['inter_method']}, and no kernel turns or stretches by Lanczos; "
                "give 0 to 3 or 9, or leave out what turns and stretches"
            )
        how = _WARPS[self._how.fixed]
        if stretches:
            degrees = (angle, angle) if angle > 0 else (-most, most)
            return [self._stretching(degrees, how)]
        if angle > 0:
            return [vision.Rotate(angle, interpolation=how, fill=fill)]
        return [vision.RandomRotation((-most, most), interpolation=how, fill=fill, **self._seed)]

    def _stretches(self) -> bool:
        """Whether anything but the angle changes."""
        by_ratio = not self._given["random_resized_crop"] and self._ratios() != (1.0, 1.0)
        return by_ratio or any(self._given[name] != _DEFAULTS[name] for name in _STRETCHING)

    def _stretching(self, degrees: tuple[float, float], how: Literal["nearest", "bilinear", "bicubic"]) -> Kernel:
        most_shear = self._given["max_shear_ratio"]
        scale = (self._given["min_random_scale"], self._given["max_random_scale"])
        # The crop has the ratio.
        ratio = (1.0, 1.0) if self._given["random_resized_crop"] else self._ratios()
        self._check_range("random_scale", scale)
        self._check_range("aspect_ratio", ratio)
        if ratio[0] <= 0:
            raise GraphError(f"{self._of}: max_aspect_ratio is {self._given['max_aspect_ratio']}; it must be below 1")
        longest, shortest = int(self._given["max_img_size"]), int(self._given["min_img_size"])
        return vision.RandomAffineResize(
            degrees,
            (-most_shear, most_shear),
            scale,
            ratio,
            max(shortest, 1),
            longest if longest <= _LONGEST else None,
            how,
            self._given["fill_value"],
            **self._seed,
        )

    def _check_range(self, name: str, given: tuple[float, float]) -> None:
        least, most = given
        if least > most:
            raise GraphError(f"{self._of}: min_{name} is {least}, above max_{name}, which is {most}; exchange them")

    def _padding(self) -> list[Kernel]:
        pad = self._given["pad"]
        return [vision.Pad(pad, fill=self._given["fill_value"])] if pad > 0 else []

    def _cropping(self) -> list[Kernel]:
        area = (self._given["min_random_area"], self._given["max_random_area"])
        ratio = self._ratios()
        square = self._square()
        if self._given["random_resized_crop"]:
            if self._given["rand_crop"] or square:
                other = "rand_crop" if self._given["rand_crop"] else "max_crop_size"
                raise GraphError(f"{self._of}: random_resized_crop and {other} are both set; set one of them")
            if area != (1.0, 1.0) or ratio != (1.0, 1.0):
                return [self._resized_crop(area, ratio)]
        else:
            self._refuse_unused(("min_random_area", "max_random_area"))
        if square:
            return square
        enlarge = self._by(lambda how: vision.EnlargeToSize(self._size, interpolation=how, antialias=False))
        if self._given["rand_crop"]:
            return [enlarge, vision.RandomCrop(self._size, **self._seed)]
        return [enlarge, vision.CenterCrop(self._size, rounding="down")]

    def _square(self) -> list[Kernel]:
        least, most = self._given["min_crop_size"], self._given["max_crop_size"]
        if least == most == -1:
            return []
        for name, size in (("min_crop_size", least), ("max_crop_size", most)):
            options.whole(name, size, 1, self._of)
        self._check_range("crop_size", (least, most))
        return [
            vision.RandomSquare(least, most, not self._given["rand_crop"], **self._seed),
            self._by(lambda how: vision.Resize(self._size, interpolation=how, antialias=False)),
        ]

    def _resized_crop(self, area: tuple[float, float], ratio: tuple[float, float]) -> Kernel:
        if self._how.fixed == "auto":
            raise UnsupportedError(
                f"{self._of}: inter_method is 9, and with random_resized_crop no kernel chooses by the sizes; give 0 "
                "to 4"
            )
        self._check_range("random_area", area)
        self._check_range("aspect_ratio", ratio)

        def cropped(how: Interpolation) -> Kernel:
            assert how != "auto"
            return vision.RandomResizedCrop(
                self._size, scale=area, ratio=ratio, interpolation=how, antialias=False, **self._seed
            )

        return self._by(cropped)

    def _ratios(self) -> tuple[float, float]:
        least, most = self._given["min_aspect_ratio"], self._given["max_aspect_ratio"]
        return (1 - most, 1 + most) if least is None else (least, most)

    def _refuse_unused(self, names: Sequence[str]) -> None:
        for name in names:
            if self._given[name] != _DEFAULTS[name]:
                raise UnsupportedError(
                    f"{self._of}: {name} is {self._given[name]!r}; it needs random_resized_crop=True, which "
                    "crops parts of random area"
                )

    def _colours(self) -> list[Kernel]:
        names = ("brightness", "contrast", "saturation")
        kernels: list[Kernel] = []
        if any(self._given[name] > 0 for name in names):
            kernels.append(vision.ColorJitter(**{name: self._given[name] for name in names}, **self._seed))
        hue, lightness, saturation = (self._given[name] for name in _HLS)
        if hue or lightness or saturation:
            self._check_hls()
            kernels.append(vision.RandomHls(hue, lightness, saturation, **self._seed))
        if self._given["pca_noise"] > 0:
            kernels.append(vision.RandomLighting(self._given["pca_noise"], **self._seed))
        return kernels

    def _check_hls(self) -> None:
        for name, most in _HLS.items():
            options.whole(name, self._given[name], 0, self._of, most)
            if self._given[name] and self._channels != 3:
                raise GraphError(
                    f"{self._of}: {name} is {self._given[name]}, and data_shape has {self._channels} channels; it is for 3"
                )

    def _mirroring(self) -> list[Kernel]:
        if self._given["mirror"]:
            return [vision.RandomHorizontalFlip(1.0)]
        return [vision.RandomHorizontalFlip(0.5, **self._seed)] if self._given["rand_mirror"] else []

    def _values(self) -> list[Kernel]:
        means = [self._given[name] for name in _MEANS]
        deviations = [self._given[name] for name in _DEVIATIONS]
        if self._dtype == "uint8":
            self._refuse_for_type((*_MEANS, "mean_img", *_DEVIATIONS, "scale", *_LIGHT))
            return []
        if self._dtype == "int8":
            self._refuse_for_type(("mean_img", *_DEVIATIONS, "scale", *_LIGHT))
            # Halves away from zero.
            rounded = [math.copysign(math.floor(abs(mean) + 0.5), mean) for mean in means[: self._channels]]
            return [vision.Normalize(rounded, 1.0), T.TypeCast("int8")]
        if not all(deviation > 0 for deviation in deviations):
            name, given = next(each for each in zip(_DEVIATIONS, deviations, strict=True) if not each[1] > 0)
            raise GraphError(f"{self._of}: {name} is {given}; it must be above 0")
        return normalised(means[: self._channels], deviations[: self._channels], self._given["scale"], self._light())

    def _light(self) -> list[Kernel]:
        contrast, illumination = (self._given[name] for name in _LIGHT)
        if contrast == illumination == 0:
            return []
        factors, summands = (1 - contrast, 1 + contrast), (-illumination, illumination)
        return [vision.RandomRescale(factors, summands, **self._seed)]

    def _refuse_for_type(self, names: Sequence[str]) -> None:
        for name in names:
            if self._given[name] != _DEFAULTS[name]:
                raise GraphError(
                    f"{self._of}: {name} is {self._given[name]!r}, and has no effect on {self._dtype}; leave it out, or "
                    'give dtype="float32"'
                )


_MEANS = ("mean_r", "mean_g", "mean_b", "mean_a")
_DEVIATIONS = ("std_r", "std_g", "std_b", "std_a")
_LIGHT = ("max_random_contrast", "max_random_illumination")


def normalised(means: list[float], deviations: list[float], scale: float, light: list[Kernel]) -> list[Kernel]:
    """(x - mean), changed by `light`, times scale / deviation, in float32: as MXNet computes it, where all channels have
    one deviation."""
    kernels: list[Kernel] = []
    if any(means) and (light or len(set(deviations)) == 1):
        kernels.append(vision.Normalize(means, 1.0))
        means = [0.0] * len(means)
    kernels += light
    if len(set(deviations)) > 1:
        kernels.append(vision.Normalize(means, deviations))
        factor = float(np.float32(scale))
    else:
        factor = float(np.float32(scale) / np.float32(deviations[0]))
    if factor != 1.0:
        kernels.append(vision.Rescale(factor))
    return kernels or [T.TypeCast("float32")]
