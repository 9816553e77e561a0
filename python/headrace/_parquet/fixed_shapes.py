"""The axes that Hugging Face's libraries state for a column that they store as lists of any length: Array2D to Array5D."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from headrace import _engine
from headrace._parquet.pyarrow import pyarrow
from headrace.errors import DataError

__all__ = ["array_type", "stated_shape", "with_stated_shapes"]

_EXTENSION = "datasets.features.features.Array"
_MOST_AXES = 8

_Shape = list[int | None]


def stated_shape(field: Any) -> _Shape | None:
    """The first axis is None where rows differ in it. None: the field is of another type."""
    if getattr(field.type, "extension_name", "").startswith(_EXTENSION):
        written = field.type.__arrow_ext_serialize__()
    else:
        # As it is where the library that registers the type was not imported.
        metadata = field.metadata or {}
        if not metadata.get(b"ARROW:extension:name", b"").startswith(_EXTENSION.encode()):
            return None
        written = metadata.get(b"ARROW:extension:metadata", b"")
    try:
        shape = json.loads(written)[0]
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    sound = isinstance(shape, list) and 0 < len(shape) <= _MOST_AXES
    return shape if sound and all(_is_axis(axis, number) for number, axis in enumerate(shape)) else None


def _is_axis(axis: object, number: int) -> bool:
    return (type(axis) is int and axis > 0) or (axis is None and number == 0)


def array_type(field: Any) -> Any:
    """The type of pyarrow whose rows have the axes that the field states; None: it states none, or does not hold lists of
    as many axes."""
    shape = stated_shape(field)
    if shape is None:
        return None
    types = pyarrow().types
    values = getattr(field.type, "storage_type", field.type)
    for _ in shape:
        if not (types.is_list(values) or types.is_large_list(values)):
            return None
        values = values.value_type
    for axis in reversed(shape):
        values = pyarrow().list_(values) if axis is None else pyarrow().list_(values, axis)
    return values


def with_stated_shapes(table: Any, first_row: int = 0) -> Any:
    """The table's rows are numbered from `first_row` on. DataError if one has another shape than its field states."""
    for number, field in enumerate(table.schema):
        made = array_type(field)
        if made is None:
            continue
        try:
            cast = table.column(number).cast(made)
        except pyarrow().ArrowInvalid as error:
            raise DataError(_other_shape(table.column(number), field, first_row, error)) from None
        table = table.set_column(number, pyarrow().field(field.name, made), cast)
    return table


def _other_shape(column: Any, field: Any, first_row: int, error: Exception) -> str:
    shape = stated_shape(field)
    assert shape is not None
    name = f'column "{_engine.printable(field.name)}"'
    found = [_found_shape(each.as_py()) for each in column]
    row = next((at for at, each in enumerate(found) if not _fits(each, shape)), None)
    if row is None:
        return f"{name}: {error}"
    remedies = [f"remove_columns([{field.name!r}]) of the dataset, which leaves the column out"]
    of_any_length = [None, *shape[1:]]
    if all(_fits(each, of_any_length) for each in found):
        remedies.insert(0, f"shape={_written(of_any_length)} in its features")
    return (
        f"{name} states the shape {_written(shape)} for each row, and row {first_row + row:,} of the stream has "
        f"{_written(found[row])}: write {', or '.join(remedies)}"
    )


def _fits(found: list[int | str], shape: _Shape) -> bool:
    """What is below an empty axis is not found."""
    return all(axis is None or axis == length for length, axis in zip(found, shape, strict=False))


def _found_shape(value: Any) -> list[int | str]:
    """An "…" is an axis in which the lists of one row differ; what is below it is left out."""
    shape: list[int | str] = []
    level = [value]
    while level and all(isinstance(each, list) for each in level):
        lengths = {len(each) for each in level}
        if len(lengths) > 1:
            return [*shape, "…"]
        shape += lengths
        level = [inner for each in level for inner in each]
    return shape


def _written(shape: Sequence[int | str | None]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
