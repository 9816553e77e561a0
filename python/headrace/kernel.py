"""Kernels: what `Dataset.map` applies to columns."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from headrace.errors import GraphError
from headrace.options import shown
from headrace.source_location import users_location

__all__ = ["Kernel", "of_one_size"]


def of_one_size(init: Callable[..., None]) -> Callable[..., None]:
    """For a kernel whose only parameter is one number or two: says how two are written."""

    @wraps(init)
    def checked(self: Kernel, *given: Any, **named: Any) -> None:
        if len(given) > 1:
            name, pair = type(self).__name__, ", ".join(map(shown, given))
            raise GraphError(f"{name}: takes one size, not {pair} (for a size of two numbers write {name}(({pair})))")
        init(self, *given, **named)

    return checked


class Kernel:
    """A function from tensors of a row to tensors of that row, run by the engine. All kernels are in the modules
    `headrace.vision` and `headrace.transforms`."""

    __slots__ = ("_attributes", "_location")

    # Whether it takes one column; otherwise it takes all columns.
    _unary = True
    # Columns that it gives.
    _outputs = 1

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        if type(self) is Kernel:
            raise TypeError(
                "a Kernel is one of those in headrace.vision and headrace.transforms, such as vision.Decode()"
            )
        self._attributes = attributes
        self._location = users_location()

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._attributes.items())
        return f"{type(self).__name__}({given})"
