"""The columns of samples in tar archives and their types: as given, or as the first samples show them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from headrace._arguments.options import shown, text, texts, whole
from headrace._datasets.base import source
from headrace._datasets.fields.declared_fields import FieldType, field_texts, given_types
from headrace.errors import GraphError

__all__ = ["tar_attributes"]

_OF = "WebDataset"
# Of the sample, not of its fields, and how the engine reads them.
_OF_SAMPLE = {
    "__key__": ("key", FieldType("string")),
    "__url__": ("url", FieldType("string")),
    "__fields__": ("names", FieldType("string", (None,))),
}
_JSON = {"json", "jsn"}
_NEVER_DECODED = {"npz", "pickle", "pkl", "pth", "pyd"}


class _Column(NamedTuple):
    reading: str
    type: FieldType


def tar_attributes(paths: Any, columns: Any, decode: Any, missing: Any, look: Any) -> dict[str, Any]:
    """Those of the operator WebDataset."""
    paths = _with_variables(paths)
    look = whole("look", look, 1, of=_OF)
    decoded = _decoded(decode)
    optional = set(_mapping("missing", missing))
    names = _names_of_samples(paths, optional, look) if columns is None else texts("columns", columns, _OF)
    if columns is None:
        _check_found(names, decoded, optional)
    found = _columns(names, decoded)
    return {
        "paths": paths,
        "fields": field_texts({name: each.type for name, each in found.items()}),
        "readings": [each.reading for each in found.values()],
        "missing": _missing_texts(missing, found),
    }


# ---- lists of shards ----

_VARIABLE = re.compile(r"\$\{(\w+)\}")
# A value may name others.
_MOST_ROUNDS = 10


def _with_variables(paths: Any) -> Any:
    """With the values of WDS_NAME in place of ${NAME}, as WebDataset has them; a path that exists stays."""
    if isinstance(paths, str):
        return _with_values(paths)
    if isinstance(paths, Sequence) and not isinstance(paths, (bytes, bytearray)):
        return [_with_values(each) if isinstance(each, str) else each for each in paths]
    return paths


def _with_values(path: str) -> str:
    for _ in range(_MOST_ROUNDS):
        if _VARIABLE.search(path) is None or os.path.lexists(path):
            break
        path = _VARIABLE.sub(_value, path)
    return path


def _value(found: re.Match[str]) -> str:
    name = f"WDS_{found[1]}"
    if name not in os.environ:
        raise GraphError(
            f"{_OF}: paths has {found[0]}, which is the value of the environment variable {name}, and it is not set"
        )
    return os.environ[name]


# ---- columns and types ----


def _mapping(argument: str, given: Any) -> Mapping[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        example = '{"cls": "int64"}' if argument == "decode" else '{"txt": ""}'
        raise GraphError(f"{_OF}: {argument} is {shown(given)}; give a dict from field to value, such as {example}")
    return given


def _decoded(decode: Any) -> dict[str, dict[str, _Column]]:
    """For each field the columns that it becomes."""
    return {
        text("a field of decode", name, _OF): _columns_of_field(name, given)
        for name, given in _mapping("decode", decode).items()
    }


def _columns_of_field(name: str, given: Any) -> dict[str, _Column]:
    last = name.split(";")[0].rpartition(".")[2].lower()
    if isinstance(given, Mapping):
        if last not in _JSON:
            raise GraphError(
                f'{_OF}: decode["{name}"] is {shown(given)}; a dict gives the keys of an object in JSON, and "{name}" '
                "does not end with json"
            )
        keys = given_types(f'decode["{name}"]', given, _OF)
        return {f"{name}.{key}": _Column(f"json:{key}", _named(type_)) for key, type_ in keys.items()}
    type_ = _named(given_types("decode", {name: given}, _OF)[name])
    return {name: _Column(_reading(name, last, type_), type_)}


def _named(type_: FieldType) -> FieldType:
    """With the engine's name of texts."""
    return FieldType("string", type_.shape) if type_.dtype == "str" else type_


def _reading(name: str, last: str, type_: FieldType) -> str:
    if type_.dtype == "bytes":
        return "bytes"
    if last in _NEVER_DECODED:
        raise GraphError(
            f'{_OF}: decode names "{name}", and such files may run any code, or hold several arrays; leave it out, which '
            "gives its bytes, or write arrays as .npy"
        )
    if last == "npy":
        return "npy"
    if last in _JSON and type_ != FieldType("string"):
        return "json"
    if type_.shape:
        raise GraphError(
            f'{_OF}: decode["{name}"] has the shape {type_.shape}; only arrays in .npy and lists in JSON have one: a text '
            "holds one number, one bool, or the text itself"
        )
    return "text"


