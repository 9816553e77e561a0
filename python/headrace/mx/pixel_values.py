"""`Values` names the form of an image's values between two augmenters; the functions here convert where a kernel needs
another."""

import enum
from collections.abc import Sequence

from headrace import transforms as T
from headrace import vision
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError

__all__ = ["Steps", "Values", "as_reals", "interpolated", "on_levels"]


class Values(enum.Enum):
    """Of an image of shape (height, width, 3)."""

    BYTES = "uint8"
    CAST = "uint8, after a cast to float32 that is put off until a kernel needs it"
    REALS = "float32, 0 … 255, or what a function gave"
    NORMALIZED = "float32, less the mean and divided by the deviation"


Steps = tuple[list[Kernel], Values]
"""Kernels, and what the values are after them."""


def as_reals(values: Values) -> list[Kernel]:
    """Makes up for a cast that was put off."""
    return [T.TypeCast("float32")] if values is Values.CAST else []


def interpolated(kernels: Sequence[Kernel], values: Values) -> Steps:
    """Kernels that make new values between those of pixels."""
    return [*as_reals(values), *kernels], Values.REALS if values is Values.CAST else values


def on_levels(kernel: Kernel, values: Values, of: str) -> Steps:
    """A kernel that takes whole levels from 0 to 255: others are rounded, halves up, and cut off.

    Raises GraphError if the values are normalised.
    """
    if values is Values.NORMALIZED:
        raise GraphError(f"{of} takes values from 0 to 255; place it before ColorNormalizeAug")
    if values is Values.REALS:
        return [vision.Rescale(1.0, 0.5), T.TypeCast("uint8"), kernel, T.TypeCast("float32")], values
    return [kernel], values
