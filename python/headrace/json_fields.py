"""The columns of JSON lines and their types: as given, or as the first lines show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from headrace.dtype import dtype_name
from headrace.errors import DataError, GraphError
from headrace.options import shown, text, whole

__all__ = ["json_fields"]


class _Type(NamedTuple):
    dtype: str
    shape: tuple[int | None, ...]


def json_fields(patterns: Any, columns: Any, look: int) -> list[str]:
    """As the attribute `fields` of JsonLines has them: "box float32 (4,)"."""
    look = whole("look", look, 1, of="JsonLines")
    found = _looked_for(patterns, look) if columns is None else _given(columns)
    return [f"{name} {dtype}{_shape_text(shape)}" for name, (dtype, shape) in found.items()]


def _shape_text(shape: Sequence[int | None]) -> str:
    return f" ({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def _given(columns: Any) -> dict[str, _Type]:
    if not isinstance(columns, Mapping) or not columns:
        raise GraphError(
            f'JsonLines: columns is {shown(columns)}; give a dict from name to type, such as {{"text": str}}, or None'
        )
    types: dict[str, _Type] = {}
    for name, given in columns.items():
        name = text("a column's name", name, "JsonLines")
        dtype, shape = given if isinstance(given, tuple) and len(given) == 2 else (given, ())
        try:
            types[name] = _Type(dtype_name(dtype), tuple(None if each is None else int(each) for each in shape))
        except (TypeError, ValueError, OverflowError):
            raise GraphError(
                f'JsonLines: the type of column "{name}" is {shown(given)}; give a dtype, or (dtype, shape)'
            ) from None
    return types


# ---- types that the first lines show ----


def _looked_for(patterns: Any, look: int) -> dict[str, _Type]:
    from headrace.sources import Text

    found: dict[str, _Type] | None = None
    for number, row in enumerate(Text(patterns).take(look).iterate(workers=1, window=2), 1):
        types = _types_of(number, str(row["line"]))
        found = types if found is None else _joined(number, found, types)
    if not found:
        raise GraphError("JsonLines: the files have no line that shows the columns; give them: columns={…}")
    return found


def _types_of(number: int, line: str) -> dict[str, _Type]:
    import json

    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"JsonLines: line {number} is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise DataError(f"JsonLines: line {number} is {shown(row)}; it must be an object")
    return {name: _type_of(number, name, value) for name, value in row.items()}


def _type_of(number: int, name: str, value: Any) -> _Type:
    kinds = {bool: "bool", int: "int64", float: "float64", str: "string"}
    if type(value) in kinds:
        return _Type(kinds[type(value)], ())
    if isinstance(value, list) and value:
        first, *others = (_type_of(number, name, each) for each in value)
        for other in others:
            first = _wider(number, name, first, other)
        return _Type(first.dtype, (len(value), *first.shape))
    raise GraphError(
        f'JsonLines: "{name}" is {shown(value)} in line {number}, which has no type of a column; '
        "name the columns to read: columns={…}"
    )


def _joined(number: int, before: dict[str, _Type], now: dict[str, _Type]) -> dict[str, _Type]:
    for name in [*before, *now]:
        if name not in before or name not in now:
            where = "line 1" if name in now else f"line {number}"
            raise GraphError(
                f'JsonLines: {where} has no "{name}", which other lines have; name the columns to read: columns={{…}}'
            )
    return {name: _wider(number, name, before[name], now[name]) for name in before}


def _wider(number: int, name: str, a: _Type, b: _Type) -> _Type:
    numbers = {"int64", "float64"}
    if len(a.shape) != len(b.shape) or (a.dtype != b.dtype and not {a.dtype, b.dtype} <= numbers):
        raise GraphError(
            f'JsonLines: "{name}" is {b.dtype}{_shape_text(b.shape)} in line {number}, and {a.dtype}'
            f"{_shape_text(a.shape)} before; name the columns to read: columns={{…}}"
        )
    dtype = a.dtype if a.dtype == b.dtype else "float64"
    return _Type(dtype, tuple(x if x == y else None for x, y in zip(a.shape, b.shape, strict=True)))
