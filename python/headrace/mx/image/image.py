"""Decodes, resizes and crops single images: functions of `mxnet.image`."""

import functools
import math
import os
import random
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from headrace import vision
from headrace._arguments import options
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole
from headrace.errors import GraphError
from headrace.mx.nd import NDArray, array
from headrace.mx.nd_array import written
from headrace.mx.resizing import resized

__all__ = [
    "center_crop",
    "color_normalize",
    "copyMakeBorder",
    "fixed_crop",
    "imdecode",
    "imread",
    "imresize",
    "random_crop",
    "random_size_crop",
    "resize_short",
    "scale_down",
]

Box = tuple[int, int, int, int]

# By OpenCV's number.
_BORDERS: tuple[Literal["constant", "edge", "symmetric", "wrap", "reflect"], ...] = (
    "constant",
    "edge",
    "symmetric",
    "wrap",
    "reflect",
)
_TRIES = 10
# Channels of OpenCV's Scalar.
_SCALAR = 4

# Kernels, which take longer to make than to call for a small image.


@functools.lru_cache
def _decode(mode: Literal["RGB", "L"]) -> vision.Decode:
    return vision.Decode(mode=mode, orientation=True)


def imdecode(
    buf: bytes | bytearray | memoryview | np.ndarray, flag: int = 1, to_rgb: bool = True, out: Any = None
) -> NDArray:
    """An encoded image as uint8, turned as its EXIF orientation says: of any format that `V.Decode` reads.

    Args:
        buf: The encoded image: bytes, or an array of them.
        flag: 1: three channels; 0: one, grey.
        to_rgb: Whether the channels are red, green, blue, else blue, green, red.
        out: The array that is written, and returned; None: a new one.

    Raises:
        DataError: The image is damaged, or of another format.
        GraphError: buf is something else, or flag another number.
    """
    if not isinstance(buf, (bytes, bytearray, memoryview, np.ndarray)):
        raise GraphError(
            f"imdecode: buf is {options.shown(buf)}; it must be the bytes of an image, or an array of them; imread reads a "
            "file"
        )
    if flag not in (0, 1):
        raise GraphError(f"imdecode: flag is {options.shown(flag)}; it must be 1 (colour) or 0 (grey)")
    encoded = np.ascontiguousarray(buf).tobytes() if isinstance(buf, np.ndarray) else bytes(buf)
    image: np.ndarray = _decode("RGB" if flag else "L")(encoded)
    return _given(image if to_rgb or not flag else np.ascontiguousarray(image[:, :, ::-1]), out, "imdecode")


def imread(filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True, out: Any = None) -> NDArray:
    """The image in a file, as `imdecode` gives it. Raises NotFoundError if it is not there."""
    try:
        encoded = read_whole(filename)
    except OSError as raised:
        raise system_error(f"cannot read {os.fspath(filename)}", raised) from None
    return imdecode(encoded, flag, to_rgb, out)


def imresize(src: ArrayLike, w: int, h: int, interp: int = 1, out: Any = None) -> NDArray:
    """Resized to width `w` and height `h`, with the pixels of OpenCV.

    Args:
        src: uint8 or float32.
        w: The width.
        h: The height.
        interp: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 by the sizes, 10 one of 0 to 4, which Python's `random`
            draws.
        out: The array that is written, and returned; None: a new one.

    Raises:
        GraphError: `out` has another shape than the result, or a type that does not hold it.
        UnsupportedError: `interp` is another number.
    """
    return _given(resized(src, w, h, interp, "imresize"), out, "imresize")


