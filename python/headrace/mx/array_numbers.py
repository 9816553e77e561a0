"""Computes with arrays, as functions of `mxnet.nd` do, in NumPy's types."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from headrace.mx.nd_array import written

__all__ = [
    "abs", "add", "argmax", "argmin", "argsort", "batch_dot", "broadcast_add", "broadcast_div", "broadcast_maximum",
    "broadcast_minimum", "broadcast_mul", "broadcast_sub", "ceil", "clip", "cos", "divide", "dot", "equal", "exp", "floor",
    "greater", "greater_equal", "lesser", "lesser_equal", "log", "max", "maximum", "mean", "min", "minimum", "modulo",
    "multiply", "norm", "not_equal", "power", "prod", "round", "sign", "sin", "sort", "sqrt", "square", "subtract", "sum",
    "waitall",
]  # fmt: skip

_Axis = int | tuple[int, ...] | None


def waitall() -> None:
    """Returns at once: all values are there."""


# ---- of each number ----


def _of_each(function: Callable[[Any], Any], name: str, doc: str) -> Callable[..., Any]:
    def of_each(data: ArrayLike, out: Any = None) -> Any:
        return written(function(np.asarray(data)), out)

    of_each.__name__ = of_each.__qualname__ = name
    of_each.__doc__ = doc
    return of_each


def _away_from_zero(values: np.ndarray[Any, Any]) -> Any:
    """Rounded, with halves away from 0."""
    return np.trunc(values + np.copysign(0.5, values)).astype(values.dtype)


abs = _of_each(np.abs, "abs", "Without signs.")
ceil = _of_each(np.ceil, "ceil", "The least whole numbers that are not below.")
cos = _of_each(np.cos, "cos", "Cosines.")
exp = _of_each(np.exp, "exp", "Powers of e.")
floor = _of_each(np.floor, "floor", "The greatest whole numbers that are not above.")
log = _of_each(np.log, "log", "Natural logarithms.")
round = _of_each(_away_from_zero, "round", "The nearest whole numbers, with halves away from 0.")
sign = _of_each(np.sign, "sign", "-1, 0 or 1.")
sin = _of_each(np.sin, "sin", "Sines.")
sqrt = _of_each(np.sqrt, "sqrt", "Square roots.")
square = _of_each(np.square, "square", "Each number times itself.")


def clip(data: ArrayLike, a_min: float, a_max: float, out: Any = None) -> Any:
    """Cut off at two bounds."""
    return written(np.clip(np.asarray(data), a_min, a_max), out)


# ---- of two arrays ----


def _of_two(function: Callable[[Any, Any], Any], name: str, doc: str) -> Callable[..., Any]:
    def of_two(lhs: Any, rhs: Any, out: Any = None) -> Any:
        return written(function(*_plain(lhs, rhs)), out)

    of_two.__name__ = of_two.__qualname__ = name
    of_two.__doc__ = doc
    return of_two


def _plain(*given: Any) -> list[Any]:
    """Arrays as NumPy's; a number of Python stays one, so that it does not change the type of the result."""
    return [each if isinstance(each, (int, float)) else np.asarray(each) for each in given]


