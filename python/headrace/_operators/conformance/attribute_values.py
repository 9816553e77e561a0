"""`allowed_values` gives values that an attribute's declaration allows; `try_all` calls an operator with values that
must do no harm."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from headrace._operators.conformance import interface
from headrace._operators.conformance.declared_operator import bounds_of, listed
from headrace._operators.conformance.host_functions import Failure
from headrace._operators.conformance.subject import CheckFailed

_LISTS = (interface.INTS, interface.FLOATS, interface.TEXTS)


def try_all(
    declared: list[interface.Attribute], attempt: Callable[[dict[str, Any]], Failure | None], callback: str
) -> None:
    """`attempt` makes an operator with these attributes changed and uses it; it gives the error of the callback."""
    for attribute in declared:
        name = attribute.name.decode()
        for value in allowed_values(attribute):
            failure = attempt({name: value})
            if failure is None or attempt(_all_alike(declared, value)) is None:
                continue
            advice = f"take every value that the declaration of {name} allows, or declare other bounds"
            raise CheckFailed(listed({name: value}), f"{callback} gives {failure}", advice)
        for value in _unbounded_values(attribute):
            attempt({name: value})


def _all_alike(declared: list[interface.Attribute], value: Any) -> dict[str, Any]:
    """Every attribute that has the bound, for operators that refuse a combination with defaults."""
    return {each.name.decode(): value for each in declared if value in allowed_values(each)}


def allowed_values(attribute: interface.Attribute) -> list[Any]:
    """At the bounds, each choice, None, lists of each length."""
    values: list[Any] = [None] if attribute.flags & interface.NULLABLE else []
    if attribute.type == interface.BOOL:
        return [*values, False, True]
    if attribute.choices:
        values += [
            each.decode() for each in itertools.takewhile(bool, map(attribute.choices.__getitem__, itertools.count()))
        ]
    ends = [_as_list(attribute, bound) if attribute.type in _LISTS else bound for bound in _bounds(attribute)]
    return values + ends


def _bounds(attribute: interface.Attribute) -> list[Any]:
    least, most = bounds_of(attribute)
    if least is not None and attribute.flags & interface.EXCLUSIVE_MINIMUM:
        least = least + 1 if isinstance(least, int) else math.nextafter(least, math.inf)
    return [bound for bound in (least, most) if bound is not None]


def _as_list(attribute: interface.Attribute, value: Any) -> tuple[Any, ...]:
    return (value,) * (attribute.lengths[0] if attribute.lengths else 3)


def _unbounded_values(attribute: interface.Attribute) -> Iterator[Any]:
    """Extremes that the declaration does not exclude."""
    if attribute.type in (interface.TEXT, interface.TEXTS) and not attribute.choices:
        extremes: list[Any] = ["", "x" * 5000, "ä"]
    elif attribute.type in (interface.INT, interface.INTS):
        extremes = [-(2**63), 2**63 - 1, 2**40, -(2**31), 2**31 - 1, -1, 0]
    elif attribute.type in (interface.FLOAT, interface.FLOATS):
        extremes = [-1.7e308, 1.7e308, 5e-324, 0.0, -1.0]
    else:
        return
    least, most = bounds_of(attribute)
    lowest = _bounds(attribute)[0] if least is not None else None
    for value in extremes:
        if not isinstance(value, str) and (
            (lowest is not None and value < lowest) or (most is not None and value > most)
        ):
            continue
        yield _as_list(attribute, value) if attribute.type in _LISTS else value
    if attribute.type in _LISTS and not attribute.lengths:
        yield ()
