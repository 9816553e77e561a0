"""Sparse arrays as scripts for MXNet expect them."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from headrace._arguments import options
from headrace.errors import DataError, GraphError
from headrace.mx.context import Context, cpu
from headrace.mx.nd_array import with_methods

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CSRNDArray", "array", "csr_matrix"]

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

    def as_in_context(self, context: Context) -> "Self":
        """The array itself: a framework copies it to its device."""
        return self

    def wait_to_read(self) -> None:
        """Returns at once: the values are there."""

    @property
    def size(self) -> int:
        """Rows times columns."""
        return self.shape[0] * self.shape[1]

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    def check_format(self, full_check: bool = True) -> None:
        """Raises DataError if the parts are no matrix of compressed rows.

        Args:
            full_check: Whether each row and each column is looked at, else only the lengths of the parts.
        """
        data, indices, indptr = (np.asarray(each) for each in (self.data, self.indices, self.indptr))
        if indptr.shape != (self.shape[0] + 1,):
            raise DataError(
                f"check_format: indptr has shape {indptr.shape}; {self.shape[0]} rows need {self.shape[0] + 1} numbers"
            )
        if data.shape != indices.shape or data.ndim != 1:
            raise DataError(
                f"check_format: data has shape {data.shape}, and indices has {indices.shape}; both are of one length"
            )
        if indptr[0] != 0 or indptr[-1] != len(data):
            raise DataError(
                f"check_format: indptr goes from {indptr[0]} to {indptr[-1]}; it must go from 0 to the {len(data)} values"
            )
        if full_check:
            self._check_rows(indices, indptr)

    def _check_rows(self, indices: _Array, indptr: _Array) -> None:
        lengths: _Array = np.diff(indptr.astype(np.int64))
        if (lengths < 0).any():
            raise DataError(
                f"check_format: row {int((lengths < 0).argmax())} ends before it begins; indptr must not fall"
            )
        beyond = (indices < 0) | (indices >= self.shape[1])
        rows = np.repeat(np.arange(len(lengths)), lengths)
        if beyond.any():
            at = int(beyond.argmax())
            raise DataError(
                f"check_format: row {rows[at]} has column {indices[at]}; columns go from 0 to {self.shape[1] - 1}"
            )
        falls = (np.diff(indices.astype(np.int64)) <= 0) & (np.diff(rows) == 0)
        if falls.any():
            raise DataError(f"check_format: the columns of row {rows[int(falls.argmax())]} do not ascend")

    def take(self, rows: ArrayLike) -> "CSRNDArray":
        """The rows of these numbers, in that order."""
        numbers = np.asarray(rows, np.int64)
        indptr = np.asarray(self.indptr).astype(np.int64)
        lengths = np.diff(indptr)[numbers]
        ends = np.concatenate(([0], np.cumsum(lengths)))
        places = np.arange(ends[-1]) + np.repeat(indptr[numbers] - ends[:-1], lengths)
        data, indices = np.asarray(self.data)[places], np.asarray(self.indices)[places]
        return CSRNDArray(data, indices, ends.astype(np.asarray(self.indptr).dtype), (len(numbers), self.shape[1]))

    def __getitem__(self, key: int | slice) -> "CSRNDArray":
        """One row, or those of a slice."""
        if isinstance(key, slice):
            return self.take(np.arange(self.shape[0])[key])
        if not -self.shape[0] <= key < self.shape[0]:
            raise IndexError(f"row {key} of a matrix of {self.shape[0]} rows")
        return self.take([key % self.shape[0]])

    def astype(self, dtype: DTypeLike, copy: bool = True) -> "CSRNDArray":
        """The matrix with values of another type."""
        return CSRNDArray(np.asarray(self.data).astype(dtype, copy=copy), self.indices, self.indptr, self.shape)

    def copy(self) -> "CSRNDArray":
        """A matrix of its own memory."""
        return CSRNDArray(np.array(self.data), np.array(self.indices), np.array(self.indptr), self.shape)

    def tostype(self, stype: Literal["default", "csr"]) -> Any:
        """The matrix itself, or an NDArray of all its numbers. Raises GraphError for another kind of storage."""
        if options.choice("stype", stype, ("default", "csr"), "tostype") == "csr":
            return self
        return with_methods(self.asnumpy())

    def todense(self) -> Any:
        """An NDArray of all its numbers."""
        return self.tostype("default")

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


def csr_matrix(
    arg1: Any, shape: tuple[int, int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None
) -> CSRNDArray:
    """A matrix of compressed rows.

    Args:
        arg1: Its parts as (data, indices, indptr); values with their places as (data, (rows, columns)); an array of two
            axes; a matrix of SciPy; or one of these.
        shape: Rows and columns, which parts need.
        ctx: Taken and not used: all lies in host memory.
        dtype: Of the values; None: that of an array or a matrix, and float32 for lists.

    Raises:
        DataError: The parts are no such matrix.
        GraphError: arg1 is something else.
    """
    if isinstance(arg1, CSRNDArray):
        made = arg1
    elif hasattr(arg1, "tocsr"):
        made = _of_scipy(arg1)
    elif isinstance(arg1, tuple) and len(arg1) in (2, 3) and not isinstance(arg1[0], int):
        made = _of_parts(arg1, shape)
    else:
        made = _of_dense(arg1)
    if shape is not None and tuple(shape) != made.shape:
        raise GraphError(f"csr_matrix: shape is {options.shown(shape)}, and the matrix has {made.shape}")
    made.check_format()
    return made if dtype is None else made.astype(dtype)


def array(source_array: Any, ctx: Context | None = None, dtype: DTypeLike | None = None) -> CSRNDArray:
    """A copy of a matrix of SciPy, or of one of these."""
    return csr_matrix(source_array, dtype=dtype).copy()


def _of_scipy(matrix: Any) -> CSRNDArray:
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return CSRNDArray(rows.data, rows.indices, rows.indptr, rows.shape)


def _of_parts(parts: tuple[Any, ...], shape: tuple[int, int] | None) -> CSRNDArray:
    if shape is None:
        raise GraphError("csr_matrix: parts do not say the number of columns; give shape=(rows, columns)")
    data = _values(parts[0])
    if len(parts) == 3:
        return CSRNDArray(data, np.asarray(parts[1]), np.asarray(parts[2]), tuple(shape))  # type: ignore[arg-type]
    rows, columns = (np.asarray(each, np.int64) for each in parts[1])
    order = np.lexsort((columns, rows))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=shape[0]))))
    return CSRNDArray(data[order], columns[order], indptr, tuple(shape))  # type: ignore[arg-type]


def _of_dense(given: Any) -> CSRNDArray:
    values = _values(given)
    if values.ndim != 2:
        raise GraphError(f"csr_matrix: {options.shown(given)} is no array of two axes, and no matrix")
    rows, columns = np.nonzero(values)
    return _of_parts((values[rows, columns], (rows, columns)), values.shape)


def _values(given: Any) -> _Array:
    return np.asarray(given) if hasattr(given, "dtype") else np.asarray(given, np.float32)
