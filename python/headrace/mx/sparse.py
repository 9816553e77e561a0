"""Sparse arrays as scripts for MXNet expect them."""

from typing import Any, Self

import numpy as np

from headrace.mx.context import Context, cpu

__all__ = ["CSRNDArray"]

_Array = np.ndarray[Any, np.dtype[Any]]


class CSRNDArray:
    """A matrix of compressed rows, in host memory: row i has the values `data[indptr[i]:indptr[i + 1]]` in the columns
    `indices[indptr[i]:indptr[i + 1]]`, and is 0 elsewhere.

    Args:
        data: The values, of any type.
        indices: Their columns, of the same length.
        indptr: Where the rows begin among them, and the end of the last one: one more than there are rows.
        shape: Rows and columns.
    """

    stype = "csr"
    """The kind of storage, by MXNet's name."""

    def __init__(self, data: _Array, indices: _Array, indptr: _Array, shape: tuple[int, int]) -> None:
        self.data = data
        self.indices = indices
        self.indptr = indptr
        self.shape = shape

    @property
    def dtype(self) -> type[Any]:
        """The type of the values."""
        return self.data.dtype.type

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

    def asnumpy(self) -> _Array:
        """The whole matrix as a NumPy array."""
        dense = np.zeros(self.shape, self.data.dtype)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(np.asarray(self.indptr)))
        dense[rows, self.indices] = self.data
        return dense

    def asscipy(self) -> Any:
        """A `scipy.sparse.csr_matrix` of the same memory. Raises ImportError if SciPy is not there."""
        from scipy.sparse import csr_matrix

        parts = (np.asarray(each) for each in (self.data, self.indices, self.indptr))
        return csr_matrix(tuple(parts), shape=self.shape, copy=False)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<CSRNDArray {self.shape[0]}x{self.shape[1]} @{self.context!r}>"
