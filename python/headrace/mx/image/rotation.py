"""Turns images of shape (channels, height, width), as `mxnet.image.imrotate` does."""

from numbers import Number
from typing import Any

import numpy as np

from headrace._arguments import options
from headrace.errors import GraphError
from headrace.mx.nd import NDArray

__all__ = ["imrotate", "random_rotate"]

_Array = np.ndarray[Any, np.dtype[Any]]


def imrotate(src: _Array, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """Images turned about their middle, of the same size. Beyond the image all is 0, and pixels are bilinear.

    Args:
        src: float32 of shape (channels, height, width), or a batch of such images.
        rotation_degrees: A number, counter-clockwise above 0; for a batch also one for each image.
        zoom_in: Enlarges so that nothing beyond the image is seen.
        zoom_out: Reduces so that all of the image is seen.

    Raises:
        GraphError: Both zooms, another number of axes, or another number of angles than images.
        TypeError: Another type than float32, or several angles for one image.
    """
    src = np.asarray(src)
    if zoom_in and zoom_out:
        raise GraphError("imrotate: zoom_in and zoom_out are both True; give one of them")
    if src.dtype != np.float32:
        raise TypeError(f'imrotate: src is {src.dtype}; it must be float32, as by src.astype("float32")')
    if src.ndim == 3:
        if not isinstance(rotation_degrees, Number) and np.ndim(rotation_degrees) > 0:
            raise TypeError(
                f"imrotate: rotation_degrees is {options.shown(rotation_degrees)}; one image takes one number"
            )
        return imrotate(src[None], rotation_degrees, zoom_in, zoom_out)[0]  # type: ignore[no-any-return]
    if src.ndim != 4:
        raise GraphError(
            f"imrotate: src has {src.ndim} axes; it must be (channels, height, width), or a batch of such images"
        )
    angles = np.asarray(rotation_degrees, np.float64)
    if angles.ndim == 0:
        angles = np.repeat(angles, len(src))
    if angles.shape != (len(src),):
        raise GraphError(f"imrotate: there are {len(src)} images, and rotation_degrees has shape {angles.shape}")
    turned = np.empty_like(src)
    for image, degrees, to in zip(src, angles, turned, strict=True):
        to[...] = _sampled(image, *_places(image.shape[1:], np.deg2rad(degrees), zoom_in, zoom_out))
    return turned.view(NDArray)


def random_rotate(
    src: _Array, angle_limits: tuple[float, float], zoom_in: bool = False, zoom_out: bool = False
) -> NDArray:
    """As `imrotate`, by angles between two limits, which NumPy's global generator draws: one for each image."""
    shape = np.shape(src)
    return imrotate(
        src, np.random.uniform(*angle_limits, size=shape[0] if len(shape) == 4 else None), zoom_in, zoom_out
    )


def _places(size: tuple[int, ...], angle: Any, zoom_in: bool, zoom_out: bool) -> tuple[_Array, _Array]:
    """Where in the image each pixel of the result lies."""
    height, width = size
    middle_y, middle_x = (height - 1) / 2, (width - 1) / 2
    y, x = np.ogrid[:height, :width]
    scale = _scale(height, width, angle, zoom_in, zoom_out)
    cos, sin = np.cos(angle) * scale, np.sin(angle) * scale
    down, right = y - middle_y, x - middle_x
    return right * sin + down * cos + middle_y, right * cos - down * sin + middle_x


def _scale(height: int, width: int, angle: Any, zoom_in: bool, zoom_out: bool) -> Any:
    """Pixels of the image for one of the result."""
    if not zoom_in and not zoom_out:
        return 1.0
    cos, sin = abs(np.cos(angle)), abs(np.sin(angle))
    # What the turned rectangle spans, by its sides.
    wide, high = (width * cos + height * sin) / width, (width * sin + height * cos) / height
    return max(wide, high) if zoom_out else min(1 / wide, 1 / high)


def _sampled(image: _Array, y: _Array, x: _Array) -> _Array:
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    total = np.zeros(image.shape, np.float64)
    for row, weight_y in ((top, top + 1 - y), (top + 1, y - top)):
        for column, weight_x in ((left, left + 1 - x), (left + 1, x - left)):
            total += weight_y * weight_x * _pixels(image, row, column)
    return total


def _pixels(image: _Array, row: _Array, column: _Array) -> _Array:
    """0 beyond the image."""
    height, width = image.shape[1:]
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    found: _Array = np.where(inside, image[:, np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)], 0)
    return found
