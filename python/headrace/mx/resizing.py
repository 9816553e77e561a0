"""Resizes one image, by the numbers that MXNet has for interpolations."""

import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from headrace import vision
from headrace._arguments import options
from headrace.mx.given_interpolation import GivenInterpolation
from headrace.pack.interpolation_numbers import Interpolation

__all__ = ["resized"]


@functools.lru_cache(maxsize=256)
def _resize(height: int, width: int, interpolation: Interpolation) -> vision.Resize:
    # A kernel takes longer to make than to call for a small image.
    return vision.Resize((height, width), interpolation=interpolation, antialias=False)


def resized(src: ArrayLike, w: int, h: int, interp: int, of: str) -> np.ndarray[Any, np.dtype[Any]]:
    """An image of width `w` and height `h`. Raises UnsupportedError if `interp` is no number of an interpolation."""
    interpolation = GivenInterpolation(interp, "interp", of).now()
    height, width = options.whole("h", h, 1, of), options.whole("w", w, 1, of)
    image: np.ndarray[Any, np.dtype[Any]] = _resize(height, width, interpolation)(np.ascontiguousarray(src))
    return image
