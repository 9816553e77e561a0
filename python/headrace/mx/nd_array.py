"""`NDArray`: a NumPy array with the methods of MXNet's that loading code calls."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headrace._arguments import options
from headrace.errors import GraphError, UnsupportedError
from headrace.mx.coded_shape import coded_shape
from headrace.mx.context import Context, cpu

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["NDArray", "with_methods", "written"]

_Array = np.ndarray[Any, np.dtype[Any]]


class NDArray(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array that scripts for MXNet can use: it lies in host memory, and nothing waits for it.

    An element is an NDArray without dimension, so that it has these methods and is a number to Python and NumPy. It is a
    view: `label[i][:] = 3` writes into the array.
    """

    stype = "default"
    """The kind of storage, by MXNet's name."""

    def __getitem__(self, key: Any) -> Any:
        key = _as_index(key)
        if self.ndim == 0 and not _fits_no_axis(key):
            return np.ndarray.reshape(self, 1)[key]
        value = super().__getitem__(key)
        if not isinstance(value, np.generic):
            return value
        return super().__getitem__((*key, ...) if isinstance(key, tuple) else (key, ...))

    def __setitem__(self, key: Any, value: Any) -> None:
        key = _as_index(key)
        if self.ndim == 0 and not _fits_no_axis(key):
            np.ndarray.reshape(self, 1)[key] = value
        else:
            super().__setitem__(key, value)

    def __hash__(self) -> int:  # type: ignore[override]
        """That of the number; of an element alone."""
        if self.ndim > 0:
            raise TypeError(f"unhashable type: {type(self).__name__} of shape {self.shape}")
        return hash(self.item())

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, and with these methods where it is one number."""
        return with_methods(super().argmax(*args, **kwargs))

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, and with these methods where it is one number."""
        return with_methods(super().argmin(*args, **kwargs))

    def asnumpy(self) -> _Array:
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

    def as_in_context(self, context: Context) -> "Self":
        """The array itself: a framework copies it to its device."""
        return self

    as_in_ctx = as_in_context

    def as_nd_ndarray(self) -> "Self":
        """The array itself."""
        return self

    def detach(self) -> "Self":
        """The array itself, which has no gradient."""
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

    wait_to_write = wait_to_read

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """As NumPy's, also with `shape=` and MXNet's codes: 0 keeps an axis, -2 all that follow, -3 joins two, and -4
        divides one into the two lengths after it. Raises GraphError if the codes do not fit."""
        given = kwargs.pop("shape", shape[0] if len(shape) == 1 else shape)
        lengths = given if isinstance(given, (tuple, list)) else (given,)
        return super().reshape(coded_shape(self.shape, lengths), **kwargs)

    def transpose(self, *axes: Any, **kwargs: Any) -> Any:
        """As NumPy's, also with `axes=`."""
        return super().transpose(*([kwargs.pop("axes")] if "axes" in kwargs else axes), **kwargs)

    def clip(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, also with MXNet's names of the bounds, `a_min` and `a_max`."""
        for theirs, name in (("a_min", "min"), ("a_max", "max")):
            if theirs in kwargs:
                kwargs[name] = kwargs.pop(theirs)
        return super().clip(*args, **kwargs)

    def expand_dims(self, axis: int) -> Any:
        """With an axis of length 1 at `axis`."""
        return np.expand_dims(self, axis)

    def flip(self, axis: int | tuple[int, ...]) -> Any:
        """In the opposite order along `axis`: an array of its own."""
        return np.flip(self, axis).copy()

    def slice_axis(self, axis: int, begin: int, end: int | None) -> Any:
        """The part from `begin` to below `end` along `axis`: an array of its own."""
        return np.moveaxis(np.moveaxis(self, axis, 0)[begin:end], 0, axis).copy()

    def split(self, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
        """As `mx.nd.split`: a list of equal parts, or one part alone, each an array of its own."""
        parts = [np.array(part) for part in np.split(np.asarray(self), num_outputs, axis)]
        made = [with_methods(np.squeeze(part, axis) if squeeze_axis else part) for part in parts]
        return made[0] if num_outputs == 1 else made

    def tile(self, reps: int | tuple[int, ...]) -> Any:
        """Repeated along each axis."""
        return np.tile(self, reps)

    def broadcast_to(self, shape: tuple[int, ...]) -> Any:
        """Of that shape, with axes of length 1 repeated: an array of its own. 0 keeps an axis."""
        own = (*(1,) * (len(shape) - self.ndim), *self.shape)
        return (
            np.broadcast_to(self, [length or kept for length, kept in zip(shape, own, strict=True)])
            .copy()
            .view(type(self))
        )

    def abs(self) -> Any:
        """Without signs."""
        return np.abs(self)

    def square(self) -> Any:
        """Each number times itself."""
        return np.square(self)

    def sqrt(self) -> Any:
        """Square roots."""
        return np.sqrt(self)

    def exp(self) -> Any:
        """Powers of e."""
        return np.exp(self)

    def log(self) -> Any:
        """Natural logarithms."""
        return np.log(self)

    def tostype(self, stype: Literal["default"]) -> "Self":
        """The array itself. Raises UnsupportedError for another kind of storage."""
        if stype != "default":
            raise UnsupportedError(
                f"tostype: stype is {options.shown(stype)}; for rows that are compressed write mx.nd.sparse.csr_matrix(array)"
            )
        return self


NDArray.__module__ = "headrace.mx.nd"


def with_methods(value: Any) -> NDArray:
    """What NumPy gives, as an NDArray."""
    array: NDArray = np.asarray(value).view(NDArray)
    return array


def written(values: Any, out: Any) -> Any:
    """`values` as an NDArray, or `out`, after they are written into it. Raises GraphError if `out` has another shape, or is of
    a type that does not hold them; one of floats may round them."""
    if out is None:
        return with_methods(values)
    values = np.asarray(values)
    if tuple(out.shape) != values.shape:
        raise GraphError(
            f"out has shape {tuple(out.shape)}, and the result {values.shape}; give an array of that shape"
        )
    dtype = np.dtype(out.dtype)
    if dtype.kind != "f" and values.dtype != dtype:
        with np.errstate(invalid="ignore"):
            cast = values.astype(dtype)
        if not np.array_equal(cast, values):
            raise GraphError(f"out is of type {dtype}, which does not hold the result; give an array of {values.dtype}")
    out[...] = values
    return out


def _as_index(key: Any) -> Any:
    """With whole numbers for the float32 in which MXNet keeps indices."""
    if isinstance(key, tuple):
        return tuple(_as_index(each) for each in key)
    if isinstance(key, NDArray) and key.dtype.kind == "f":
        return key.astype(np.int64)
    return key


def _fits_no_axis(key: Any) -> bool:
    """Whether it can be the index of an array without dimension."""
    keys = key if isinstance(key, tuple) else (key,)
    return all(each is None or each is Ellipsis or isinstance(each, (bool, np.bool_)) for each in keys)
