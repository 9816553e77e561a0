"""Parameters of MXNet's detection augmenter, as kernels of ours, in the order in which it does what they say."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypedDict

from headrace import transforms as T
from headrace import vision
from headrace._arguments import options
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError
from headrace.mx.given_interpolation import GivenInterpolation
from headrace.mx.io.augmentation import normalised
from headrace.mx.io.given_values import number_or_nan, share
from headrace.mx.io.mean_subtraction import KernelsOf, MeanOf, mean_subtraction
from headrace.pack.interpolation_numbers import Interpolation

__all__ = ["DetAugmentation", "DetAugmentationParameters", "Stages", "StagesOf"]

Numbers = float | Sequence[float]


class DetAugmentationParameters(TypedDict, total=False):
    """Those of `mxnet.io.ImageDetRecordIter`, by the same names; values are in units of 0 … 255."""

    resize: int
    """The length of the shorter side, to which images are resized first; -1: they are not."""
    rand_crop_prob: float
    """How likely an image is cropped."""
    num_crop_sampler: int
    """Into how many samplers the lists below fall; each has one number, or one for each sampler. 0 or less: images are not
    cropped."""
    min_crop_scales: Numbers
    max_crop_scales: Numbers
    min_crop_aspect_ratios: Numbers
    max_crop_aspect_ratios: Numbers
    min_crop_overlaps: Numbers
    max_crop_overlaps: Numbers
    min_crop_sample_coverages: Numbers
    max_crop_sample_coverages: Numbers
    min_crop_object_coverages: Numbers
    max_crop_object_coverages: Numbers
    max_crop_trials: int | Sequence[int]
    crop_emit_mode: str
    """Which objects remain: "center" or "overlap"."""
    emit_overlap_thresh: float
    """The share of an object that must be in the crop, for "overlap"."""
    rand_pad_prob: float
    """How likely an image is put on a larger canvas."""
    max_pad_scale: float
    """The greatest factor of its sides."""
    max_random_hue: int
    random_hue_prob: float
    max_random_saturation: int
    random_saturation_prob: float
    max_random_illumination: int
    random_illumination_prob: float
    """The most that is added in OpenCV's HLS of bytes, and how likely anything is."""
    max_random_contrast: float
    random_contrast_prob: float
    """Pixels are multiplied by a factor between 1 - v and 1 + v, and how likely that is."""
    rand_mirror_prob: float
    """How likely left and right are swapped."""
    fill_value: int
    """The value of pixels beyond the image."""
    inter_method: int
    """0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by the sizes, 10 one of 0 to 4 for each image, drawn anew for
    each use."""
    resize_mode: str
    """"force": images get the size of data_shape. "shrink", "fit": they keep the ratio of their sides within it, and their
    rows and columns are those of the label; "shrink" leaves smaller ones as they are. `fill_value` is beside them."""
    mean_r: float
    mean_g: float
    mean_b: float
    mean_a: float
    """What is subtracted from each channel."""
    std_r: float
    std_g: float
    std_b: float
    std_a: float
    """What each channel is divided by; 0: nothing, as 1."""
    scale: float
    """What all values are multiplied by, after the mean is subtracted."""
    mean_img: str | os.PathLike[str]
    """The file of a mean image, which is subtracted; if it is missing, it is made of all rows and saved there."""


_SAMPLERS: dict[str, Any] = {
    "min_crop_scales": 0.0,
    "max_crop_scales": 1.0,
    "min_crop_aspect_ratios": 1.0,
    "max_crop_aspect_ratios": 1.0,
    "min_crop_overlaps": 0.0,
    "max_crop_overlaps": 1.0,
    "min_crop_sample_coverages": 0.0,
    "max_crop_sample_coverages": 1.0,
    "min_crop_object_coverages": 0.0,
    "max_crop_object_coverages": 1.0,
    "max_crop_trials": 25,
}
_MEANS = ("mean_r", "mean_g", "mean_b", "mean_a")
_DEVIATIONS = ("std_r", "std_g", "std_b", "std_a")
# Hue, lightness and saturation, in V.RandomHls's order, and the most of each.
_HLS = {"hue": 180, "illumination": 255, "saturation": 255}
_LEAST_PAD_SCALE = 1.05
_LEAST_INT = -(1 << 31)

