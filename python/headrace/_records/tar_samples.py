"""Writes the rows of any dataset as samples of tar archives: `Dataset.write_tar`."""

import io
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments import options
from headrace._records.tar_head import BLOCK, member_head
from headrace._writing.encoding import DRAFT, Encoding, Part, Stream
from headrace._writing.part_paths import MOST_FILES, set_pattern
from headrace._writing.set_writer import WriteSet, write_set
from headrace.errors import DataError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.base import ColumnType
    from headrace._datasets.dataset import Dataset

__all__ = ["WrittenTar", "write_tar"]

_OF = "write_tar"
_KEY = "__key__"
# Of the archive that the row was read from.
_LEFT_OUT = {"__fields__", "__url__"}
_JSON = {"json", "jsn"}
_COMPRESSED = (".gz", ".tgz", ".zst", ".tzst", ".bz2", ".tbz2", ".xz", ".txz")
_END = bytes(2 * BLOCK)
_NAME_ARRAYS = 'name it with .npy at its end, as by .rename({{"{name}": "{name}.npy"}})'

# What makes the bytes of a field of a row, and of its number for messages.
_Encode = Callable[[dict[str, Any], int], Any]


@dataclass
class WrittenTar:
    """What `write_tar` wrote."""

    path: str
    """The archive; of several a pattern that matches them."""
    samples: int
    bytes: int
    """Of the archives."""
    seconds: float
    """Of this run."""
    paths: list[str] = field(default_factory=list)
    """The archives, in the order of their rows."""
    kept: int = 0
    """Of the archives, those that an earlier run had finished."""


def write_tar(
    dataset: "Dataset",
    path: str | os.PathLike[str],
    files: Any,
    resume: Any,
    given: dict[str, Any],
    write: WriteSet = write_set,
) -> WrittenTar:
    """As Dataset.write_tar, which describes it; `given` are options of the run; `write` writes the set."""
    path = options.file_path("path", path, _OF)
    if path.endswith(_COMPRESSED):
        raise GraphError(
            f"{_OF}: {options.shown(path)} names a compressed file, and archives are written as they are, so that an index "
            "can number their samples; write a .tar, and compress it afterwards"
        )
    files = options.whole("files", files, 1, _OF, MOST_FILES)
    resume = options.flag("resume", resume, _OF)
    written = write(dataset, path, _SampleEncoding(dataset.schema), given, files=files, resume=resume)
    return WrittenTar(
        set_pattern(path, files), sum(written.rows), written.bytes, written.seconds, written.paths, written.kept
    )


class _SampleEncoding(Encoding):
    of = _OF

    def __init__(self, schema: "dict[str, ColumnType]") -> None:
        self._fields = _fields_of(schema)
        self._has_key = _KEY in schema

    @property
    def identity(self) -> Any:
        return [list(self._fields), self._has_key]

    def begin(self, path: str) -> Part:
        return _SamplePart(path, self._fields, self._has_key)


class _SamplePart(Part):
    def __init__(self, path: str, fields: dict[str, _Encode], has_key: bool) -> None:
        self._fields = fields
        self._has_key = has_key
        self._last_key: str | None = None
        self._stream = _engine.OutputStream(os.fsencode(path), DRAFT)

    @property
    def streams(self) -> Sequence[Stream]:
        return (self._stream,)

    def append(self, row: dict[str, Any], number: int) -> None:
        key = _checked_key(row[_KEY], self._last_key, number) if self._has_key else f"{number:09}"
        parts: list[Any] = []
        for name, encode in self._fields.items():
            data = encode(row, number)
            size = memoryview(data).nbytes
            parts += [member_head(os.fsencode(f"{key}.{name}"), size), data, bytes(-size % BLOCK)]
        self._stream.append(parts)
        self._last_key = key

    def finish(self) -> None:
        self._stream.append([_END])


def _checked_key(given: Any, last: str | None, number: int) -> str:
    """Raises DataError for one that readers would not find again."""
    key = str(given)
    base = key.rpartition("/")[2]
    first = key.partition("/")[0] if "/" in key else ""
    reason = ""
    if "." in base or not base:
        reason = "its last part is empty or has a dot, at which readers end it"
    elif "\0" in key:
        reason = "it has a NUL"
    elif len(first) >= 4 and first.startswith("__") and first.endswith("__"):
        reason = "readers leave out what is in a folder with such a name"
    elif key == last:
        reason = "the row before it has the same, and both would be one sample"
    if reason:
        raise DataError(f"{_OF}: the key of row {number} is {options.shown(key)}: {reason}; give another __key__")
    return key


# ---- fields ----


