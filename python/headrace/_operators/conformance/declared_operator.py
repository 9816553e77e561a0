"""A kernel, source or format as its plugin declares it, and values of its attributes."""

import ast
import ctypes as c
import dataclasses
import itertools
import re
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from headrace._operators.conformance import interface

Raw = TypeVar("Raw", interface.Kernel, interface.Source, interface.Format)


@dataclasses.dataclass
class DeclaredOperator(Generic[Raw]):
    """An operator as its plugin declares it. `sample` is a call of it, whose arguments the checks give."""

    name: str
    raw: Raw
    attributes: list[interface.Attribute]
    sample: str = ""

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
        """The arguments of its sample, then defaults, then values that the declaration allows."""
        given = self.arguments()
        return {
            attribute.name.decode(): given.get(attribute.name.decode(), default_of(attribute))
            for attribute in self.attributes
        }

    def arguments(self) -> dict[str, Any]:
        """Those of its sample, by name; none if it is no call with literals."""
        try:
            positional, named = arguments_of(self.sample)
        except ValueError:
            return {}
        # As in Python: required ones first.
        inorder = sorted(self.attributes, key=lambda attribute: attribute.default_value is not None)
        names = [attribute.name.decode() for attribute in inorder]
        if isinstance(self.raw, interface.Format):
            names.insert(0, "patterns")
        return dict(zip(names, positional, strict=False)) | named


DeclaredKernel = DeclaredOperator[interface.Kernel]
DeclaredSource = DeclaredOperator[interface.Source]
DeclaredFormat = DeclaredOperator[interface.Format]


def declared(kind: type[Raw], sequence: Any, samples: Mapping[str, str]) -> dict[str, DeclaredOperator[Raw]]:
    """What the plugin lists, by name; its sample is the one given for it, else the declaration's example."""
    found = {}
    for raw in interface.read_all(kind, sequence):
        name = raw.name.decode()
        sample = samples.get(name, (raw.example or b"").decode())
        found[name] = DeclaredOperator(name, raw, interface.read_all(interface.Attribute, raw.attributes), sample)
    return found


def arguments_of(call: str) -> tuple[list[Any], dict[str, Any]]:
    """By position and by name; ValueError: it is no call, or its arguments are no literals."""
    try:
        parsed = ast.parse(call.strip(), mode="eval").body
        if not isinstance(parsed, ast.Call):
            raise ValueError("no call")
    except SyntaxError as error:
        raise ValueError(error.msg) from error
    named = {each.arg or "**": _literal(call.strip(), each.value) for each in parsed.keywords}
    return [_literal(call.strip(), each) for each in parsed.args], named


def _literal(call: str, argument: ast.expr) -> Any:
    try:
        return ast.literal_eval(argument)
    except (ValueError, TypeError) as error:
        given = ast.get_source_segment(call, argument)
        raise ValueError(f"only literal values are taken, and {given} is none") from error


def operator_of(call: str) -> str:
    """The last part of the name that is called; ValueError: it is no call of a name."""
    found = re.match(r"\s*(?:\w+\.)*(\w+)\s*\(", call)
    if found is None:
        raise ValueError("no call")
    return found[1]


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


def values_of(operator: DeclaredOperator[Any], given: Mapping[str, Any]) -> Any:
    values = [_value_of(attribute, given[attribute.name.decode()]) for attribute in operator.attributes]
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