def _columns(names: Sequence[str], decoded: Mapping[str, Mapping[str, _Column]]) -> dict[str, _Column]:
    """In the order of the names; those of keys stand where their object does."""
    keys = {name: (field, column) for field, all_of in decoded.items() for name, column in all_of.items()}
    found: dict[str, _Column] = {}
    used: set[str] = set()
    for name in names:
        if name in _OF_SAMPLE:
            _add(found, {name: _Column(*_OF_SAMPLE[name])})
        elif name in decoded:
            _add(found, decoded[name])
            used.add(name)
        elif name in keys:
            field, column = keys[name]
            _add(found, {name: column})
            used.add(field)
        else:
            _add(found, {name: _Column("bytes", FieldType("bytes"))})
    if unread := [name for name in decoded if name not in used]:
        raise GraphError(
            f'{_OF}: decode names "{unread[0]}", and the columns are {", ".join(names)}; name it in columns, or leave it out '
            "of decode"
        )
    if not found:
        raise GraphError(f"{_OF}: columns is empty; name at least one field")
    return found


def _add(found: dict[str, _Column], more: Mapping[str, _Column]) -> None:
    for name, column in more.items():
        if name in found:
            raise GraphError(f'{_OF}: columns names "{name}" twice')
        found[name] = column


# ---- columns that the first samples show ----


def _names_of_samples(paths: Any, optional: set[str], look: int) -> list[str]:
    """Of the fields of the first samples, in the order in which they come."""
    special = {name: _OF_SAMPLE[name] for name in ("__key__", "__fields__")}
    attributes = {
        "paths": paths,
        "fields": field_texts({name: type_ for name, (_, type_) in special.items()}),
        "readings": [reading for reading, _ in special.values()],
    }
    names: list[str] = []
    first: str | None = None
    for row in source(_OF, attributes).take(look).iterate(workers=1, window=2):
        key = str(row["__key__"])
        here = [text(f'a field of the sample "{key}"', str(name), _OF) for name in row["__fields__"]]
        lacks = [name for name in names if name not in here and not _is_optional(name, optional)]
        new = [name for name in here if name not in names]
        late = [name for name in new if first is not None and not _is_optional(name, optional)]
        if lacks or late:
            raise _differs(key if lacks else first or "", (lacks or late)[0], paths)
        names += new
        first = key if first is None else first
    if not names:
        raise GraphError(f"{_OF}: {shown(paths)} has no sample that shows the columns; give them: columns=[…]")
    return names


def _is_optional(field: str, optional: set[str]) -> bool:
    """Whether `missing` names it, or keys of its object."""
    return field in optional or any(name.startswith(f"{field}.") for name in optional)


def _differs(key: str, field: str, paths: Any) -> GraphError:
    return GraphError(
        f'{_OF}: the sample "{key}" of {shown(paths)} has no field "{field}", which others have; name the columns to read: '
        f'columns=[…], or say what stands for the field: missing={{"{field}": …}}'
    )


def _check_found(names: list[str], decoded: Mapping[str, Any], optional: set[str]) -> None:
    """Whether the samples have what was named."""
    for argument, fields in (("decode", decoded), ("missing", optional)):
        for field in fields:
            here = field in names or any(field.startswith(f"{name}.") for name in names if name in decoded)
            if not here:
                raise GraphError(
                    f'{_OF}: {argument} names "{field}", and the first samples have the fields {", ".join(names)}; name the '
                    "columns to read: columns=[…]"
                )


# ---- what stands for fields that are missing ----


def _missing_texts(missing: Any, found: Mapping[str, _Column]) -> dict[str, str] | None:
    if missing is None:
        return None
    return {
        name: _missing_text(text("a column of missing", name, _OF), value, found)
        for name, value in _mapping("missing", missing).items()
    }


def _missing_text(name: str, value: Any, found: Mapping[str, _Column]) -> str:
    is_bytes = name in found and found[name].type.dtype == "bytes"
    if is_bytes != isinstance(value, (bytes, bytearray, memoryview)):
        wanted = "bytes" if is_bytes else "a number, a bool, a text, or a list of them"
        raise GraphError(f'{_OF}: missing["{name}"] is {shown(value)}; it must be {wanted}')
    if is_bytes:
        # A character stands for each byte.
        return json.dumps(bytes(value).decode("latin-1"))
    try:
        return json.dumps(value.tolist() if hasattr(value, "tolist") else value)
    except (TypeError, ValueError, RecursionError):
        raise GraphError(
            f'{_OF}: missing["{name}"] is {shown(value)}; it must be a number, a bool, a text, or a list of them'
        ) from None