def _fields_of(schema: "dict[str, ColumnType]") -> dict[str, _Encode]:
    """What makes the bytes of each field, in the order of the columns."""
    objects: dict[str, dict[str, str]] = {}
    fields: dict[str, _Encode] = {}
    if _KEY in schema and (schema[_KEY].dtype not in ("string", "unknown") or schema[_KEY].shape not in ((), None)):
        raise GraphError(f"{_OF}: {_KEY} is {schema[_KEY].dtype} of shape {schema[_KEY].shape}; keys are texts")
    for name, column in schema.items():
        if name == _KEY or name in _LEFT_OUT:
            continue
        split = _object_and_key(name)
        if split is not None:
            _check_name(split[0], name)
            objects.setdefault(split[0], {})[split[1]] = name
            fields.setdefault(split[0], _object_of(objects[split[0]]))
            continue
        _check_name(name, name)
        _check_type(name, column)
        fields[name] = _value_of(name)
    for name in objects:
        if name in schema:
            raise GraphError(f'{_OF}: the columns "{name}" and "{next(iter(objects[name].values()))}" are one field')
    if not fields:
        raise GraphError(f"{_OF}: the dataset has no column that becomes a field; name at least one")
    return fields


def _object_and_key(name: str) -> tuple[str, str] | None:
    """Of "json.caption", which is a key of an object."""
    parts = name.split(".")
    for at, part in enumerate(parts[:-1]):
        if part in _JSON:
            return ".".join(parts[: at + 1]), ".".join(parts[at + 1 :])
    return None


def _check_name(field_name: str, column: str) -> None:
    reason = ""
    if field_name != field_name.lower():
        reason = "fields are read in lower case"
    elif any(each in field_name for each in "/;\0") or not field_name:
        reason = 'fields are endings of file names, without "/" and ";"'
    if reason:
        raise GraphError(f"{_OF}: the column {options.shown(column)} cannot be a field: {reason}; rename() it")


def _check_type(name: str, column: "ColumnType") -> None:
    """As far as it is known before the run."""
    last = name.rpartition(".")[2]
    if column.dtype == "bfloat16":
        raise GraphError(
            f'{_OF}: {name} is bfloat16, which files do not hold; convert it by .map(T.TypeCast("float32"), "{name}")'
        )
    single = column.shape in ((), None)
    if single or last in _JSON or (last == "npy" and column.dtype not in ("bytes", "string")):
        return
    kind = f"{_OF}: {name} is {column.dtype} of shape {column.shape}, and a field holds one value: "
    if column.dtype in ("bytes", "string"):
        raise GraphError(f"{kind}leave batch() out, or name texts with .json at their end")
    raise GraphError(kind + _NAME_ARRAYS.format(name=name))


def _value_of(name: str) -> _Encode:
    last = name.rpartition(".")[2]
    return lambda row, number: _encoded(name, last, row[name], number)


def _encoded(name: str, last: str, value: Any, number: int) -> Any:
    import numpy as np

    if isinstance(value, (bytes, memoryview)):
        return value
    if last in _JSON and not isinstance(value, str):
        return _json_bytes(value.tolist(), name, number)
    if isinstance(value, str):
        return _text_bytes(value, name, number)
    if last == "npy" and value.dtype.kind in "biuf":
        saved = io.BytesIO()
        np.lib.format.write_array(saved, np.ascontiguousarray(value).reshape(value.shape), allow_pickle=False)
        return saved.getvalue()
    if value.ndim == 0 and value.dtype.kind in "biuf":
        # Whoever reads classes reads whole numbers.
        return str(int(value) if value.dtype.kind == "b" else value[()]).encode()
    raise DataError(
        f"{_OF}: {name} of row {number} is {value.dtype} of shape {value.shape}, and a field holds one value: "
        + _NAME_ARRAYS.format(name=name)
    )


def _object_of(names: dict[str, str]) -> _Encode:
    """`names`: of the columns, by their keys; those that follow are added to it."""

    def encode(row: dict[str, Any], number: int) -> bytes:
        values = {}
        for key, name in names.items():
            value = row[name]
            if isinstance(value, (bytes, memoryview)):
                raise DataError(
                    f"{_OF}: {name} of row {number} is bytes, and JSON has none; rename() it to a field of its own"
                )
            values[key] = value if isinstance(value, str) else value.tolist()
        return _json_bytes(values, ", ".join(names.values()), number)

    return encode


def _json_bytes(value: Any, name: str, number: int) -> bytes:
    try:
        return _text_bytes(json.dumps(value, ensure_ascii=False, allow_nan=False), name, number)
    except (TypeError, ValueError):
        raise DataError(
            f"{_OF}: {name} of row {number} is {options.shown(value)}, which JSON does not hold; write arrays as .npy"
        ) from None


def _text_bytes(text: str, name: str, number: int) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise DataError(
            f"{_OF}: {name} of row {number} is {options.shown(text)}, which is not UTF-8; encode it, and write bytes"
        ) from None
