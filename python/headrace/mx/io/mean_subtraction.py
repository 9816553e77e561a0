"""`mean_subtraction` makes the kernel of the parameter `mean_img`. The mean image comes last, when all else is checked,
because making it may take long."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from headrace import vision
from headrace._arguments import options
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError

__all__ = ["KernelsOf", "MeanOf", "mean_subtraction"]

MeanOf: TypeAlias = Callable[[str, list[Kernel]], np.ndarray]
"""From the path of the mean image, and the kernels that give the images that it is made of, to the mean, of shape
(height, width, channels)."""
KernelsOf: TypeAlias = Callable[[MeanOf | None], list[Kernel]]
"""From what gives the mean image to the kernels; None: to such kernels with a mean of zeros, to check them by."""


def mean_subtraction(
    path: Any,
    means: Mapping[str, float],
    geometry: Callable[[], list[Kernel]],
    shape: tuple[int, int, int],
    of: str,
) -> KernelsOf:
    """What gives the kernel that subtracts the mean image, or none if `path` is empty.

    Args:
        path: The parameter mean_img.
        means: The parameters of a mean for each channel, beside which there is no mean image.
        geometry: Gives the kernels from encoded images to those that the mean is made of.
        shape: (height, width, channels).
        of: The iterator, for messages.

    Raises:
        GraphError: `path` is no path, or a channel has a mean, too.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise GraphError(f"{of}: mean_img is {options.shown(path)}; it must be a path")
    name = os.fsdecode(path)
    if not name:
        return lambda mean_of: []
    for channel, mean in means.items():
        if mean != 0:
            raise GraphError(f"{of}: mean_img is {name!r} and {channel} is {mean!r}; give one mean of the two kinds")
    images = geometry()

    def subtracted(mean_of: MeanOf | None) -> list[Kernel]:
        if mean_of is None:
            return [vision.SubtractImage(0, shape)]
        image = mean_of(name, images)
        return [vision.SubtractImage(image.ravel().tolist(), image.shape)]

    return subtracted
