"""Functions of `mxnet.nd.image`: on one image of shape (height, width, channels), or a batch of them."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from headrace.errors import GraphError
from headrace.mx.nd_array import written
from headrace.mx.resizing import resized

__all__ = [
    "crop",
    "flip_left_right",
    "flip_top_bottom",
    "normalize",
    "random_flip_left_right",
    "random_flip_top_bottom",
    "resize",
    "to_tensor",
]


def to_tensor(data: ArrayLike, out: Any = None) -> Any:
    """Channels first, and 0 … 1 in float32 for bytes: each number is divided by 255."""
    values = np.moveaxis(np.asarray(data), -1, -3).astype(np.float32)
    return written(np.ascontiguousarray(values / np.float32(255)), out)


def normalize(data: ArrayLike, mean: Any = 0.0, std: Any = 1.0, out: Any = None) -> Any:
    """`(data - mean) / std` of float32 with the channels first; each a number, or one for each channel."""
    values = np.asarray(data, np.float32)
    by_channel = [np.reshape(np.asarray(each, np.float32), (-1, 1, 1)) for each in (mean, std)]
    return written((values - by_channel[0]) / by_channel[1], out)


def crop(data: ArrayLike, x: int, y: int, width: int, height: int, out: Any = None) -> Any:
    """The rectangle at column `x` and row `y`. Raises GraphError if it is not inside of the image."""
    values = np.asarray(data)
    rows, columns = values.shape[-3:-1]
    if x < 0 or y < 0 or x + width > columns or y + height > rows or width < 1 or height < 1:
        raise GraphError(
            f"crop: x={x}, y={y}, width={width}, height={height} is not inside of an image of {columns} x {rows}"
        )
    return written(values[..., y : y + height, x : x + width, :].copy(), out)


def resize(
    data: ArrayLike, size: int | Sequence[int], keep_ratio: bool = False, interp: int = 1, out: Any = None
) -> Any:
    """Resized to `size` (width, height), as `mx.image.imresize` does. A number: to a square, or with `keep_ratio` the
    shorter side to it."""
    values = np.asarray(data)
    rows, columns = values.shape[-3:-1]
    if isinstance(size, int) and keep_ratio:
        width, height = (size * columns // rows, size) if rows < columns else (size, size * rows // columns)
    else:
        width, height = (size, size) if isinstance(size, int) else (size[0], size[-1])
    if values.ndim == 3:
        return written(resized(values, width, height, interp, "resize"), out)
    return written(np.stack([resized(each, width, height, interp, "resize") for each in values]), out)


def flip_left_right(data: ArrayLike, out: Any = None) -> Any:
    """Left and right exchanged."""
    return written(np.flip(np.asarray(data), -2).copy(), out)


def flip_top_bottom(data: ArrayLike, out: Any = None) -> Any:
    """Top and bottom exchanged."""
    return written(np.flip(np.asarray(data), -3).copy(), out)


def random_flip_left_right(data: ArrayLike, p: float = 0.5, out: Any = None) -> Any:
    """Left and right exchanged with the probability `p`, for which Python's `random` draws."""
    return flip_left_right(data, out) if random.random() < p else written(np.array(data), out)


def random_flip_top_bottom(data: ArrayLike, p: float = 0.5, out: Any = None) -> Any:
    """Top and bottom exchanged with the probability `p`, for which Python's `random` draws."""
    return flip_top_bottom(data, out) if random.random() < p else written(np.array(data), out)
