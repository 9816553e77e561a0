"""The columns of JSON lines and their types: as given, or as the first lines show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from headrace.dtype import dtype_name
from headrace.errors import DataError, Error, GraphError
from headrace.options import shown, text, whole

__all__ = ["json_fields"]


class _Type(NamedTuple):
    dtype: str
    shape: tuple[int | None, ...]


def json_fields(patterns: Any, columns: Any, look: int) -> list[str]:
    """As the attribute `fields` of JsonLines has them: "box float32 (4,)"."""
    look = whole("look", look, 1, of="JsonLines")
    found = _Looker(patterns).fields(look) if columns is None else _given(columns)
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
            kind = dtype_name(dtype)
        except (TypeError, ValueError):
            raise _no_type(name, given) from None
        if isinstance(shape, str) or not isinstance(shape, Sequence):
            raise _no_type(name, given)
        types[name] = _Type(kind, tuple(_dimension(name, given, each) for each in shape))
    return types


def _no_type(name: str, given: Any) -> GraphError:
    return GraphError(
        f'JsonLines: the type of column "{name}" is {shown(given)}; give a dtype, or (dtype, shape), such as '
        '("float32", (4, None))'
    )


def _dimension(name: str, given: Any, size: Any) -> int | None:
    if isinstance(size, bool):
        raise _no_type(name, given)
    return None if size is None else whole(f'a dimension of column "{name}"', size, of="JsonLines")


# ---- types that the first lines show ----

# As many as the engine has.
_MOST_AXES = 32
# A whole number that int64 and uint64 hold; int64, where nothing else is known.
_EITHER = "int64 or uint64"


class _Looker:
    """Looks for columns in the lines of files, as they come."""

    def __init__(self, patterns: Any) -> None:
        self._patterns = patterns
        self._number = 0

    def fields(self, look: int) -> dict[str, _Type]:
        found: dict[str, _Type] | None = None
        for line in self._lines(look):
            self._number += 1
            types = self._types_of(line)
            found = types if found is None else self._joined(found, types)
        if not found:
            raise GraphError("JsonLines: the files have no line that shows the columns; give them: columns={…}")
        return {name: _Type(_settled(dtype), shape) for name, (dtype, shape) in found.items()}

    def _lines(self, look: int) -> Iterator[str]:
        from headrace.sources import Text

        try:
            for row in Text(self._patterns).take(look).iterate(workers=1, window=2):
                yield str(row["line"])
        except Error as error:
            # The user wrote no Text.
            error.args = (str(error).replace("Text", "JsonLines", 1), *error.args[1:])
            raise

    def _here(self) -> str:
        return f"line {self._number} of {shown(self._patterns)}"

    def _types_of(self, line: str) -> dict[str, _Type]:
        import json

        try:
            row = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise DataError(f"JsonLines: {self._here()} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise DataError(f"JsonLines: {self._here()} is {shown(row)}; it must be an object")
        return {name: self._type_of(name, value) for name, value in row.items()}

    def _type_of(self, name: str, value: Any, axes: int = 0) -> _Type:
        if isinstance(value, list) and value and axes < _MOST_AXES:
            first, *others = (self._type_of(name, each, axes + 1) for each in value)
            for other in others:
                first = self._wider(name, first, other)
            return _Type(first.dtype, (len(value), *first.shape))
        kinds = {bool: "bool", float: "float64", str: "string"}
        if type(value) is int:
            return _Type(_kind_of_whole(value), ())
        if type(value) in kinds:
            return _Type(kinds[type(value)], ())
        raise GraphError(
            f'JsonLines: "{name}" is {shown(value)} in {self._here()}, which has no type of a column; '
            "name the columns to read: columns={…}"
        )

    def _joined(self, before: dict[str, _Type], now: dict[str, _Type]) -> dict[str, _Type]:
        for name in [*before, *now]:
            if name not in before or name not in now:
                where = f"a line before {self._here()}" if name in now else self._here()
                raise GraphError(
                    f'JsonLines: {where} has no "{name}", which other lines have; '
                    "name the columns to read: columns={…}"
                )
        return {name: self._wider(name, before[name], now[name]) for name in before}

    def _wider(self, name: str, a: _Type, b: _Type) -> _Type:
        dtype = _wider_dtype(a.dtype, b.dtype)
        if len(a.shape) != len(b.shape) or dtype is None:
            raise GraphError(
                f'JsonLines: "{name}" is {_settled(b.dtype)}{_shape_text(b.shape)} in {self._here()}, and '
                f"{_settled(a.dtype)}{_shape_text(a.shape)} before; name the columns to read: columns={{…}}"
            )
        return _Type(dtype, tuple(x if x == y else None for x, y in zip(a.shape, b.shape, strict=True)))


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it has {name}, which JSON does not have")


def _kind_of_whole(value: int) -> str:
    if value < 0:
        return "int64" if value >= -(1 << 63) else "float64"
    return _EITHER if value < 1 << 63 else "uint64" if value < 1 << 64 else "float64"


def _settled(dtype: str) -> str:
    return "int64" if dtype == _EITHER else dtype


def _wider_dtype(a: str, b: str) -> str | None:
    """None: no dtype has both."""
    both = {a, b}
    if len(both) == 1:
        return a
    if both <= {_EITHER, "int64", "uint64", "float64"} and both != {"int64", "uint64"}:
        return "float64" if "float64" in both else (both - {_EITHER}).pop()
    return None
