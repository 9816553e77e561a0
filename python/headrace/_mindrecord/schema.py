"""`Schema`: which fields MindRecord rows have, from MindSpore's dict or from the columns of a dataset."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown, text
from headrace.errors import GraphError

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace._datasets.base import ColumnType

__all__ = ["Field", "Schema", "index_fields"]

NUMBERS = ("int32", "int64", "float32", "float64")
TYPES = (*NUMBERS, "string", "bytes")
_NAME = re.compile(r"[0-9A-Za-z_]+")
# What a column of another type is written as, exactly.
_WIDER = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "bool": "int32", "uint32": "int64"}
_WIDER |= {"float16": "float32", "bfloat16": "float32"}


@dataclass(frozen=True)
class Field:
    """One field of a row. A shape has at most one -1: it follows from the number of elements."""

    name: str
    type: str
    shape: tuple[int, ...] | None = None

    @property
    def in_blob(self) -> bool:
        return self.shape is not None or self.type == "bytes"

    @property
    def as_dict(self) -> dict[str, Any]:
        """As MindSpore's schemas have it."""
        return {"type": self.type} if self.shape is None else {"shape": list(self.shape), "type": self.type}


@dataclass(frozen=True)
class Schema:
    """The fields in order of their names, and a description."""

    fields: tuple[Field, ...]
    description: str = ""
    # As a header has them; None: in order of their names.
    blob_order: tuple[str, ...] | None = None

    @classmethod
    def of_content(cls, content: Any, description: Any, of: str) -> "Self":
        """Of a dict from name to `{"type": …}` or `{"type": …, "shape": […]}`."""
        if not isinstance(content, Mapping) or not content:
            raise GraphError(
                f'{of}: the schema is {shown(content)}; give a dict such as {{"label": {{"type": "int32"}}}}'
            )
        described = "" if description is None else text("desc", description, of)
        return cls._sorted((_field_of(name, each, of) for name, each in content.items()), described)

    @classmethod
    def of_columns(cls, columns: "Mapping[str, ColumnType]", of: str) -> "Self":
        return cls._sorted((_field_of_column(name, each, of) for name, each in columns.items()), "")

    @classmethod
    def of_header(cls, header: Mapping[str, Any]) -> "Self":
        """Of one that the engine found to be good."""
        (schema,) = header["schema"]
        fields = (
            Field(name, each["type"], tuple(each["shape"]) if "shape" in each else None)
            for name, each in schema["schema"].items()
        )
        return cls._sorted(fields, str(schema.get("desc", "")), tuple(schema["blob_fields"]))

    @classmethod
    def _sorted(cls, fields: Iterable[Field], description: str, blob_order: tuple[str, ...] | None = None) -> "Self":
        return cls(tuple(sorted(fields, key=lambda field: field.name)), description, blob_order)

    @cached_property
    def scalars(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not field.in_blob)

    @cached_property
    def blobs(self) -> tuple[Field, ...]:
        """In the order in which a blob has them."""
        by_name = {field.name: field for field in self.fields if field.in_blob}
        return tuple(by_name[name] for name in self.blob_order or by_name)

    @property
    def content(self) -> dict[str, dict[str, Any]]:
        return {field.name: field.as_dict for field in self.fields}

    @property
    def as_dict(self) -> dict[str, Any]:
        """As headers have it."""
        return {
            "blob_fields": [field.name for field in self.blobs],
            "desc": self.description,
            "schema": self.content,
        }


def index_fields(schema: Schema, given: Sequence[str] | None, of: str) -> list[str]:
    """The fields that the index holds: those given, else all scalars whose names it can hold."""
    found: dict[str, str] = {}
    scalars = {field.name for field in schema.scalars}
    for name in (field.name for field in schema.scalars) if given is None else given:
        if name not in scalars:
            raise GraphError(
                f"{of}: the index names {shown(name)}, not one of the numbers and texts of the schema: "
                f"{', '.join(sorted(scalars)) or 'it has none'}"
            )
        why = _why_not_indexed(name, found)
        if not why:
            found[name.casefold()] = name
        elif given is not None:
            raise GraphError(f'{of}: the index names "{name}", {why}')
    return list(found.values())


def _why_not_indexed(name: str, before: Mapping[str, str]) -> str:
    """Names are those of columns of SQLite, with "_0" after them. Empty: it may be."""
    if name[0].isdigit():
        return "and MindSpore reads no index over a name that begins with a digit: give the field another name"
    if name.casefold() == "inc":
        return "a name that the index has for its own columns: give the field another name"
    if name.casefold() in before:
        return f'which is "{before[name.casefold()]}" again: names in an index differ in more than their case'
    return ""


def _check_name(name: Any, of: str, advice: str = "") -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise GraphError(
            f"{of}: a field is called {shown(name)}; MindRecord names have letters of ASCII, digits and _ alone{advice}"
        )
    return name


def _field_of(name: Any, given: Any, of: str) -> Field:
    _check_name(name, of)
    if not isinstance(given, Mapping) or "type" not in given or not given.keys() <= {"type", "shape"}:
        raise GraphError(
            f'{of}: the field "{name}" is {shown(given)}; give {{"type": "int32"}}, or with a shape '
            '{"type": "int32", "shape": [2, -1]}'
        )
    kind = given["type"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise GraphError(f'{of}: the field "{name}" has the type {shown(kind)}; types are {", ".join(TYPES)}')
    if "shape" not in given:
        return Field(name, kind)
    if kind not in NUMBERS:
        raise GraphError(f'{of}: the field "{name}" is {kind} with a shape; shapes are for {", ".join(NUMBERS)}')
    return Field(name, kind, _shape_of(name, given["shape"], of))


def _shape_of(name: str, given: Any, of: str) -> tuple[int, ...]:
    whole = isinstance(given, (list, tuple)) and all(type(size) is int for size in given)
    if not whole or not given or any(size < 1 and size != -1 for size in given) or list(given).count(-1) > 1:
        raise GraphError(
            f'{of}: the field "{name}" has the shape {shown(given)}; give a list of whole numbers from 1 on, one of '
            "which may be -1"
        )
    return tuple(given)


def _field_of_column(name: str, column: "ColumnType", of: str) -> Field:
    _check_name(name, of, ": rename the column with rename()")
    dtype, shape = column
    if dtype == "unknown" or shape is None:
        raise GraphError(
            f"{of}: the type of {name} is not known before the run; state it where a function gives it, with types={{…}}"
        )
    if dtype not in TYPES:
        wider = _WIDER.get(dtype)
        advice = f'convert it with .map(T.TypeCast("{wider}"), "{name}")' if wider else "convert it, or leave it out"
        raise GraphError(f"{of}: {name} is {dtype}, and MindRecord has {', '.join(TYPES)}: {advice}")
    if shape == ():
        return Field(name, dtype)
    if dtype not in NUMBERS:
        raise GraphError(
            f"{of}: {name} has several {dtype} a row, and a field of MindRecord has one: leave batch() out"
        )
    if shape.count(None) > 1 or 0 in shape:
        raise GraphError(
            f"{of}: {name} has the shape {shape}; in a MindRecord schema at most one dimension may differ from row to "
            "row, and none is 0"
        )
    return Field(name, dtype, tuple(-1 if size is None else size for size in shape))
