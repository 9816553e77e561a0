"""Augmenters of single images, as `mxnet.image` has them. `ImageIter` runs them as kernels, without Python; called on
an array they give the same pixels. What they draw then, Python's `random` decides."""

import functools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

import headrace
from headrace import transforms as T
from headrace import vision
from headrace._arguments import options
from headrace._datasets.eager import Composed
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError, UnsupportedError
from headrace.mx.described import Described
from headrace.mx.given_interpolation import GivenInterpolation
from headrace.mx.io.given_values import number_or_nan, share
from headrace.mx.nd import NDArray
from headrace.mx.pixel_values import Steps, Values, as_reals, interpolated, on_levels
from headrace.pack.interpolation_numbers import Interpolation

__all__ = [
    "Augmenter",
    "BrightnessJitterAug",
    "CastAug",
    "CenterCropAug",
    "ColorJitterAug",
    "ColorNormalizeAug",
    "ContrastJitterAug",
    "ForceResizeAug",
    "HorizontalFlipAug",
    "HueJitterAug",
    "KernelAugmenter",
    "LightingAug",
    "RandomCropAug",
    "RandomGrayAug",
    "RandomOrderAug",
    "RandomSizedCropAug",
    "ResizeAug",
    "SaturationJitterAug",
    "SequentialAug",
]

# Of vision.RandomLighting.
_EIGENVALUES = (55.46, 4.794, 1.148)
_EIGENVECTORS = ((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203))

_CAST_TYPES = ("float32", "uint8", "float16", "float64", "int8", "int32", "int64")


class Augmenter(Described):
    """The base of augmenters: users derive their own from it, whose `__call__` takes an image and gives another one.

    Args:
        kwargs: What `dumps()` says of it; arrays become lists.
    """

    def __call__(self, src: Any) -> Any:
        """From an image, of shape (height, width, channels), to another one."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it does: define __call__(self, src)")


class KernelAugmenter(Augmenter):
    """An augmenter that kernels of `headrace.vision` make up."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._chains: dict[Values, Composed | None] = {}

    def kernels(self, values: Values) -> Steps:
        """Its kernels for an image of such values."""
        raise NotImplementedError

    def __call__(self, src: Any) -> NDArray:
        """From an image of shape (height, width, 3) to another one; `src` stays as it is."""
        image = np.asarray(src)
        values = Values.BYTES if image.dtype == np.uint8 else Values.REALS
        if values not in self._chains:
            self._chains[values] = self._chain(values)
        if (chain := self._chains[values]) is None:
            return image.view(NDArray)
        drawn = np.random.default_rng(random.getrandbits(64))
        made: np.ndarray = chain(np.ascontiguousarray(image), rng=drawn, layout="HWC")
        return made.view(NDArray)

    def _chain(self, values: Values) -> Composed | None:
        """All kernels as one function; None: there are none."""
        kernels, behind = self.kernels(values)
        kernels += as_reals(behind)
        return headrace.compose(kernels) if kernels else None


class _OfSeveral(Augmenter):
    def __init__(self, ts: Sequence[Callable[[Any], Any]]) -> None:
        super().__init__()
        self.ts: list[Any] = list(ts)

    def dumps(self) -> Any:
        """Its class, and what its augmenters say."""
        return [type(self).__name__.lower(), [each.dumps() for each in self.ts]]


class SequentialAug(_OfSeveral):
    """Applies augmenters one after the other.

    Args:
        ts: The augmenters.
    """

    def __call__(self, src: Any) -> Any:
        """From an image to another one."""
        return functools.reduce(lambda image, each: each(image), self.ts, src)


class RandomOrderAug(_OfSeveral):
    """Applies augmenters in an order that is drawn for each image.

    Args:
        ts: The augmenters, of which none changes the type of the values.
    """

    def __call__(self, src: Any) -> Any:
        """From an image to another one."""
        return functools.reduce(lambda image, each: each(image), random.sample(self.ts, len(self.ts)), src)


