"""`with_fixed_arrays` gives a table of pyarrow whose arrays of fixed shape, which Hugging Face's libraries store as lists of
any length, are lists of one length: their rows have all axes of one length, and can be joined in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace._arguments.import_folder import import_late
from headrace._parquet.fixed_shapes import stated_shape

__all__ = ["with_fixed_arrays"]


def with_fixed_arrays(given: Any) -> Any:
    """Other objects than tables of pyarrow come back as they are; so do columns with rows that are missing or that have
    another shape. Values are not copied."""
    if not any(each.__module__ == "pyarrow.lib" and each.__name__ == "Table" for each in type(given).__mro__):
        return given
    pa = import_late("pyarrow")
    table = given
    for number, field in enumerate(given.schema):
        shape = stated_shape(field)
        column = None if shape is None or shape[0] is None else _fixed(given.column(number), shape)
        if column is not None:
            table = table.set_column(number, pa.field(field.name, column.type), column)
    return table


def _fixed(column: Any, shape: Sequence[int | None]) -> Any:
    pa = import_late("pyarrow")
    chunks = []
    for chunk in column.chunks:
        made = _fixed_chunk(getattr(chunk, "storage", chunk), shape)
        if made is None:
            return None
        chunks.append(made)
    return pa.chunked_array(chunks) if chunks else None


def _fixed_chunk(lists: Any, shape: Sequence[int | None]) -> Any:
    """None: the rows are not all of this shape."""
    pa = import_late("pyarrow")
    values = lists
    for length in shape:
        if not (pa.types.is_list(values.type) or pa.types.is_large_list(values.type)) or values.null_count > 0:
            return None
        if not _has_length(values, length):
            return None
        values = values.flatten()
    for length in reversed(shape):
        values = pa.FixedSizeListArray.from_arrays(values, length)
    return values


def _has_length(lists: Any, length: int | None) -> bool:
    """Whether each list has it."""
    compute = import_late("pyarrow.compute")
    found = compute.min_max(compute.list_value_length(lists)).as_py()
    return len(lists) == 0 or found == {"min": length, "max": length}
