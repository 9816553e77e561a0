"""What the metadata of an Arrow schema says of its columns: the axes of arrays of fixed shape, and the names of classes that
Hugging Face's libraries write there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from headrace.errors import DataError, GraphError

__all__ = ["feature_classes", "tensor_shape"]

_TENSOR = "arrow.fixed_shape_tensor"
_LISTS = ("Sequence", "List", "LargeList")


def tensor_shape(name: str, extension: str, metadata: bytes, of: str) -> list[int] | None:
    """The axes of a column of tensors; None: it is another type. `of`: the call, for messages."""
    if extension != _TENSOR:
        return None
    what = f'{of}: column "{name}"'
    given = _json(metadata, f"{what}: the metadata of its tensors")
    shape = given.get("shape") if isinstance(given, Mapping) else None
    if not isinstance(shape, list) or not all(type(axis) is int and axis >= 0 for axis in shape):
        raise DataError(f"{what}: the metadata of its tensors has no shape: {given!r}")
    order = given.get("permutation")
    if order is not None and order != list(range(len(shape))):
        raise GraphError(
            f"{what} holds tensors whose axes are in another order in memory; copy them to row-major order"
        )
    return shape


def feature_classes(metadata: Mapping[bytes, bytes], of: str) -> dict[str, list[str]]:
    """The names of classes by column, whose fields of structs have dotted names."""
    text = metadata.get(b"huggingface")
    if text is None:
        return {}
    given = _json(text, f"{of}: the metadata `huggingface` of the schema")
    info = given.get("info") if isinstance(given, Mapping) else None
    features = info.get("features") if isinstance(info, Mapping) else None
    found: dict[str, list[str]] = {}
    # Not by recursion: the metadata may nest as deep as it likes.
    open_: list[tuple[str, Any]] = [("", features)]
    while open_:
        name, feature = open_.pop()
        if not isinstance(feature, (Mapping, list)):
            continue
        if _kind(feature) == "ClassLabel":
            names = feature["names"] if isinstance(feature, Mapping) and "names" in feature else None
            if isinstance(names, list) and all(isinstance(each, str) for each in names):
                found[name] = names
            continue
        open_ += _inner(name, feature)
    return found


def _kind(feature: Mapping[str, Any] | list[Any]) -> Any:
    return feature.get("_type") if isinstance(feature, Mapping) else None


def _inner(name: str, feature: Mapping[str, Any] | list[Any]) -> Iterable[tuple[str, Any]]:
    """The features in a list, which have its name, or in a struct."""
    if isinstance(feature, list):
        return [(name, each) for each in feature[:1]]
    kind = _kind(feature)
    if isinstance(kind, str):
        return [(name, feature.get("feature"))] if kind in _LISTS else []
    return [(f"{name}.{key}" if name else key, each) for key, each in feature.items()]


def _json(text: bytes, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{what} cannot be read: {error}") from None
