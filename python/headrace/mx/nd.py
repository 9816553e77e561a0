"""Arrays as scripts for MXNet expect them: NumPy arrays with the methods of `mxnet.nd.NDArray` that loading code calls."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from headrace.mx.context import Context, cpu

__all__ = ["NDArray", "array", "zeros"]


class NDArray(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array that scripts for MXNet can use: it lies in host memory, and nothing waits for it."""

    def asnumpy(self) -> np.ndarray[Any, np.dtype[Any]]:
        """A copy as a plain NumPy array."""
        return np.array(self, subok=False)

    def asscalar(self) -> Any:
        """The value of an array of one element. Raises ValueError for any other."""
        if self.size != 1:
            raise ValueError(f"the array has {self.size} elements; asscalar() is for one")
        return self.item()

    @property
    def context(self) -> Context:
        """Where the array lies: `cpu(0)`."""
        return cpu()

    ctx = context

    def as_in_context(self, context: Context) -> Self:
        """The array itself: a framework copies it to its device."""
        return self

    def wait_to_read(self) -> None:
        """Returns at once: the values are there."""


def array(source: ArrayLike, ctx: Context | None = None, dtype: DTypeLike | None = None) -> NDArray:
    """An array with the values of `source`: of `dtype`; None: that of an NDArray, and float32 for all else."""
    if dtype is None:
        dtype = source.dtype if isinstance(source, NDArray) else np.float32
    return np.array(source, dtype).view(NDArray)


def zeros(shape: int | tuple[int, ...], ctx: Context | None = None, dtype: DTypeLike = np.float32) -> NDArray:
    """An array of zeros."""
    return np.zeros(shape, dtype).view(NDArray)