class ResizeAug(KernelAugmenter):
    """Resizes so that the shorter side has a length.

    Args:
        size: The length.
        interp: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by the sizes, 10 one of 0 to 4, drawn for each image.
    """

    def __init__(self, size: int, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = options.whole("size", size, 1, "ResizeAug")
        self.interp = interp
        self._how = GivenInterpolation(interp, "interp", "ResizeAug")

    def kernels(self, values: Values) -> Steps:
        kernel = self._how.kernel(lambda how: vision.Resize(self.size, interpolation=how, antialias=False))
        return interpolated([kernel], values)


class _ToSize(KernelAugmenter):
    """Gives images of a size, and may interpolate for it."""

    _OF: ClassVar[str]
    """For messages."""

    def __init__(self, size: Sequence[int], interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = _pair(size, self._OF)
        self.interp = interp
        self._how = GivenInterpolation(interp, "interp", self._OF)

    def _enlarging(self) -> Kernel:
        return self._how.kernel(lambda how: vision.EnlargeToSize(self.size[::-1], interpolation=how, antialias=False))


class ForceResizeAug(_ToSize):
    """Resizes to a size, whatever the ratio of the sides is.

    Args:
        size: (width, height).
        interp: As for `ResizeAug`.
    """

    _OF = "ForceResizeAug"

    def kernels(self, values: Values) -> Steps:
        kernel = self._how.kernel(lambda how: vision.Resize(self.size[::-1], interpolation=how, antialias=False))
        return interpolated([kernel], values)


class RandomCropAug(_ToSize):
    """Cuts out a part at a random place. An image that is smaller is enlarged first.

    Args:
        size: (width, height) of the part.
        interp: How an image is enlarged, as for `ResizeAug`.
    """

    _OF = "RandomCropAug"

    def kernels(self, values: Values) -> Steps:
        crop = vision.RandomCrop(self.size[::-1])
        return interpolated([self._enlarging(), crop], values)


class CenterCropAug(_ToSize):
    """Cuts out the middle. An image that is smaller is enlarged first.

    Args:
        size: (width, height) of the part.
        interp: How an image is enlarged, as for `ResizeAug`.
    """

    _OF = "CenterCropAug"

    def kernels(self, values: Values) -> Steps:
        crop = vision.CenterCrop(self.size[::-1], rounding="down")
        return interpolated([self._enlarging(), crop], values)


class RandomSizedCropAug(KernelAugmenter):
    """Cuts out a part of random area and ratio, and resizes it.

    Args:
        size: (width, height) of the result.
        area: The least and the greatest share of the image's area; a number is the least, and the greatest is 1.
        ratio: The least and the greatest width over height, whose logarithm is uniform.
        interp: As for `ResizeAug`, but for 9.
    """

    def __init__(
        self, size: Sequence[int], area: float | Sequence[float], ratio: Sequence[float], interp: int = 2
    ) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        of = "RandomSizedCropAug"
        self.size = _pair(size, of)
        self.area = _interval("area", area if isinstance(area, Sequence) else (area, 1.0), of)
        self.ratio = _interval("ratio", ratio, of)
        self.interp = interp
        self._how = GivenInterpolation(interp, "interp", of)
        if self._how.fixed == "auto":
            raise UnsupportedError(
                f"{of}: interp is 9, and no kernel that cuts chooses by the sizes; give 0 to 4 or 10"
            )

    def kernels(self, values: Values) -> Steps:
        def cropped(how: Interpolation) -> Kernel:
            assert how != "auto"
            return vision.RandomResizedCrop(
                self.size[::-1], scale=self.area, ratio=self.ratio, interpolation=how, antialias=False
            )

        return interpolated([self._how.kernel(cropped)], values)


class HorizontalFlipAug(KernelAugmenter):
    """Swaps left and right in some images.

    Args:
        p: How likely that is, 0 to 1.
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = share("p", p, "HorizontalFlipAug")

    def kernels(self, values: Values) -> Steps:
        return [vision.RandomHorizontalFlip(self.p)], values


class CastAug(KernelAugmenter):
    """Converts the values to another type.

    Args:
        typ: The type, "float32", "uint8", "float16", "float64", "int8", "int32" or "int64".
    """

    def __init__(self, typ: str = "float32") -> None:
        super().__init__(type=typ)
        self.typ: Any = options.choice("typ", typ, _CAST_TYPES, "CastAug")

    def kernels(self, values: Values) -> Steps:
        if self.typ != "float32":
            return [T.TypeCast(self.typ)], Values.BYTES if self.typ == "uint8" else Values.REALS
        if values is Values.REALS:
            return [T.TypeCast("float32")], values
        return [], Values.CAST if values is Values.BYTES else values


class ColorNormalizeAug(KernelAugmenter):
    """Subtracts a mean and divides by a deviation, in float32.

    Args:
        mean: One number, or one for each channel; None: nothing is subtracted.
        std: Likewise; None: nothing is divided.
    """

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean, self.std = mean, std
        self._mean = _channels("mean", mean, 0.0)
        self._std = _channels("std", std, 1.0)
        if min(self._std) <= 0:
            raise GraphError(f"ColorNormalizeAug: std is {options.shown(std)}; each must be above 0")

    def kernels(self, values: Values) -> Steps:
        return [vision.Normalize(self._mean, self._std)], Values.NORMALIZED


class BrightnessJitterAug(KernelAugmenter):
    """Multiplies the values by a random factor.

    Args:
        brightness: The factor is between 1 - v and 1 + v; 0 to 1.
    """

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = share("brightness", brightness, "BrightnessJitterAug")

    def kernels(self, values: Values) -> Steps:
        return on_levels(vision.ColorJitter(brightness=self.brightness), values, "BrightnessJitterAug")


class ContrastJitterAug(KernelAugmenter):
    """Multiplies the distances of the values from the image's mean brightness by a random factor.

    Args:
        contrast: The factor is between 1 - v and 1 + v; 0 to 1.
    """

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = share("contrast", contrast, "ContrastJitterAug")

    def kernels(self, values: Values) -> Steps:
        return on_levels(vision.ColorJitter(contrast=self.contrast), values, "ContrastJitterAug")


class SaturationJitterAug(KernelAugmenter):
    """Multiplies the distances of the values from the pixel's brightness by a random factor.

    Args:
        saturation: The factor is between 1 - v and 1 + v; 0 to 1.
    """

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = share("saturation", saturation, "SaturationJitterAug")

    def kernels(self, values: Values) -> Steps:
        return on_levels(vision.ColorJitter(saturation=self.saturation), values, "SaturationJitterAug")


class HueJitterAug(KernelAugmenter):
    """Turns the hue, in HSV, by a random angle.

    Args:
        hue: The angle is between -v and v half turns; 0 to 1.
    """

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = share("hue", hue, "HueJitterAug")

    def kernels(self, values: Values) -> Steps:
        # The kernel counts in turns.
        return on_levels(vision.ColorJitter(hue=self.hue / 2), values, "HueJitterAug")


class ColorJitterAug(RandomOrderAug):
    """Changes brightness, contrast and saturation in a random order.

    Args:
        brightness: As for `BrightnessJitterAug`; 0: it stays.
        contrast: As for `ContrastJitterAug`; 0: it stays.
        saturation: As for `SaturationJitterAug`; 0: it stays.
    """

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        jitters = [BrightnessJitterAug(brightness), ContrastJitterAug(contrast), SaturationJitterAug(saturation)]
        amounts = (brightness, contrast, saturation)
        super().__init__([jitter for jitter, most in zip(jitters, amounts, strict=True) if most > 0])


class LightingAug(KernelAugmenter):
    """Shifts the colours along the principal components of natural images.

    Args:
        alphastd: The deviation of the amount of each component, at least 0.
        eigval: 55.46, 4.794, 1.148.
        eigvec: Their vectors, one in each column, as `CreateAugmenter` gives them.

    Raises:
        UnsupportedError: Other components are given.
    """

    def __init__(self, alphastd: float, eigval: Any = _EIGENVALUES, eigvec: Any = _EIGENVECTORS) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = _at_least_zero("alphastd", alphastd, "LightingAug")
        self.eigval, self.eigvec = eigval, eigvec
        for name, given, here in (("eigval", eigval, _EIGENVALUES), ("eigvec", eigvec, _EIGENVECTORS)):
            if np.shape(given) != np.shape(here) or not np.allclose(given, here):
                raise UnsupportedError(
                    f"LightingAug: {name} is {options.shown(given)}, and the kernel has that of ImageNet alone; leave it "
                    "out, or put a function of your own in aug_list"
                )

    def kernels(self, values: Values) -> Steps:
        return on_levels(vision.RandomLighting(self.alphastd), values, "LightingAug")


class RandomGrayAug(KernelAugmenter):
    """Makes some images grey, in three equal channels.

    Args:
        p: How likely that is, 0 to 1.
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = share("p", p, "RandomGrayAug")

    def kernels(self, values: Values) -> Steps:
        return on_levels(vision.RandomGrayscale(self.p), values, "RandomGrayAug")


def _pair(size: Any, of: str) -> tuple[int, int]:
    try:
        width, height = (options.whole("size", each, 1, of) for each in size)
    except (TypeError, ValueError):
        raise GraphError(f"{of}: size is {options.shown(size)}; it must be (width, height)") from None
    return width, height


def _at_least_zero(name: str, value: Any, of: str) -> float:
    if not 0 <= (number := number_or_nan(value)) < math.inf:
        raise GraphError(f"{of}: {name} is {options.shown(value)}; it must be a number from 0 on")
    return number


def _interval(name: str, value: Any, of: str) -> tuple[float, float]:
    numbers = [number_or_nan(each) for each in value] if isinstance(value, Sequence) else []
    if len(numbers) != 2 or not 0 < numbers[0] <= numbers[1] < math.inf:
        raise GraphError(
            f"{of}: {name} is {options.shown(value)}; it must be (least, greatest), numbers above 0 in this order"
        )
    return numbers[0], numbers[1]


def _channels(name: str, value: Any, missing: float) -> list[float]:
    if value is None:
        return [missing]
    numbers = [number_or_nan(each) for each in np.atleast_1d(value).ravel()]
    if np.ndim(value) > 1 or len(numbers) not in (1, 3) or not all(map(math.isfinite, numbers)):
        raise GraphError(
            f"ColorNormalizeAug: {name} is {options.shown(value)}; it must be a number, or one for each of 3 channels"
        )
    return numbers
