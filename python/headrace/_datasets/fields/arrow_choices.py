"""What users choose of the columns of an Arrow schema: names of classes, values for what is missing, axes of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from headrace._arguments.options import shown, text
from headrace._datasets.fields.arrow_schema import tensor_shape
from headrace._datasets.fields.class_columns import different_names
from headrace.errors import GraphError

__all__ = ["ArrowField", "by_column", "named_classes", "tensor_shapes", "with_names"]


class ArrowField(NamedTuple):
    """As `_engine.ArrowData.fields` gives them."""

    name: str
    dtype: str
    list: bool
    dictionary: bool
    extension: str
    extension_metadata: bytes


def named_classes(classes: Any, fields: Mapping[str, ArrowField], of: str) -> dict[str, list[str] | None]:
    """The names of classes by column, of a list for one column or a dict. None: those that occur."""
    if classes is None:
        return {}
    if isinstance(classes, Mapping):
        return {
            text("a column of classes", name, of): None if names is None else _names(f'classes["{name}"]', names, of)
            for name, names in classes.items()
        }
    names = _names("classes", classes, of)
    return {_class_column(fields, of): names}


def _names(what: str, given: Any, of: str) -> list[str]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise GraphError(
            f"{of}: {what} is {shown(given)}; give the names of the classes, in the order of their numbers, as a list, or a "
            'dict from column to lists, such as {"label": ["cat", "dog"]}'
        )
    return different_names(what, given, of)


def _class_column(fields: Mapping[str, ArrowField], of: str) -> str:
    """The column that a list of classes is for."""
    if "label" in fields:
        return "label"
    dictionaries = [name for name, field in fields.items() if field.dictionary]
    candidates = dictionaries or [name for name, field in fields.items() if field.dtype == "string" and not field.list]
    if len(candidates) == 1:
        return candidates[0]
    raise GraphError(
        f"{of}: classes is a list, and it is not clear of which column ({', '.join(fields)}); give a dict: "
        'classes={"column": […]}'
    )


def with_names(named: Mapping[str, list[str]], fields: Mapping[str, ArrowField]) -> dict[str, list[str]]:
    """Those of columns whose values are the names, not the numbers."""
    return {
        name: names
        for name, names in named.items()
        if name not in fields or fields[name].dictionary or not fields[name].dtype.startswith(("int", "uint"))
    }


def by_column(missing: Any, of: str) -> dict[str, Any]:
    """Values for what is missing."""
    if missing is None:
        return {}
    if not isinstance(missing, Mapping):
        raise GraphError(f'{of}: missing is {shown(missing)}; give a dict from column to value, such as {{"age": -1}}')
    return {text("a column of missing", name, of): value for name, value in missing.items()}


def tensor_shapes(fields: Mapping[str, ArrowField], chosen: Sequence[str] | None, of: str) -> dict[str, list[int]]:
    """The axes of those of the chosen columns that are arrays of fixed shape."""
    shapes = {}
    for name, field in fields.items():
        if chosen is not None and not any(name == each or name.startswith(f"{each}.") for each in chosen):
            continue
        shape = tensor_shape(name, field.extension, field.extension_metadata, of)
        if shape is not None:
            shapes[name] = shape
    return shapes
