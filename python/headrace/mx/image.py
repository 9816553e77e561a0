"""Functions on single pictures, as `mxnet.image` has them: arrays of shape (height, width, channels), in the order red,
green, blue. Batches are made by `mx.io.ImageRecordIter` and by pipelines, which run these steps without Python."""

import os
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from headrace import options, vision
from headrace.errors import GraphError, UnsupportedError
from headrace.interpolation_numbers import INTERPOLATIONS, NUMBERS
from headrace.mx.nd import NDArray, array
from headrace.system_error import system_error
from headrace.whole_file import read_whole

__all__ = [
    "center_crop",
    "color_normalize",
    "fixed_crop",
    "imdecode",
    "imread",
    "imresize",
    "random_crop",
    "resize_short",
    "scale_down",
]

Box = tuple[int, int, int, int]


def imdecode(buf: bytes | bytearray | np.ndarray, flag: int = 1, to_rgb: bool = True) -> NDArray:
    """A JPEG or PNG as uint8, turned as its EXIF orientation says.

    Args:
        buf: The encoded picture: bytes, or an array of them.
        flag: 1: three channels; 0: one, grey.
        to_rgb: Whether the channels are red, green, blue, else blue, green, red.

    Raises:
        DataError: The picture is damaged, or of another format.
    """
    if flag not in (0, 1):
        raise GraphError(f"imdecode: flag is {options.shown(flag)}; it must be 1 (colour) or 0 (grey)")
    encoded = np.ascontiguousarray(buf).tobytes() if isinstance(buf, np.ndarray) else bytes(buf)
    picture: np.ndarray = vision.Decode(mode="RGB" if flag else "L", orientation=True)(encoded)
    return (picture if to_rgb or not flag else np.ascontiguousarray(picture[:, :, ::-1])).view(NDArray)


def imread(filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True) -> NDArray:
    """The picture in a file, as `imdecode` gives it. Raises NotFoundError if it is not there."""
    try:
        encoded = read_whole(filename)
    except OSError as raised:
        raise system_error(f"cannot read {os.fspath(filename)}", raised) from None
    return imdecode(encoded, flag, to_rgb)


def imresize(src: ArrayLike, w: int, h: int, interp: int = 1) -> NDArray:
    """Resized to width `w` and height `h`, with the pixels of OpenCV.

    Args:
        src: uint8 or float32.
        w: The width.
        h: The height.
        interp: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by the sizes.

    Raises:
        UnsupportedError: `interp` is 10 (random).
    """
    if interp not in INTERPOLATIONS:
        raise UnsupportedError(f"imresize: interp is {options.shown(interp)}; it must be {NUMBERS}")
    resize = vision.Resize((h, w), interpolation=INTERPOLATIONS[interp], antialias=False)
    resized: np.ndarray = resize(np.ascontiguousarray(src))
    return resized.view(NDArray)


def resize_short(src: np.ndarray, size: int, interp: int = 2) -> NDArray:
    """Resized so that the shorter side has `size` pixels, and the longer one follows in proportion, truncated."""
    height, width = src.shape[:2]
    if height > width:
        return imresize(src, size, size * height // width, interp)
    return imresize(src, size * width // height, size, interp)


def scale_down(src_size: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """The largest (width, height) in the ratio of `size`, but not above it, that fits into `src_size`."""
    width, height = float(size[0]), float(size[1])
    if src_size[1] < height:
        width, height = width * src_size[1] / height, src_size[1]
    if src_size[0] < width:
        width, height = src_size[0], height * src_size[0] / width
    return int(width), int(height)


def fixed_crop(
    src: np.ndarray, x0: int, y0: int, w: int, h: int, size: tuple[int, int] | None = None, interp: int = 2
) -> NDArray:
    """The rectangle at column `x0` and row `y0`, resized to `size` (width, height) if that is given."""
    cut = src[y0 : y0 + h, x0 : x0 + w]
    return cut.view(NDArray) if size is None or (w, h) == tuple(size) else imresize(cut, *size, interp=interp)


def center_crop(src: np.ndarray, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, Box]:
    """The middle of the picture, and where it was: (x0, y0, width, height).

    A picture smaller than `size` (width, height) gives the largest part in that ratio, enlarged.
    """
    return _crop(src, size, interp, lambda room: room // 2)


def random_crop(src: np.ndarray, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, Box]:
    """As `center_crop` at a random place, which Python's `random` draws."""
    return _crop(src, size, interp, lambda room: random.randint(0, room))


def color_normalize(src: ArrayLike, mean: Any, std: Any = None) -> NDArray:
    """`(src - mean) / std` in float32; None leaves a step out. MXNet changes `src` itself, this gives a new array."""
    values = array(src, dtype=np.float32)
    if mean is not None:
        values -= np.asarray(mean, np.float32)
    if std is not None:
        values /= np.asarray(std, np.float32)
    return values


def _crop(src: np.ndarray, size: Sequence[int], interp: int, place: Any) -> tuple[NDArray, Box]:
    height, width = src.shape[:2]
    wanted = (size[0], size[1])
    w, h = scale_down((width, height), wanted)
    x0, y0 = place(width - w), place(height - h)
    return fixed_crop(src, x0, y0, w, h, wanted, interp), (x0, y0, w, h)
