"""The columns of files of JSON and their types: as given, or as the first rows show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headrace._arguments.options import shown, text, whole
from headrace._datasets.fields.declared_fields import (
    FieldType,
    dtype_of_whole,
    field_texts,
    first_lines,
    given_types,
    settled,
    shape_text,
    wider_dtype,
)
from headrace.errors import DataError, GraphError

__all__ = ["json_attributes"]

_SOURCE = "JsonLines"


def json_attributes(patterns: Any, columns: Any, missing: Any, look: Any, of: str = _SOURCE) -> dict[str, Any]:
    """Those of JsonLines. `of`: the call, for messages; another one than the source takes no `columns`."""
    look = whole("look", look, 1, of=of)
    texts = None if missing is None else _missing_texts(missing, of)
    found = (
        _Looker(patterns, set(texts or ()), of).fields(look) if columns is None else given_types("columns", columns, of)
    )
    return {"fields": field_texts(found), "missing": texts}


def _missing_texts(missing: Any, of: str) -> dict[str, str]:
    if not isinstance(missing, Mapping):
        raise GraphError(f'{of}: missing is {shown(missing)}; give a dict from column to value, such as {{"age": -1}}')
    written: dict[str, str] = {}
    for name, value in missing.items():
        name = text("a column of missing", name, of)
        try:
            written[name] = json.dumps(value.tolist() if hasattr(value, "tolist") else value)
        except (TypeError, ValueError, RecursionError):
            raise GraphError(
                f'{of}: missing["{name}"] is {shown(value)}; it must be a number, a bool, a text, or a list of them'
            ) from None
    return written


# As many as the engine has, and follows.
_MOST_AXES = 32
_MOST_DOTS = 64
# Of a list without elements.
_OF_NOTHING = "no dtype"


class _Looker:
    """Looks for columns in the rows of files, as they come: lines, or elements of arrays."""

    def __init__(self, patterns: Any, missing: set[str], of: str) -> None:
        self._patterns = patterns
        self._missing = missing
        self._of = of
        # What to do where rows do not agree.
        self._choose = (
            "name the columns to read: columns={…}" if of == _SOURCE else "write the same in all rows, or leave it out"
        )
        self._number = 0

    def fields(self, look: int) -> dict[str, FieldType]:
        found: dict[str, FieldType] | None = None
        for line in first_lines(self._patterns, look, self._of, json=True):
            self._number += 1
            types = self._types_of(line)
            found = types if found is None else self._joined(found, types)
        if not found:
            advice = "give them: columns={…}" if self._of == _SOURCE else "write one at least"
            raise GraphError(f"{self._of}: the files have no row that shows the columns; {advice}")
        if hidden := [name for name in self._missing if name not in found]:
            raise GraphError(
                f'{self._of}: no row that was looked at has a value of "{hidden[0]}", which missing names; '
                + ("give its type: columns={…}" if self._of == _SOURCE else "leave it out there")
            )
        for name, (dtype, _) in found.items():
            if dtype == _OF_NOTHING:
                raise GraphError(
                    f'{self._of}: "{name}" is an empty list in all rows that were looked at, which has no type of a column; '
                    f"{self._choose}"
                )
        return {name: FieldType(settled(dtype), shape) for name, (dtype, shape) in found.items()}

    def _here(self) -> str:
        return f"row {self._number} of {shown(self._patterns)}"

    def _types_of(self, line: str) -> dict[str, FieldType]:
        if not line.strip():
            raise DataError(f"{self._of}: {self._here()} is blank; take the line out, as each is an object")
        try:
            row = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self._of}: {self._here()} is not JSON: {error}{_of_many_lines(line)}") from None
        if not isinstance(row, dict):
            raise DataError(f"{self._of}: {self._here()} is {shown(row)}; it must be an object")
        return {name: self._type_of(name, value) for name, value in self._values_of(row).items()}

    def _values_of(self, row: dict[str, Any]) -> dict[str, Any]:
        """By the names of columns: "a.b" is the key b of the object a, unless a key has that name itself."""
        values: dict[str, Any] = {}
        # The lengths of the names of the objects that they are in.
        within: dict[str, int] = {}
        left = [("", key, value) for key, value in reversed(row.items())]
        while left:
            prefix, key, value = left.pop()
            name = prefix + key
            if isinstance(value, dict) and value and name.count(".") < _MOST_DOTS:
                left += [(f"{name}.", *each) for each in reversed(value.items())]
            elif len(prefix) < within.get(name, len(name) + 1) and (value is not None or not self._may_miss(name)):
                values[name], within[name] = value, len(prefix)
        return values

    def _may_miss(self, name: str) -> bool:
        return name in self._missing or any(each.startswith(f"{name}.") for each in self._missing)

    def _type_of(self, name: str, value: Any, axes: int = 0) -> FieldType:
        if isinstance(value, list) and value and axes < _MOST_AXES:
            first, *others = (self._type_of(name, each, axes + 1) for each in value)
            for other in others:
                first = self._wider(name, first, other)
            return FieldType(first.dtype, (len(value), *first.shape))
        if isinstance(value, list) and not value:
            return FieldType(_OF_NOTHING, (0,))
        kinds = {bool: "bool", float: "float64", str: "string"}
        if type(value) is int:
            return FieldType(dtype_of_whole(value) or "float64")
        if type(value) in kinds:
            return FieldType(kinds[type(value)])
        raise GraphError(
            f'{self._of}: "{name}" is {shown(value)} in {self._here()}, which has no type of a column; '
            f"{self._choose}{_or_say_missing(name) if value is None else ''}"
        )

    def _joined(self, before: dict[str, FieldType], now: dict[str, FieldType]) -> dict[str, FieldType]:
        for name in {**before, **now}:
            if (name not in before or name not in now) and name not in self._missing:
                where = f"a row before {self._here()}" if name in now else self._here()
                raise GraphError(
                    f'{self._of}: {where} has no "{name}", which other rows have; {self._choose}{_or_say_missing(name)}'
                )
        both = {name: self._wider(name, before[name], now[name]) for name in before if name in now}
        return {**before, **now, **both}

    def _wider(self, name: str, a: FieldType, b: FieldType) -> FieldType:
        for empty, other in ((a, b), (b, a)):
            if empty.dtype == _OF_NOTHING and len(empty.shape) <= len(other.shape):
                return FieldType(other.dtype, _shape_of_both(empty.shape, other.shape))
        dtype = wider_dtype(a.dtype, b.dtype)
        if len(a.shape) != len(b.shape) or dtype is None:
            raise GraphError(
                f'{self._of}: "{name}" is {settled(b.dtype)}{shape_text(b.shape)} in {self._here()}, and '
                f"{settled(a.dtype)}{shape_text(a.shape)} before; {self._choose}"
            )
        return FieldType(dtype, _shape_of_both(a.shape, b.shape))


def _shape_of_both(least: tuple[int | None, ...], most: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Empty lists say nothing of the axes below them."""
    return (*(x if x == y else None for x, y in zip(least, most, strict=False)), *most[len(least) :])


def _or_say_missing(name: str) -> str:
    return f', or say what stands for it where it is not there, such as missing={{"{name}": 0}}'


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it has {name}, which JSON does not have")


def _of_many_lines(line: str) -> str:
    """What to do about a value that begins in the line and does not end there, as far as its first character shows."""
    if line.lstrip()[:1] != "{" or line.rstrip()[-1:] == "}":
        return ""
    return '; each line is a whole object, or the file is one array of them: write a file of other JSON anew, with "\\n".join(map(json.dumps, objects))'
