"""Rearranges and selects the numbers of arrays, as functions of `mxnet.nd` do: each gives an array of its own."""

import builtins
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from headrace._arguments import options
from headrace.errors import GraphError
from headrace.mx.coded_shape import coded_shape
from headrace.mx.nd_array import NDArray, written

__all__ = [
    "broadcast_to", "cast", "concat", "concatenate", "expand_dims", "flatten", "flip", "moveaxis", "one_hot", "pad",
    "pick", "repeat", "reshape", "reverse", "slice", "slice_axis", "split", "squeeze", "stack", "swapaxes", "take",
    "tile", "transpose", "where",
]  # fmt: skip

_PADDING: dict[str, Any] = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


def cast(data: ArrayLike, dtype: DTypeLike, out: Any = None) -> Any:
    """Of another type."""
    return written(np.asarray(data).astype(dtype), out)


def reshape(data: ArrayLike, shape: Sequence[int], out: Any = None) -> Any:
    """Of another shape, by the codes of `NDArray.reshape`."""
    return written(np.array(data).reshape(coded_shape(np.shape(data), tuple(shape))), out)


def flatten(data: ArrayLike, out: Any = None) -> Any:
    """Of two axes: the first one, and all others as one."""
    return written(np.array(data).reshape(len(np.asarray(data)), -1), out)


def expand_dims(data: ArrayLike, axis: int, out: Any = None) -> Any:
    """With an axis of length 1 at `axis`."""
    return written(np.expand_dims(np.array(data), axis), out)


def squeeze(data: ArrayLike, axis: int | tuple[int, ...] | None = None, out: Any = None) -> Any:
    """Without axes of length 1: those in `axis`, or all."""
    return written(np.squeeze(np.array(data), axis), out)


def transpose(data: ArrayLike, axes: Sequence[int] | None = None, out: Any = None) -> Any:
    """With the axes in another order, or the opposite one."""
    return written(np.ascontiguousarray(np.transpose(np.asarray(data), axes or None)), out)


def swapaxes(data: ArrayLike, dim1: int = 0, dim2: int = 0, out: Any = None) -> Any:
    """With two axes exchanged."""
    return written(np.ascontiguousarray(np.swapaxes(np.asarray(data), dim1, dim2)), out)


def moveaxis(data: ArrayLike, source: Any, destination: Any) -> Any:
    """With axes at other places."""
    return written(np.ascontiguousarray(np.moveaxis(np.asarray(data), source, destination)), None)


def flip(data: ArrayLike, axis: int | tuple[int, ...], out: Any = None) -> Any:
    """In the opposite order along `axis`."""
    return written(np.flip(np.asarray(data), axis).copy(), out)


reverse = flip


def tile(data: ArrayLike, reps: int | tuple[int, ...], out: Any = None) -> Any:
    """Repeated along each axis."""
    return written(np.tile(np.asarray(data), reps), out)


def repeat(data: ArrayLike, repeats: int, axis: int | None = None, out: Any = None) -> Any:
    """Each element so many times, along an axis, or of all axes as one."""
    return written(np.repeat(np.asarray(data), repeats, axis), out)


def broadcast_to(data: ArrayLike, shape: tuple[int, ...], out: Any = None) -> Any:
    """Of that shape, with axes of length 1 repeated; 0 keeps an axis."""
    return written(np.asarray(data).view(NDArray).broadcast_to(shape), out)


def pad(
    data: ArrayLike,
    mode: Literal["constant", "edge", "reflect"] = "constant",
    pad_width: Sequence[int] = (),
    constant_value: float = 0,
    out: Any = None,
) -> Any:
    """With a border.

    Args:
        data: The array.
        mode: What the border holds: `constant_value`, the nearest number, or the mirrored array.
        pad_width: For each axis what is added before and after it, one after the other.
        constant_value: The number of a constant border.
        out: The array that is written, and returned; None: a new one.
    """
    how = _PADDING[options.choice("mode", mode, tuple(_PADDING), "pad")]
    if len(pad_width) != 2 * np.ndim(data):
        raise GraphError(
            f"pad: pad_width is {tuple(pad_width)}; the array has {np.ndim(data)} axes, and each takes two numbers"
        )
    widths = np.reshape(np.asarray(pad_width, np.int64), (-1, 2))
    filling = {"constant_values": constant_value} if how == "constant" else {}
    return written(np.pad(np.asarray(data), widths, how, **filling), out)


