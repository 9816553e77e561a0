"""`dtype_name` accepts the forms in which users may give an element type; `dtype_advice` says what to write for others."""

from typing import Any, TypeAlias

__all__ = ["DType", "dtype_advice", "dtype_name", "dtype_of_torch"]

# NumPy's name ("float32"), a type or dtype of NumPy or torch (numpy.float32), or one of Python's (bool, int, float, bytes,
# str).
DType: TypeAlias = str | type[Any] | Any

_INTS = '"int64", or "int32"'
# What other libraries call them, and what is written here.
_OTHERS = {
    "binary": '"bytes"',
    "bool_": '"bool"',
    "boolean": '"bool"',
    "byte": '"uint8"',
    "double": '"float64"',
    "float": '"float32", or "float64"',
    "half": '"float16"',
    "int": _INTS,
    "integer": _INTS,
    "long": '"int64"',
    "object": '"bytes" or "string", or the type of the values',
    "short": '"int16"',
    "text": '"string"',
    "utf8": '"string"',
}
_NAMES = {"bool", "float16", "bfloat16", "float32", "float64", "bytes", "string"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def dtype_name(dtype: DType) -> str:
    """NumPy's name of it, or "bytes" or "string". TypeError or ValueError if it names no type; None is none, although
    NumPy takes it for float64."""
    if dtype is None:
        raise TypeError("None is no dtype")
    if isinstance(dtype, str):
        if dtype_advice(dtype) is not None:
            raise ValueError(f"{dtype} is no dtype")
        return dtype
    if dtype is bytes:
        return "bytes"
    if dtype is str:
        return "string"
    of_torch = dtype_of_torch(dtype)
    if of_torch is not None:
        return of_torch
    import numpy as np

    return str(np.dtype(dtype).name)


def dtype_of_torch(dtype: object) -> str | None:
    """The name of what torch has as a type, such as torch.int64."""
    kind = type(dtype)
    return str(dtype).removeprefix("torch.") if (kind.__module__, kind.__name__) == ("torch", "dtype") else None


def dtype_advice(dtype: object) -> str | None:
    """What to write for a text by which another library names a type."""
    if not isinstance(dtype, str):
        return None
    name = dtype.rpartition(".")[2].lower()
    written = _OTHERS.get(name) or (f'"{name}"' if name in _NAMES and name != dtype else None)
    return None if written is None else f"write {written}"
