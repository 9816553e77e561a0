"""Lists of numbers of which some are parameters."""

from collections.abc import Callable, Sequence
from typing import Any

from headrace import _engine
from headrace._graph.parameters import Number, Parameter, Use, number_of
from headrace.errors import GraphError

__all__ = ["ParameterList", "holds_parameter"]


def holds_parameter(value: Any) -> bool:
    """Whether it is a list of which an element is a parameter."""
    return isinstance(value, (list, tuple)) and any(isinstance(each, Parameter) for each in value)


class ParameterList:
    """Read like a parameter, whose value is the list with the values of the parameters in it. The parameters hold the
    values and have the states; the other numbers are part of its name, and so of the graph."""

    __slots__ = ("__weakref__", "_numbers")

    def __init__(self, numbers: Sequence[Any], what: str) -> None:
        self._numbers = [
            each if isinstance(each, Parameter) else _one(each, f"{what}: a number in it") for each in numbers
        ]

    @property
    def name(self) -> str:
        return repr(self)

    @property
    def members(self) -> list[Parameter]:
        return [each for each in self._numbers if isinstance(each, Parameter)]

    def __repr__(self) -> str:
        return repr(self._numbers)

    def value(self, epoch: int) -> tuple[Any, ...]:
        """As far as it is set by now."""
        return tuple(self._number(each, Parameter.value, epoch) for each in self._numbers)

    # ---- for pipelines ----

    def _uses(self, kernel: str, attribute: str) -> list[tuple[Parameter, Use]]:
        return [(member, Use(kernel, attribute, number=True)) for member in self.members]

    def _check_use(self, kernel: str, attribute: str) -> None:
        """GraphError if a number, or the default of one, is outside of the bounds of the attribute that is to read it, or
        if they are not as many as it takes."""
        for member, use in self._uses(kernel, attribute):
            member._check_values(use)
        for each in self._numbers:
            wrong = "" if isinstance(each, Parameter) else _engine.wrong_value(kernel, attribute, each, True)
            if wrong:
                raise GraphError(f"{self!r}: {kernel}: {wrong}")
        defaults = [each._default if isinstance(each, Parameter) else each for each in self._numbers]
        if None not in defaults and (wrong := _engine.wrong_value(kernel, attribute, defaults, False)):
            raise GraphError(f"{self!r}: {kernel}: {wrong}")

    def _value_in(self, epoch: int) -> tuple[Any, ...]:
        return tuple(self._number(each, Parameter._value_in, epoch) for each in self._numbers)

    def _number(self, each: Number | Parameter, read: Callable[[Parameter, int], Any], epoch: int) -> Number:
        if not isinstance(each, Parameter):
            return each
        # It may have been fixed before this list read it.
        return _one(read(each, epoch), f"{each!r} in epoch {epoch}, in {self!r},")


def _one(value: Any, what: str) -> Number:
    number = number_of(value, what)
    if isinstance(number, tuple):
        raise GraphError(f"{what} is a list, {list(number)}; it must be one number")
    return number
