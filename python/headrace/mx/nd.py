"""Arrays as scripts for MXNet expect them: NumPy arrays with the methods of `mxnet.nd.NDArray` that loading code calls,
the functions that it calls; and MXNet's files of arrays."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from headrace import _engine
from headrace._arguments import options
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole, write_whole
from headrace.errors import GraphError, UnsupportedError
from headrace.mx import nd_image as image
from headrace.mx import random, sparse
from headrace.mx.absent import no_name
from headrace.mx.array_making import (
    arange,
    array,
    empty,
    eye,
    from_numpy,
    full,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from headrace.mx.array_numbers import (
    abs,
    add,
    argmax,
    argmin,
    argsort,
    batch_dot,
    broadcast_add,
    broadcast_div,
    broadcast_maximum,
    broadcast_minimum,
    broadcast_mul,
    broadcast_sub,
    ceil,
    clip,
    cos,
    divide,
    dot,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    lesser,
    lesser_equal,
    log,
    max,
    maximum,
    mean,
    min,
    minimum,
    modulo,
    multiply,
    norm,
    not_equal,
    power,
    prod,
    round,
    sign,
    sin,
    sort,
    sqrt,
    square,
    subtract,
    sum,
    waitall,
)
from headrace.mx.array_shaping import (
    broadcast_to,
    cast,
    concat,
    concatenate,
    expand_dims,
    flatten,
    flip,
    moveaxis,
    one_hot,
    pad,
    pick,
    repeat,
    reshape,
    reverse,
    slice,
    slice_axis,
    split,
    squeeze,
    stack,
    swapaxes,
    take,
    tile,
    transpose,
    where,
)
from headrace.mx.nd_array import NDArray

__all__ = [
    "NDArray",
    "abs",
    "add",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "array",
    "batch_dot",
    "broadcast_add",
    "broadcast_div",
    "broadcast_maximum",
    "broadcast_minimum",
    "broadcast_mul",
    "broadcast_sub",
    "broadcast_to",
    "cast",
    "ceil",
    "clip",
    "concat",
    "concatenate",
    "cos",
    "divide",
    "dot",
    "empty",
    "equal",
    "exp",
    "expand_dims",
    "eye",
    "flatten",
    "flip",
    "floor",
    "from_numpy",
    "full",
    "greater",
    "greater_equal",
    "image",
    "lesser",
    "lesser_equal",
    "linspace",
    "load",
    "log",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "modulo",
    "moveaxis",
    "multiply",
    "norm",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "pick",
    "power",
    "prod",
    "random",
    "repeat",
    "reshape",
    "reverse",
    "round",
    "save",
    "sign",
    "sin",
    "slice",
    "slice_axis",
    "sort",
    "sparse",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "tile",
    "transpose",
    "waitall",
    "where",
    "zeros",
    "zeros_like",
]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_READ_BY_MXNET = ("float16", "float32", "float64", "bfloat16", "int8", "uint8", "int32", "int64", "bool")


def load(fname: str | os.PathLike[str]) -> list[NDArray] | dict[str, NDArray]:
    """The arrays of a file that `mx.nd.save` wrote, MXNet's or this one: a dict if they have names, else a list.

    Raises:
        DataError: It is no such file, or it is damaged.
        NotFoundError: It is not there.
        UnsupportedError: It holds sparse arrays.
    """
    name = os.fspath(fname)
    try:
        contents = read_whole(name)
    except OSError as raised:
        raise system_error(f"cannot read {name}", raised) from None
    parsed = _engine.parse_array_file(contents, os.fsencode(name))
    del contents
    parsed.reverse()
    named = []
    while parsed:
        # Each leaves as it is copied, so that there is never a second copy of all.
        key, values = parsed.pop()
        named.append((key, np.array(values).view(NDArray)))
    if any(key for key, _ in named):
        return dict(named)
    return [values for _, values in named]


def save(fname: str | os.PathLike[str], data: _Array | Sequence[_Array] | Mapping[str, _Array]) -> None:
    """Writes arrays into a file that `mx.nd.load` reads, MXNet's or this one, completely or not at all.

    Args:
        fname: The file, which is replaced if it is there.
        data: An array, a list of them, or a dict, whose names the file keeps. Each has at least one dimension.

    Raises:
        GraphError: What is to be saved is no array, or has no dimension.
        UnsupportedError: An array is of a type that MXNet 1.9.1 does not read, such as uint16.
    """
    named: list[tuple[str, Any]]
    if isinstance(data, Mapping):
        for key in data:
            if not isinstance(key, str):
                raise GraphError(f"save: {options.shown(key)} is no name; the keys of a dict must be strings")
            try:
                key.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError:
                raise GraphError(f"save: {options.shown(key)} is no text that UTF-8 can hold") from None
        named = list(data.items())
    elif isinstance(data, (list, tuple)):
        named = [("", each) for each in data]
    else:
        named = [("", data)]
    contents = _engine.format_array_file([(key, _saved(each)) for key, each in named])
    write_whole(fname, contents)


def _saved(given: Any) -> _Array:
    """As a plain NumPy array, of a shape and type that MXNet reads."""
    if not hasattr(given, "__array__"):
        raise GraphError(
            f"save: {options.shown(given)} is no array; give an array, a list of arrays, or a dict of them"
        )
    values = np.asarray(given)
    if values.ndim == 0:
        raise GraphError(
            f"save: {options.shown(given)} has no dimension, which MXNet does not read; reshape it to (1,)"
        )
    if values.dtype.name not in _READ_BY_MXNET:
        raise UnsupportedError(
            f"save: an array is of type {values.dtype}, which MXNet does not read; cast it, as by astype: "
            f"{', '.join(_READ_BY_MXNET)}"
        )
    return values


if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        raise no_name(__name__, name)