def concat(*data: Any, dim: int = 1, out: Any = None) -> Any:
    """Arrays end to end along an axis."""
    return written(np.concatenate(_listed(data), dim), out)


def concatenate(arrays: Sequence[Any], axis: int = 0, always_copy: bool = True) -> Any:
    """A list of arrays end to end along an axis."""
    return written(np.concatenate(_listed(arrays), axis), None)


def stack(*data: Any, axis: int = 0, out: Any = None) -> Any:
    """Arrays of one shape along a new axis."""
    return written(np.stack(_listed(data), axis), out)


def split(data: ArrayLike, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """A list of equal parts along an axis, without it with `squeeze_axis`; one part is an array, not a list."""
    return np.asarray(data).view(NDArray).split(num_outputs, axis, squeeze_axis)


def slice_axis(data: ArrayLike, axis: int, begin: int, end: int | None, out: Any = None) -> Any:
    """The part from `begin` to below `end` along an axis."""
    return written(np.asarray(data).view(NDArray).slice_axis(axis, begin, end), out)


def slice(
    data: ArrayLike, begin: Sequence[Any], end: Sequence[Any], step: Sequence[Any] | None = None, out: Any = None
) -> Any:
    """The part from `begin` to below `end`, which name a place on each of the first axes."""
    steps = step or (None,) * len(begin)
    places = (builtins.slice(*each) for each in zip(begin, end, steps, strict=True))
    return written(np.asarray(data)[tuple(places)].copy(), out)


def take(
    a: ArrayLike, indices: ArrayLike, axis: int = 0, mode: Literal["clip", "wrap", "raise"] = "clip", out: Any = None
) -> Any:
    """The elements at `indices` along an axis. Those beyond are the last ones, or with "wrap" counted anew."""
    return written(np.take(np.asarray(a), np.asarray(indices).astype(np.int64), axis, mode=mode), out)


def pick(data: ArrayLike, index: ArrayLike, axis: int = -1, keepdims: bool = False, out: Any = None) -> Any:
    """One element along an axis for each place of the others: that at `index`, or the last one if it is beyond."""
    values = np.asarray(data)
    at = np.clip(np.asarray(index).astype(np.int64), 0, values.shape[axis] - 1)
    found = np.take_along_axis(values, at if at.ndim == values.ndim else np.expand_dims(at, axis), axis)
    return written(found if keepdims else np.squeeze(found, axis), out)


def one_hot(
    indices: ArrayLike,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DTypeLike = "float32",
    out: Any = None,
) -> Any:
    """With an axis of length `depth` at the end, which has `on_value` at the index, and `off_value` elsewhere."""
    at = np.asarray(indices).astype(np.int64)
    return written(np.where(at[..., None] == np.arange(depth), on_value, off_value).astype(dtype), out)


def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, out: Any = None) -> Any:
    """The numbers of `x` where the condition is not 0, else those of `y`; a condition of one axis decides rows."""
    decides = np.asarray(condition) != 0
    if decides.ndim == 1 and np.ndim(x) > 1:
        decides = decides.reshape(-1, *(1,) * (np.ndim(x) - 1))
    return written(np.where(decides, np.asarray(x), np.asarray(y)), out)


def _listed(data: Sequence[Any]) -> list[Any]:
    """Arrays that are given one by one, or as a list."""
    given = data[0] if len(data) == 1 and isinstance(data[0], (list, tuple)) else data
    return [np.asarray(each) for each in given]
