"""`ImageSteps` is what all configs become: moves of pixels, then arithmetic on their values, then a border."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from headrace import vision
from headrace._kernels.kernel import Kernel

__all__ = ["ImageSteps", "PixelValues"]


@dataclass(frozen=True)
class PixelValues:
    """(x - mean) / std, with one number or one a channel: the product of all rescalings and normalisations, in the units
    of the decoded image."""

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)

    def rescaled(self, factor: float) -> PixelValues:
        return PixelValues(self.mean, tuple(std / factor for std in self.std))

    def shifted(self, shift: float) -> PixelValues:
        return self.normalized((-shift,), (1.0,))

    def normalized(self, mean: Sequence[float], std: Sequence[float]) -> PixelValues:
        channels = max(len(self.mean), len(self.std), len(mean), len(std))
        means, stds, then_means, then_stds = (
            tuple(each) * (channels if len(each) == 1 else 1) for each in (self.mean, self.std, mean, std)
        )
        return PixelValues(
            tuple(first + then * scale for first, then, scale in zip(means, then_means, stds, strict=True)),
            tuple(scale * then for scale, then in zip(stds, then_stds, strict=True)),
        )

    def kernels(self) -> list[Kernel]:
        if set(self.mean) == {0.0} and len(set(self.std)) == 1:
            return [] if self.std[0] == 1.0 else [vision.Rescale(1.0 / self.std[0])]
        return [vision.Normalize(_alone(self.mean), _alone(self.std))]


def _alone(numbers: tuple[float, ...]) -> float | list[float]:
    """Numbers of pixels are whole as a rule, so that rounding in the last place is taken off."""
    rounded = [round(number, 12) if math.isfinite(number) else number for number in numbers]
    return rounded[0] if len(rounded) == 1 else rounded


@dataclass
class ImageSteps:
    """A picture's way to a tensor: decoded, moved, of the order of colours, of the values, with a border, channels first."""

    moves: list[Kernel] = field(default_factory=list)
    bgr: bool = False
    values: PixelValues = PixelValues()
    border: list[Kernel] = field(default_factory=list)

    def kernels(self) -> list[Kernel]:
        turned = [vision.ConvertColor("RGB", "BGR")] if self.bgr else []
        return [vision.Decode(), *self.moves, *turned, *self.values.kernels(), *self.border, vision.HWC2CHW()]
