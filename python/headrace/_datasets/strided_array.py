"""`sent_array` gives an array in the form that `pickle` takes, so that memory of which rows overlap travels once."""

from __future__ import annotations

from typing import Any

__all__ = ["sent_array"]


def sent_array(array: Any) -> Any:
    """The array itself, unless its elements lie in less memory than a row-major copy of it takes, as those of sliding windows
    and of repeated values do."""
    import numpy as np

    plain = type(array) is np.ndarray and array.dtype.kind in "biuf" and array.size > 0
    if not plain or _span(array) >= array.nbytes:
        return array
    return _Strided(array)


class _Strided:
    """An array of numbers, pickled as the bytes from its lowest to its highest."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __reduce__(self) -> tuple[Any, ...]:
        memory, first = _memory_of(self._array)
        return _again, (memory, self._array.shape, self._array.dtype, first, self._array.strides)


def _span(array: Any) -> int:
    """The bytes from the lowest element to the end of the highest one."""
    return int(array.itemsize + sum((size - 1) * abs(step) for size, step in _axes(array)))


def _memory_of(array: Any) -> tuple[Any, int]:
    """These bytes as an array, and where the first element is in them."""
    from numpy.lib.stride_tricks import as_strided

    lowest = array[tuple(slice(size - 1, size) if step < 0 else slice(0, 1) for size, step in _axes(array))]
    memory = as_strided(lowest.reshape(1).view("uint8"), (_span(array),), (1,), writeable=False)
    return memory, sum((1 - size) * step for size, step in _axes(array) if step < 0)


def _axes(array: Any) -> list[tuple[int, int]]:
    return list(zip(array.shape, array.strides, strict=True))


def _again(memory: Any, shape: tuple[int, ...], dtype: Any, first: int, strides: tuple[int, ...]) -> Any:
    import numpy as np

    array = np.ndarray(shape, dtype, memory, first, strides)
    array.flags.writeable = False
    return array
