"""Makes arrays, as functions of `mxnet.nd` do."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from headrace.mx.context import Context
from headrace.mx.nd_array import NDArray, with_methods, written

__all__ = [
    "arange",
    "array",
    "empty",
    "eye",
    "from_numpy",
    "full",
    "linspace",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

_Shape = int | tuple[int, ...]


def array(source_array: ArrayLike, ctx: Context | None = None, dtype: DTypeLike | None = None) -> NDArray:
    """An array with the values of `source_array`: of `dtype`; None: that of an NDArray, and float32 for all else."""
    if dtype is None:
        dtype = source_array.dtype if isinstance(source_array, NDArray) else np.float32
    return np.array(source_array, dtype).view(NDArray)


def from_numpy(ndarray: np.ndarray[Any, np.dtype[Any]], zero_copy: bool = True) -> NDArray:
    """An array of the same memory, or with `zero_copy=False` of its own."""
    return with_methods(ndarray if zero_copy else np.array(ndarray))


def empty(shape: _Shape, ctx: Context | None = None, dtype: DTypeLike = np.float32) -> NDArray:
    """An array to be written: of zeros, where MXNet's has whatever the memory held."""
    return with_methods(np.zeros(shape, dtype))


def zeros(shape: _Shape, ctx: Context | None = None, dtype: DTypeLike = np.float32, out: Any = None) -> NDArray:
    """An array of zeros."""
    return full(shape, 0, ctx, dtype, out)


def ones(shape: _Shape, ctx: Context | None = None, dtype: DTypeLike = np.float32, out: Any = None) -> NDArray:
    """An array of ones."""
    return full(shape, 1, ctx, dtype, out)


def full(
    shape: _Shape, val: Any, ctx: Context | None = None, dtype: DTypeLike = np.float32, out: Any = None
) -> NDArray:
    """An array in which each number is `val`."""
    made: NDArray = written(np.full(shape, val, dtype), out)
    return made


def zeros_like(data: ArrayLike) -> NDArray:
    """Zeros of the shape and type of `data`."""
    return with_methods(np.zeros_like(np.asarray(data)))


def ones_like(data: ArrayLike) -> NDArray:
    """Ones of the shape and type of `data`."""
    return with_methods(np.ones_like(np.asarray(data)))


def eye(N: int, M: int = 0, k: int = 0, ctx: Context | None = None, dtype: DTypeLike = np.float32) -> NDArray:
    """`N` rows of `M` numbers, or `N` without it: 1 on the diagonal that is `k` right of the main one, else 0."""
    return with_methods(np.eye(N, M or None, k, dtype))


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: DTypeLike = np.float32,
) -> NDArray:
    """Numbers from `start` to below `stop`, or to below `start` from 0, each of them `repeat` times."""
    values = np.arange(start, step=step) if stop is None else np.arange(start, stop, step)
    return with_methods(np.repeat(values, repeat).astype(dtype))


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Context | None = None,
    dtype: DTypeLike = np.float32,
) -> NDArray:
    """`num` numbers at even distances."""
    return with_methods(np.linspace(start, stop, num, endpoint).astype(dtype))
