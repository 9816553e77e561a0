"""A kernel as its plugin declares it, and values of its attributes."""

import ast
import ctypes as c
import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

from headrace.conformance import interface


@dataclasses.dataclass
class DeclaredKernel:
    """A kernel as its plugin declares it."""

    name: str
    raw: interface.Kernel
    attributes: list[interface.Attribute]

    @property
    def random(self) -> bool:
        return bool(self.raw.traits & interface.RANDOM)

    @property
    def deterministic(self) -> bool:
        return not self.raw.traits & interface.NOT_DETERMINISTIC

    @property
    def by_batch(self) -> bool:
        return bool(self.raw.traits & interface.BY_BATCH)

    @property
    def pointwise(self) -> bool:
        return bool(self.raw.traits & interface.POINTWISE)

    def defaults(self) -> dict[str, Any]:
        """The arguments of its example, then defaults, then values that the declaration allows."""
        given = self._example()
        return {
            attribute.name.decode(): given.get(attribute.name.decode(), default_of(attribute))
            for attribute in self.attributes
        }

    def _example(self) -> dict[str, Any]:
        try:
            call = ast.parse((self.raw.example or b"").decode().strip(), mode="eval").body
            assert isinstance(call, ast.Call)
            names = [attribute.name.decode() for attribute in self.attributes]
            given = dict(zip(names, map(ast.literal_eval, call.args), strict=False))
            return given | {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg in names}
        except (AssertionError, SyntaxError, ValueError):
            return {}


def default_of(attribute: interface.Attribute) -> Any:
    """Its default; of a required one some value that its bounds allow."""
    if attribute.default_value is not None:
        return ast.literal_eval(attribute.default_value.decode())
    if attribute.flags & interface.NULLABLE:
        return None
    one = _allowed(attribute)
    if attribute.type in (interface.INTS, interface.FLOATS, interface.TEXTS):
        return (one,) * (attribute.lengths[0] if attribute.lengths else 1)
    return one


def _allowed(attribute: interface.Attribute) -> Any:
    if attribute.type == interface.BOOL:
        return False
    if attribute.type == interface.DTYPE:
        return "float32"
    if attribute.type in (interface.TEXT, interface.TEXTS):
        return attribute.choices[0].decode() if attribute.choices else "a"
    least, most = bounds_of(attribute)
    if attribute.type in (interface.INT, interface.INTS):
        first = 1 if least is None else int(least) + bool(attribute.flags & interface.EXCLUSIVE_MINIMUM)
        return first if most is None else min(first, int(most))
    if least is not None and most is not None:
        return (least + most) / 2
    return 1.0 if most is None and least is None else (least + 1 if least is not None else most)


def bounds_of(attribute: interface.Attribute) -> tuple[float | int | None, float | int | None]:
    whole = attribute.type in (interface.INT, interface.INTS)
    least = attribute.integer_minimum if whole else attribute.minimum
    most = attribute.integer_maximum if whole else attribute.maximum
    return (
        least if attribute.flags & interface.HAS_MINIMUM else None,
        most if attribute.flags & interface.HAS_MAXIMUM else None,
    )


def values_of(kernel: DeclaredKernel, given: Mapping[str, Any]) -> Any:
    values = [_value_of(attribute, given[attribute.name.decode()]) for attribute in kernel.attributes]
    # The array keeps what it points to.
    return (c.POINTER(interface.Value) * (len(values) + 1))(*(c.pointer(each) for each in values))


def _value_of(attribute: interface.Attribute, given: Any) -> interface.Value:
    value = interface.Value(struct_size=c.sizeof(interface.Value), type=attribute.type)
    kind = attribute.type
    if given is None:
        value.none = 1
    elif kind in (interface.BOOL, interface.INT):
        value.integer = int(given)
    elif kind == interface.FLOAT:
        value.real = float(given)
    elif kind in (interface.TEXT, interface.DTYPE):
        value.text = str(given).encode()
        value.count = len(value.text)
        value.integer = interface.NUMBER_OF_DTYPE[given] if kind == interface.DTYPE else 0
    else:
        _set_list(attribute, value, given)
    return value


def _set_list(attribute: interface.Attribute, value: interface.Value, given: Any) -> None:
    listed = list(given) if isinstance(given, (tuple, list)) else [given]
    if len(listed) == 1 and attribute.flags & interface.BROADCAST and attribute.lengths:
        listed *= max(itertools.takewhile(bool, (attribute.lengths[at] for at in itertools.count())))
    value.count = len(listed)
    if attribute.type == interface.INTS:
        value.ints = (c.c_int64 * (len(listed) + 1))(*listed)
    elif attribute.type == interface.FLOATS:
        value.reals = (c.c_double * (len(listed) + 1))(*listed)
    else:
        value.texts = (c.c_char_p * (len(listed) + 1))(*(each.encode() for each in listed))


def listed(given: Mapping[str, Any]) -> str:
    """For messages; long values cut."""
    return ", ".join(f"{name}={_short(value)}" for name, value in given.items()) or "none"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:40]}… ({len(text):,} letters)"