_DEFAULTS: dict[str, Any] = {
    "resize": -1,
    "rand_crop_prob": 0.0,
    "num_crop_sampler": 1,
    **_SAMPLERS,
    "crop_emit_mode": "center",
    "emit_overlap_thresh": 0.3,
    "rand_pad_prob": 0.0,
    "max_pad_scale": 1.0,
    **{f"max_random_{name}": 0 for name in _HLS},
    **{f"random_{name}_prob": 0.0 for name in (*_HLS, "contrast")},
    "max_random_contrast": 0.0,
    "rand_mirror_prob": 0.0,
    "fill_value": 127,
    "inter_method": 1,
    "resize_mode": "force",
    **dict.fromkeys(_MEANS, 0.0),
    **dict.fromkeys(_DEVIATIONS, 0.0),
    "scale": 1.0,
    "mean_img": "",
}


class Stages(NamedTuple):
    """The kernels of an image."""

    moving: list[Kernel]
    """Those that boxes follow; the label has the size that the image has after them."""
    behind: list[Kernel]
    """Those of the image alone that follow; none: the image has the size of `data_shape` already."""


StagesOf: TypeAlias = Callable[[MeanOf | None], Stages]
"""As `KernelsOf`."""


class DetAugmentation:
    """The kernels from encoded images to data of `data_shape` (channels, height, width), float32.

    Raises:
        GraphError: A parameter is out of its range.
    """

    def __init__(self, given: Mapping[str, Any], data_shape: tuple[int, int, int], of: str) -> None:
        self._given = {**_DEFAULTS, **given}
        self._data_shape = data_shape
        self._channels, *self._size = data_shape
        self._of = of
        self._how = GivenInterpolation(self._given["inter_method"], "inter_method", of)
        self._fill = options.whole("fill_value", self._given["fill_value"], 0, of, 255)

    def kernels(self) -> StagesOf:
        """What gives all of them, in order."""
        drawn = [*self._colours(), *self._mirroring(), *self._padding(), *self._cropping()]
        before = [self._decoding(), *self._resizing(), *drawn, self._sizing()]
        filling = self._filling()
        behind = [*self._values(), vision.HWC2CHW()]
        mean = self._mean_image()

        def stages(mean_of: MeanOf | None) -> Stages:
            values = [*mean(mean_of), *behind]
            return Stages(before, [*filling, *values]) if filling else Stages([*before, *values], [])

        return stages

    def _mean_image(self) -> KernelsOf:
        height, width = self._size
        means = {name: self._number(name) for name in _MEANS}
        return mean_subtraction(
            self._given["mean_img"], means, self._still_geometry, (height, width, self._channels), self._of
        )

    def _still_geometry(self) -> list[Kernel]:
        """Without random steps."""
        fixed = {"inter_method": _DEFAULTS["inter_method"]} if self._how.fixed is None else {}
        still = DetAugmentation({**self._given, **fixed}, self._data_shape, self._of)
        return [still._decoding(), *still._resizing(), still._sizing(), *still._filling()]

    def _decoding(self) -> Kernel:
        return vision.Decode(mode="RGB" if self._channels == 3 else "L", orientation=True)

    def _resizing(self) -> list[Kernel]:
        if self._given["resize"] == -1:
            return []
        shorter = options.whole("resize", self._given["resize"], 1, self._of)
        return [self._how.kernel(lambda how: vision.Resize(shorter, interpolation=how, antialias=False))]

    def _colours(self) -> list[Kernel]:
        return [*self._shifting(), *self._contrast()]

    def _shifting(self) -> list[Kernel]:
        most = [
            options.whole(f"max_random_{name}", self._given[f"max_random_{name}"], 0, self._of, limit)
            for name, limit in _HLS.items()
        ]
        chances = [self._share(f"random_{name}_prob") for name in _HLS]
        # What is shifted, and how likely exactly that is.
        subsets: list[tuple[list[int], float]] = [([], 1.0)]
        for which, (amount, chance) in enumerate(zip(most, chances, strict=True)):
            if amount > 0 and chance > 0:
                subsets = [
                    (with_it, p * q)
                    for now, p in subsets
                    for with_it, q in (([*now, which], chance), (now, 1 - chance))
                ]
        likely = [(shifted, p) for shifted, p in subsets if shifted and p > 0]
        if not likely:
            return []
        if self._channels != 3:
            raise GraphError(f"{self._of}: data_shape has {self._channels} channels, and hue and saturation are for 3")
        branches = [self._shift(shifted, most) for shifted, _ in likely]
        chosen = branches[0] if len(branches) == 1 else vision.RandomChoice(branches, [p for _, p in likely])
        return [vision.RandomApply([chosen], p=min(sum(p for _, p in likely), 1.0))]

    @staticmethod
    def _shift(shifted: Sequence[int], most: Sequence[int]) -> Kernel:
        return vision.RandomHls(*(most[i] if i in shifted else 0 for i in range(len(most))))

    def _contrast(self) -> list[Kernel]:
        most, chance = self._number("max_random_contrast", 0), self._share("random_contrast_prob")
        if most == 0 or chance == 0:
            return []
        # Rounded, halves up, and cut off.
        scaled = [vision.RandomRescale((1 - most, 1 + most), (0.5, 0.5)), T.TypeCast("uint8")]
        return [vision.RandomApply(scaled, p=chance)]

    def _mirroring(self) -> list[Kernel]:
        chance = self._share("rand_mirror_prob")
        return [vision.RandomHorizontalFlip(chance)] if chance > 0 else []

    def _padding(self) -> list[Kernel]:
        chance, most = self._share("rand_pad_prob"), self._number("max_pad_scale", 1)
        if chance == 0 or most <= _LEAST_PAD_SCALE:
            return []
        # A smaller factor is drawn as likely as it is in MXNet, and does nothing.
        chance *= (most - _LEAST_PAD_SCALE) / (most - 1)
        return [vision.RandomZoomOut(self._fill, (_LEAST_PAD_SCALE, most), chance)]

    def _cropping(self) -> list[Kernel]:
        chance = self._share("rand_crop_prob")
        samplers = options.whole("num_crop_sampler", self._given["num_crop_sampler"], _LEAST_INT, self._of)
        mode: Any = options.choice("crop_emit_mode", self._given["crop_emit_mode"], ("center", "overlap"), self._of)
        # As in MXNet, where the lists count for no sampler then.
        if samplers <= 0:
            return []
        lists = {name: self._of_samplers(name, samplers) for name in _SAMPLERS}
        if chance == 0:
            return []
        crop = vision.RandomConstrainedCrop(
            **lists, emit_mode=mode, emit_overlap_thresh=self._share("emit_overlap_thresh")
        )
        return [vision.RandomApply([crop], p=chance)]

    def _of_samplers(self, name: str, samplers: int) -> Any:
        given = self._given[name]
        listed = [*given] if isinstance(given, (list, tuple)) else [given]
        if len(listed) not in (1, samplers):
            raise GraphError(
                f"{self._of}: {name} has {len(listed)} numbers, and num_crop_sampler is {samplers}; give one, or one for each"
            )
        return tuple(listed)

    def _mode(self) -> str:
        return options.choice("resize_mode", self._given["resize_mode"], ("force", "shrink", "fit"), self._of)

    def _sizing(self) -> Kernel:
        mode = self._mode()

        def sized(how: Interpolation) -> Kernel:
            if mode == "force":
                return vision.Resize(self._size, interpolation=how, antialias=False)
            return vision.FitInside(self._size, enlarge=mode == "fit", interpolation=how, antialias=False)

        return self._how.kernel(sized)

    def _filling(self) -> list[Kernel]:
        """Beside an image that kept its ratio."""
        return [] if self._mode() == "force" else [T.PadEnd((*self._size, self._channels), self._fill)]

    def _values(self) -> list[Kernel]:
        means = [self._number(name) for name in _MEANS]
        deviations = [self._number(name) for name in _DEVIATIONS]
        if not all(deviation >= 0 for deviation in deviations):
            name, given = next(each for each in zip(_DEVIATIONS, deviations, strict=True) if not each[1] >= 0)
            raise GraphError(f"{self._of}: {name} is {given}; it must be at least 0")
        divisors = [deviation or 1.0 for deviation in deviations]
        return normalised(means[: self._channels], divisors[: self._channels], self._number("scale"), [])

    def _number(self, name: str, least: float = -math.inf) -> float:
        number = number_or_nan(self._given[name])
        if not math.isfinite(number) or number < least:
            from_on = "" if least == -math.inf else f" from {least} on"
            raise GraphError(f"{self._of}: {name} is {options.shown(self._given[name])}; it must be a number{from_on}")
        return number

    def _share(self, name: str) -> float:
        return share(name, self._given[name], self._of)
