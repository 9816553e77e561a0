"""The columns that are declared for what a source reads, and what their types have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from headrace._arguments.dtype import dtype_advice, dtype_name
from headrace._arguments.options import shown, text, whole
from headrace._datasets.base import source
from headrace.errors import Error, GraphError


class FieldType(NamedTuple):
    dtype: str
    shape: tuple[int | None, ...] = ()


def field_texts(types: Mapping[str, FieldType]) -> list[str]:
    """As the attribute `fields` has them: "box float32 (4,)"."""
    return [f"{name} {dtype}{shape_text(shape)}" for name, (dtype, shape) in types.items()]


def shape_text(shape: Sequence[int | None]) -> str:
    return f" ({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def given_types(argument: str, given: Any, of: str) -> dict[str, FieldType]:
    """Of a dict from name to dtype, or to (dtype, shape)."""
    if not isinstance(given, Mapping) or not given:
        raise GraphError(
            f'{of}: {argument} is {shown(given)}; give a dict from name to type, such as {{"text": str}}, or None'
        )
    return {text("a column's name", name, of): _type_of(name, each, of) for name, each in given.items()}


def _type_of(name: str, given: Any, of: str) -> FieldType:
    dtype, shape = given if isinstance(given, tuple) and len(given) == 2 else (given, ())
    try:
        kind = dtype_name(dtype)
    except (TypeError, ValueError):
        raise _no_type(name, given, of, dtype) from None
    if isinstance(shape, str) or not isinstance(shape, Sequence):
        raise _no_type(name, given, of)
    return FieldType(kind, tuple(_dimension(name, given, each, of) for each in shape))


def _no_type(name: str, given: Any, of: str, dtype: Any = None) -> GraphError:
    advice = dtype_advice(dtype) or 'give a dtype, or (dtype, shape), such as ("float32", (4, None))'
    return GraphError(f'{of}: the type of column "{name}" is {shown(given)}; {advice}')


def _dimension(name: str, given: Any, size: Any, of: str) -> int | None:
    if isinstance(size, bool):
        raise _no_type(name, given, of)
    return None if size is None else whole(f'a dimension of column "{name}"', size, of=of)


# ---- types that the first rows show ----

# A whole number that int64 and uint64 hold; int64, where nothing else is known.
_EITHER = "int64 or uint64"


def dtype_of_whole(value: int) -> str | None:
    """None: no dtype of whole numbers holds it."""
    if value < 0:
        return "int64" if value >= -(1 << 63) else None
    return _EITHER if value < 1 << 63 else "uint64" if value < 1 << 64 else None


def settled(dtype: str) -> str:
    return "int64" if dtype == _EITHER else dtype


def wider_dtype(a: str, b: str) -> str | None:
    """None: no dtype has both."""
    both = {a, b}
    if len(both) == 1:
        return a
    if both <= {_EITHER, "int64", "uint64", "float64"} and both != {"int64", "uint64"}:
        return "float64" if "float64" in both else (both - {_EITHER}).pop()
    return None


def first_lines(patterns: Any, count: int, of: str, json: bool = False) -> Iterator[str]:
    """Of the files of a source, as they are; of JSON also the elements of a file that is an array."""
    with _errors_of("Text", of):
        for row in source("Text", {"patterns": patterns, "json": json}).take(count).iterate(workers=1, window=2):
            yield str(row["line"])


@contextmanager
def _errors_of(found: str, of: str) -> Iterator[None]:
    """The user wrote no `found`."""
    try:
        yield
    except Error as error:
        error._reword(str(error).replace(found, of, 1))
        raise