def resize_short(src: np.ndarray, size: int, interp: int = 2) -> NDArray:
    """Resized so that the shorter side has `size` pixels, and the longer one follows in proportion, truncated."""
    height, width = src.shape[:2]
    if height > width:
        return imresize(src, size, size * height // width, interp)
    return imresize(src, size * width // height, size, interp)


def _get_interp_method(interp: int, sizes: Sequence[int] = ()) -> int:
    """The number of the interpolation, 0 to 4, that `interp` means between `sizes`: the height and the width before, and
    those after it. A private name of MXNet's, which scripts import."""
    if interp == 10:
        return random.randint(0, 4)
    if interp != 9:
        return interp
    if len(sizes) != 4:
        return 2
    height, width, to_height, to_width = sizes
    if to_height > height and to_width > width:
        return 2
    return 3 if to_height < height and to_width < width else 1


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
    """The rectangle at column `x0` and row `y0`, resized to `size` (width, height) if that is given: an array of its own. What
    lies right of the image or below it is cut off. Raises GraphError if it begins outside of the image, or has no pixel."""
    left, top = options.whole("x0", x0, 0, "fixed_crop"), options.whole("y0", y0, 0, "fixed_crop")
    columns, rows = options.whole("w", w, 0, "fixed_crop"), options.whole("h", h, 0, "fixed_crop")
    cut = src[top : top + rows, left : left + columns]
    if cut.size == 0:
        raise GraphError(
            f"fixed_crop: no pixel of an image of {src.shape[1]} x {src.shape[0]} is at x0={left}, y0={top} with w={columns} "
            f"and h={rows}"
        )
    if size is None or (w, h) == tuple(size):
        return np.array(cut).view(NDArray)
    return imresize(cut, *size, interp=interp)


def center_crop(src: np.ndarray, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, Box]:
    """The middle of the image, and where it was: (x0, y0, width, height).

    An image smaller than `size` (width, height) gives the largest part in that ratio, enlarged.
    """
    return _crop(src, size, interp, lambda room: room // 2)


def random_crop(src: np.ndarray, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, Box]:
    """As `center_crop` at a random place, which Python's `random` draws."""
    return _crop(src, size, interp, lambda room: random.randint(0, room))


def random_size_crop(
    src: np.ndarray,
    size: tuple[int, int],
    area: float | tuple[float, float],
    ratio: tuple[float, float],
    interp: int = 2,
) -> tuple[NDArray, Box]:
    """A part of random area and ratio, resized to `size` (width, height), and where it was: (x0, y0, width, height).

    Python's `random` draws it. An image in which none of ten draws fits gives the part in its middle, as `center_crop`.

    Args:
        src: The image.
        size: (width, height) of the result.
        area: The least and the greatest share of the image's area; a number is the least, and the greatest is 1.
        ratio: The least and the greatest width over height, whose logarithm is uniform.
        interp: As for `imresize`.
    """
    height, width = src.shape[:2]
    least, greatest = area if isinstance(area, Sequence) else (area, 1.0)
    for _ in range(_TRIES):
        drawn = random.uniform(least, greatest) * height * width
        sides = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(drawn * sides)), round(math.sqrt(drawn / sides))
        if w <= width and h <= height:
            x0, y0 = random.randint(0, width - w), random.randint(0, height - h)
            return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)
    return center_crop(src, size, interp)


def copyMakeBorder(
    src: np.ndarray,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0,
    values: Sequence[float] | np.ndarray = (),
    out: Any = None,
) -> NDArray:
    """The image with a border around it.

    Args:
        src: The image.
        top: Rows above it.
        bot: Rows below it.
        left: Columns to the left of it.
        right: Columns to the right of it.
        type: What the border holds: 0 `values`, 1 the nearest pixel, 2 the mirrored image, 3 the image again, 4 the
            mirrored image without its edge.
        value: One number for all channels; for pixels of integers it is rounded, and cut off to their range.
        values: In its place, one for each channel; channels beyond them get 0.
        out: The array that is written, and returned; None: a new one.
    """
    if type not in range(len(_BORDERS)):
        raise GraphError(f"copyMakeBorder: type is {options.shown(type)}; it must be 0 to {len(_BORDERS) - 1}")
    for name, margin in (("top", top), ("bot", bot), ("left", left), ("right", right)):
        options.whole(name, margin, 0, "copyMakeBorder")
    margins = ((top, bot), (left, right), *((0, 0),) * (src.ndim - 2))
    if type > 0:
        return _given(np.pad(src, margins, mode=_BORDERS[type]), out, "copyMakeBorder")
    channels = src.shape[2] if src.ndim > 2 else 1
    filling = np.full(channels, value, np.float64)
    if len(values) > 0:
        if len(values) > max(channels, _SCALAR):
            raise GraphError(f"copyMakeBorder: there are {len(values)} values; the image has {channels} channels")
        filling = np.append(values, np.zeros(channels))[:channels]
    padded = np.empty((top + src.shape[0] + bot, left + src.shape[1] + right, *src.shape[2:]), src.dtype)
    padded[...] = _saturated(filling, src.dtype)
    padded[top : top + src.shape[0], left : left + src.shape[1]] = src
    return _given(padded, out, "copyMakeBorder")


def _given(image: np.ndarray, out: Any, of: str) -> NDArray:
    """The image, or `out` with its pixels. Raises GraphError if it does not hold them."""
    try:
        given: NDArray = written(image, out)
    except GraphError as error:
        raise GraphError(f"{of}: {error}") from None
    return given


def _saturated(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """As OpenCV's saturate_cast."""
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return values.astype(dtype)


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