def _compared(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """1 and 0 in the type of the numbers, as MXNet has them."""
    return lambda lhs, rhs: function(lhs, rhs).astype(np.result_type(lhs, rhs))


add = broadcast_add = _of_two(np.add, "add", "Sums.")
subtract = broadcast_sub = _of_two(np.subtract, "subtract", "Differences.")
multiply = broadcast_mul = _of_two(np.multiply, "multiply", "Products.")
divide = broadcast_div = _of_two(np.divide, "divide", "Quotients.")
modulo = _of_two(np.mod, "modulo", "What is left of a division.")
power = _of_two(np.power, "power", "Powers.")
maximum = broadcast_maximum = _of_two(np.maximum, "maximum", "The greater one of two numbers.")
minimum = broadcast_minimum = _of_two(np.minimum, "minimum", "The lesser one of two numbers.")
equal = _of_two(_compared(np.equal), "equal", "1 where two numbers are equal, else 0.")
not_equal = _of_two(_compared(np.not_equal), "not_equal", "1 where two numbers differ, else 0.")
greater = _of_two(_compared(np.greater), "greater", "1 where the first number is greater, else 0.")
greater_equal = _of_two(_compared(np.greater_equal), "greater_equal", "1 where the first number is not less, else 0.")
lesser = _of_two(_compared(np.less), "lesser", "1 where the first number is less, else 0.")
lesser_equal = _of_two(_compared(np.less_equal), "lesser_equal", "1 where the first number is not greater, else 0.")


def dot(lhs: ArrayLike, rhs: ArrayLike, transpose_a: bool = False, transpose_b: bool = False, out: Any = None) -> Any:
    """The product of matrices: the last axis of the first array with the first axis of the second."""
    left, right = np.asarray(lhs), np.asarray(rhs)
    if transpose_a:
        left = np.moveaxis(left, 0, -1)
    if transpose_b:
        right = np.moveaxis(right, -1, 0)
    return written(np.tensordot(left, right, 1), out)


def batch_dot(
    lhs: ArrayLike, rhs: ArrayLike, transpose_a: bool = False, transpose_b: bool = False, out: Any = None
) -> Any:
    """The products of as many matrices."""
    left, right = np.asarray(lhs), np.asarray(rhs)
    if transpose_a:
        left = np.swapaxes(left, -1, -2)
    if transpose_b:
        right = np.swapaxes(right, -1, -2)
    return written(np.matmul(left, right), out)


# ---- along axes ----


def _along(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    def along(
        data: ArrayLike, axis: _Axis = None, keepdims: bool = False, exclude: bool = False, out: Any = None
    ) -> Any:
        values = np.asarray(data)
        return written(function(values, axis=_axes(values, axis, exclude), keepdims=keepdims), out)

    along.__name__ = along.__qualname__ = name
    along.__doc__ = f"{doc} Along `axis`, all axes without it; `exclude`: along all others."
    return along


def _axes(values: np.ndarray[Any, Any], axis: Any, exclude: bool) -> Any:
    axes = tuple(axis) if isinstance(axis, list) else axis
    if axes == ():
        axes = None
    if not exclude or axes is None:
        return axes
    kept = {each % values.ndim for each in (axes if isinstance(axes, tuple) else (axes,))}
    return tuple(each for each in range(values.ndim) if each not in kept)


sum = _along(np.sum, "sum", "Sums.")
mean = _along(np.mean, "mean", "Means.")
max = _along(np.max, "max", "The greatest numbers.")
min = _along(np.min, "min", "The least numbers.")
prod = _along(np.prod, "prod", "Products.")


def norm(data: ArrayLike, ord: int = 2, axis: _Axis = None, keepdims: bool = False, out: Any = None) -> Any:
    """Roots of the sums of squares, or with `ord=1` sums without signs."""
    values = np.abs(np.asarray(data))
    axes = _axes(values, axis, False)
    if ord == 1:
        return written(np.sum(values, axis=axes, keepdims=keepdims), out)
    return written(np.sqrt(np.sum(np.square(values), axis=axes, keepdims=keepdims)), out)


def argmax(data: ArrayLike, axis: int | None = None, keepdims: bool = False, out: Any = None) -> Any:
    """Where the greatest number is, in float32 as MXNet has it."""
    return written(np.argmax(np.asarray(data), axis, keepdims=keepdims).astype(np.float32), out)


def argmin(data: ArrayLike, axis: int | None = None, keepdims: bool = False, out: Any = None) -> Any:
    """Where the least number is, in float32 as MXNet has it."""
    return written(np.argmin(np.asarray(data), axis, keepdims=keepdims).astype(np.float32), out)


def sort(data: ArrayLike, axis: int | None = -1, is_ascend: bool = True, out: Any = None) -> Any:
    """In order along an axis, or of all axes as one."""
    values = np.sort(np.asarray(data), axis)
    return written(values if is_ascend else np.flip(values, -1 if axis is None else axis).copy(), out)


def argsort(
    data: ArrayLike, axis: int | None = -1, is_ascend: bool = True, dtype: Any = "float32", out: Any = None
) -> Any:
    """Where the numbers are that `sort` gives."""
    values = np.asarray(data)
    places = np.argsort(values if is_ascend else -values.astype(np.float64), axis, kind="stable")
    return written(places.astype(dtype), out)
