"""`stacked` joins the rows that a user function returns along a new first axis."""

from collections.abc import Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.options import shown

__all__ = ["stacked"]


def stacked(of: str, name: str, values: Sequence[Any]) -> Any:
    """An array of the rows of a column; of bytes or texts an object array. ValueError, which begins with `of` and names
    column and row, if rows differ in type or shape."""
    import numpy as np

    if not values:
        return np.empty(0)
    if isinstance(values[0], (str, bytes)):
        kind = type(values[0])
        for number, value in enumerate(values):
            if not isinstance(value, kind):
                raise ValueError(f"{of}: column {name} is {shown(value)} in row {number}, and {kind.__name__} before")
        texts = np.empty(len(values), object)
        texts[:] = values
        return texts
    arrays = [_array_of(of, name, number, value) for number, value in enumerate(values)]
    for number, array in enumerate(arrays):
        if array.dtype != arrays[0].dtype or array.shape != arrays[0].shape:
            raise ValueError(
                f"{of}: column {name} is {array.dtype} {array.shape} in row {number}, and {arrays[0].dtype} "
                f"{arrays[0].shape} in row 0; rows of one call must agree: give bytes, or pad them"
            )
    return np.stack(arrays)


def _array_of(of: str, name: str, number: int, value: Any) -> Any:
    try:
        return _engine.exact_array(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{of}: column {name}, row {number}: {error}") from None
