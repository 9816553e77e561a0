"""Types of columns as users declare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from headrace._arguments.dtype import DType, dtype_advice, dtype_name
from headrace._arguments.options import shown, text
from headrace._kernels.mapping import Types, names
from headrace.errors import GraphError

__all__ = ["Columns", "FeatureTypes", "FieldTypes", "column_types"]

# Names, or names with their types as far as known.
Columns: TypeAlias = str | Sequence[str] | Mapping[str, DType | tuple[DType, Sequence[int | None] | None]]

# Names with their types, of one shape each.
FieldTypes: TypeAlias = Mapping[str, DType | tuple[DType, Sequence[int | None]]]

# The same, perhaps with what stands for a value that is missing.
FeatureTypes: TypeAlias = Mapping[
    str, DType | tuple[DType, Sequence[int | None]] | tuple[DType, Sequence[int | None], Any]
]


def column_types(columns: Columns, of: str) -> Types:
    if not isinstance(columns, Mapping):
        columns = dict.fromkeys(names(columns, "columns", of), "unknown")
    types: Types = []
    for name, given in columns.items():
        name = text("a column's name", name, of)
        dtype, shape = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        try:
            types.append((name, dtype_name(dtype), None if shape is None else tuple(shape)))
        except (TypeError, ValueError):
            raise GraphError(
                f'{of}: the type of column "{name}" is {shown(given)}; '
                f"{dtype_advice(dtype) or 'give a dtype, or (dtype, shape)'}"
            ) from None
    if not types:
        raise GraphError(f"{of}: no columns; name at least one")
    return types
