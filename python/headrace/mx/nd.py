"""Arrays as scripts for MXNet expect them: NumPy arrays with the methods of `mxnet.nd.NDArray` that loading code calls;
and MXNet's files of arrays."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from headrace import _engine
from headrace._arguments import options
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole, write_whole
from headrace.errors import GraphError, UnsupportedError
from headrace.mx import sparse
from headrace.mx.absent import no_name
from headrace.mx.context import Context, cpu

__all__ = ["NDArray", "array", "load", "save", "sparse", "zeros"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_READ_BY_MXNET = ("float16", "float32", "float64", "bfloat16", "int8", "uint8", "int32", "int64", "bool")


class NDArray(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array that scripts for MXNet can use: it lies in host memory, and nothing waits for it.

    An element is an NDArray without dimension, so that it has these methods and is a number to Python and NumPy.
    """

    def __getitem__(self, key: Any) -> Any:
        return _with_methods(super().__getitem__(key))

    def __hash__(self) -> int:  # type: ignore[override]
        """That of the number; of an element alone."""
        if self.ndim > 0:
            raise TypeError(f"unhashable type: {type(self).__name__} of shape {self.shape}")
        return hash(self.item())

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, and with these methods where it is one number."""
        return _with_methods(super().argmax(*args, **kwargs))

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, and with these methods where it is one number."""
        return _with_methods(super().argmin(*args, **kwargs))

    def asnumpy(self) -> np.ndarray[Any, np.dtype[Any]]:
        """A copy as a plain NumPy array; that of an element has shape (1,), as MXNet's."""
        return np.array(self, subok=False, ndmin=1)

    def asscalar(self) -> Any:
        """The value of an array of one element, as a NumPy scalar. Raises ValueError for any other."""
        if self.size != 1:
            raise ValueError(f"the array has {self.size} elements; asscalar() is for one")
        return self.asnumpy().reshape(1)[0]

    @property
    def context(self) -> Context:
        """Where the array lies: `cpu(0)`."""
        return cpu()

    ctx = context

    def as_in_context(self, context: Context) -> Self:
        """The array itself: a framework copies it to its device."""
        return self

    def copyto(self, other: Any) -> Any:
        """Copies the values into an array of the same shape, also one of MXNet's own, whose `Module` calls this, and returns
        that; for a context: a copy. Raises GraphError if the shapes differ."""
        if not hasattr(other, "shape"):
            return self.copy()
        if tuple(other.shape) != self.shape:
            raise GraphError(
                f"copyto: the array has shape {self.shape}, and the one to write {tuple(other.shape)}; they must be equal"
            )
        other[:] = np.asarray(self)
        return other

    def wait_to_read(self) -> None:
        """Returns at once: the values are there."""


def _with_methods(value: Any) -> Any:
    return np.asarray(value).view(NDArray) if isinstance(value, np.generic) else value


def array(source: ArrayLike, ctx: Context | None = None, dtype: DTypeLike | None = None) -> NDArray:
    """An array with the values of `source`: of `dtype`; None: that of an NDArray, and float32 for all else."""
    if dtype is None:
        dtype = source.dtype if isinstance(source, NDArray) else np.float32
    return np.array(source, dtype).view(NDArray)


def zeros(shape: int | tuple[int, ...], ctx: Context | None = None, dtype: DTypeLike = np.float32) -> NDArray:
    """An array of zeros."""
    return np.zeros(shape, dtype).view(NDArray)


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
        named = list(data.items())
    elif isinstance(data, (list, tuple)):
        named = [("", each) for each in data]
    else:
        named = [("", data)]
    contents = _engine.format_array_file([(key, _saved(each)) for key, each in named])
    try:
        write_whole(fname, contents)
    except OSError as raised:
        raise system_error(f"cannot write {os.fspath(fname)}", raised) from None


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
