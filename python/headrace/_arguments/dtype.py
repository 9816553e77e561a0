"""`dtype_name` accepts the forms in which users may give an element type."""

from typing import Any, TypeAlias

# NumPy's name ("float32"), a NumPy type or dtype (numpy.float32), or one of Python's (bool, int, float, bytes, str).
DType: TypeAlias = str | type[Any] | Any


def dtype_name(dtype: DType) -> str:
    """NumPy's name of it, or "bytes" or "string". TypeError or ValueError if it names no type; None is none, although
    NumPy takes it for float64."""
    if dtype is None:
        raise TypeError("None is no dtype")
    if isinstance(dtype, str):
        return dtype
    if dtype is bytes:
        return "bytes"
    if dtype is str:
        return "string"
    import numpy as np

    return str(np.dtype(dtype).name)
