"""Random arrays, as `mxnet.random` gives them: of one generator of this process, which `seed` sets. Iterators have a
`seed=` of their own."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from headrace._arguments import options
from headrace.errors import GraphError
from headrace.mx.context import Context
from headrace.mx.nd_array import NDArray, written

__all__ = ["exponential", "normal", "poisson", "randint", "randn", "seed", "shuffle", "uniform"]

_Shape = int | tuple[int, ...] | None


class _Draws:
    generator = np.random.default_rng(0)


def seed(seed_state: int, ctx: Context | str = "all") -> None:
    """Begins the random numbers of this module anew, whatever `ctx` is. Raises GraphError if `seed_state` is no whole
    number."""
    if isinstance(seed_state, bool) or not isinstance(seed_state, (int, np.integer)):
        raise GraphError(f"seed: seed_state is {options.shown(seed_state)}; it must be a whole number")
    _Draws.generator = np.random.default_rng(int(seed_state) % (1 << 64))


def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    shape: _Shape = None,
    dtype: DTypeLike = "float32",
    ctx: Context | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Numbers from `low` to below `high`."""
    return _made(lambda size: _Draws.generator.uniform(low, high, size), (low, high), shape, dtype, out)


def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    shape: _Shape = None,
    dtype: DTypeLike = "float32",
    ctx: Context | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Normally distributed numbers around `loc`, of the deviation `scale`."""
    return _made(lambda size: _Draws.generator.normal(loc, scale, size), (loc, scale), shape, dtype, out)


def randn(
    *shape: int,
    loc: Any = 0.0,
    scale: Any = 1.0,
    dtype: DTypeLike = "float32",
    ctx: Context | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """As `normal`, with the lengths of the axes one by one."""
    return normal(loc, scale, shape or None, dtype, ctx, out)


def exponential(
    scale: Any = 1.0,
    shape: _Shape = None,
    dtype: DTypeLike = "float32",
    ctx: Context | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Exponentially distributed numbers, whose mean is `scale`."""
    return _made(lambda size: _Draws.generator.exponential(scale, size), (scale,), shape, dtype, out)


def poisson(
    lam: Any = 1.0,
    shape: _Shape = None,
    dtype: DTypeLike = "float32",
    ctx: Context | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Numbers of events, whose mean is `lam`."""
    return _made(lambda size: _Draws.generator.poisson(lam, size), (lam,), shape, dtype, out)


def randint(
    low: int,
    high: int,
    shape: _Shape = None,
    dtype: DTypeLike = "int32",
    ctx: Context | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Whole numbers from `low` to below `high`."""
    return _made(lambda size: _Draws.generator.integers(low, high, size), (low, high), shape, dtype, out)


def shuffle(data: NDArray, out: NDArray | None = None) -> NDArray:
    """The rows of an array in a random order."""
    shuffled: NDArray = written(_Draws.generator.permutation(np.asarray(data)), out)
    return shuffled


def _made(draw: Any, parameters: tuple[Any, ...], shape: _Shape, dtype: DTypeLike, out: NDArray | None) -> NDArray:
    if shape is None and out is not None:
        shape = out.shape
    if shape is None and all(np.ndim(each) == 0 for each in parameters):
        shape = (1,)
    drawn = np.asarray(draw(shape))
    return written(drawn.astype(dtype) if out is None else drawn, out)  # type: ignore[no-any-return]
