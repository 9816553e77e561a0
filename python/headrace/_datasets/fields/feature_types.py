"""The features of TFRecord files and their types, as given."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.dtype import dtype_advice, dtype_name
from headrace._arguments.options import shown, text, whole
from headrace.errors import GraphError

__all__ = ["feature_attributes"]

_OF = "TFRecord"
# Names of texts in Python, which NumPy does not have.
_TEXTS = {"str": "string"}


def feature_attributes(features: Any) -> dict[str, Any]:
    """Those of the operator TFRecord."""
    if features is None:
        return {"fields": None, "defaults": None}
    if not isinstance(features, Mapping) or not features:
        raise GraphError(
            f"{_OF}: features is {shown(features)}; give a dict from a feature's name to its type, such as "
            '{"label": "int64"}, or None for the records\' bytes'
        )
    types, defaults = [], {}
    for name, given in features.items():
        name = text("a feature's name", name, _OF)
        dtype, shape, default = _parts(name, given)
        kind = _dtype_of(name, given, dtype)
        types.append((name, kind, _shape_of(name, given, shape)))
        if default is not None:
            defaults[name] = _default_text(name, kind, *default)
    return {"fields": _engine.Columns(types), "defaults": defaults or None}


def _parts(name: str, given: Any) -> tuple[Any, Any, tuple[Any] | None]:
    """The dtype, the shape, and the default, if there is one."""
    if not isinstance(given, tuple):
        return given, (), None
    if len(given) not in (2, 3):
        raise _not_a_type(name, given)
    return given[0], given[1], given[2:] or None


def _dtype_of(name: str, given: Any, dtype: Any) -> str:
    try:
        kind = dtype_name(_TEXTS.get(dtype, dtype) if isinstance(dtype, str) else dtype)
    except (TypeError, ValueError):
        raise _not_a_type(name, given, dtype) from None
    return _TEXTS.get(kind, kind)


def _shape_of(name: str, given: Any, shape: Any) -> tuple[int | None, ...]:
    if isinstance(shape, (str, bytes)) or not isinstance(shape, Sequence):
        raise _not_a_type(name, given)
    for size in shape:
        if isinstance(size, bool):
            raise _not_a_type(name, given)
    return tuple(None if size is None else whole(f'a dimension of "{name}"', size, of=_OF) for size in shape)


def _not_a_type(name: str, given: Any, dtype: Any = None) -> GraphError:
    advice = dtype_advice(dtype) or (
        'give a dtype, (dtype, shape), or (dtype, shape, default), such as "int64", ("float32", (None, 4)) or ("int64", (), 0)'
    )
    return GraphError(f'{_OF}: the type of the feature "{name}" is {shown(given)}; {advice}')


def _default_text(name: str, dtype: str, default: Any) -> str:
    try:
        return json.dumps(_as_json(default, dtype), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        wanted = {"bytes": "bytes", "string": "a text"}.get(dtype, "a number")
        raise GraphError(
            f'{_OF}: the default of the feature "{name}" is {shown(default)}; it must be {wanted}, or lists of them'
        ) from None


def _as_json(value: Any, dtype: str) -> Any:
    """Raises TypeError for what has no place in such a feature."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (list, tuple)):
        return [_as_json(each, dtype) for each in value]
    if dtype == "bytes":
        # A character stands for each byte.
        return bytes(value).decode("latin-1") if isinstance(value, (bytes, bytearray, memoryview)) else _refused(value)
    if dtype == "string":
        return value if isinstance(value, str) else _refused(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return _refused(value)
    return value if math.isfinite(value) else str(value)


def _refused(value: Any) -> Any:
    raise TypeError(value)
