"""The codes of `mxnet.nd.reshape`: `coded_shape` gives the lengths that they ask for."""

from collections.abc import Sequence
from typing import Any

from headrace.errors import GraphError

__all__ = ["coded_shape"]


def coded_shape(shape: tuple[int, ...], asked: Sequence[Any]) -> tuple[Any, ...]:
    """The lengths of the axes, of which one may be -1 still.

    Args:
        shape: Of the array.
        asked: Lengths and codes: 0 keeps an axis, -2 all that follow, -3 joins two, and -4 divides one into the two lengths
            after it.

    Raises:
        GraphError: The codes ask for axes that the array does not have.
    """
    # An array without elements has axes of length 0.
    if 0 in shape or not any(each == 0 or each < -1 for each in asked):
        return tuple(asked)
    left, made = list(shape), []
    codes = list(asked)
    try:
        while codes:
            code = codes.pop(0)
            if code == -2:
                made += left
                left = []
            elif code == -3:
                made.append(left.pop(0) * left.pop(0))
            elif code == -4:
                made += _divided(left.pop(0), codes.pop(0), codes.pop(0))
            else:
                kept = left.pop(0) if left or code == 0 else 1
                made.append(kept if code == 0 else code)
    except IndexError:
        raise GraphError(f"reshape: shape is {tuple(asked)}, which asks for more axes than {shape} has") from None
    return tuple(made)


def _divided(length: int, first: int, second: int) -> list[int]:
    if first == -1:
        return [length // second, second]
    return [first, length // first if second == -1 else second]
