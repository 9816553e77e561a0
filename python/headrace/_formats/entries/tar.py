"""WebDataset's tar archives: fields are decoded as the first samples allow."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from typing import Any

from headrace import sources
from headrace._arguments.late_numpy import np
from headrace._datasets.dataset import Dataset
from headrace._formats.format import Converted, Format, Place, Target
from headrace._formats.value_types import json_type
from headrace._writing.part_paths import part_paths
from headrace.errors import DataError

__all__ = ["TAR"]

_LOOKED_AT = 100
_WHOLE = re.compile(rb"\s*-?(0|[1-9][0-9]{0,17})\s*")
_NUMBER = re.compile(rb"\s*[-+]?(nan|inf|(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?)\s*")
_TEXTS = {"txt", "text", "transcript", "caption"}
_JSON = {"json", "jsn"}


def _decode(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """What every one of the first samples fits."""
    if "decode" in given:
        return {}
    raw = {name: value for name, value in given.items() if name in ("columns", "missing", "look")}
    if set(raw.get("columns") or ()) & {"__key__", "__url__", "__fields__"} or "missing" in raw:
        return {}
    try:
        rows = [
            dict(row) for row in sources.WebDataset(place.paths, **raw).take(_LOOKED_AT).iterate(workers=1, window=2)
        ]
    except DataError:
        return _before_damage(place) if "columns" not in given else {}
    found = {}
    for name in rows[0] if rows else ():
        kind = _type_of(name.split(";")[0].rpartition(".")[2], [bytes(row[name]) for row in rows])
        if kind is not None:
            found[name] = kind
    return {"decode": found} if found else {}


def _before_damage(place: Place) -> dict[str, Any]:
    """The fields that all samples before it have."""
    names: list[str] | None = None
    try:
        with sources.WebDataset(place.paths, ["__fields__"]).take(_LOOKED_AT).iterate(workers=1, window=2) as rows:
            for row in rows:
                here = [str(name) for name in row["__fields__"]]
                names = here if names is None else [name for name in names if name in here]
    except DataError:
        pass
    return {"columns": names} if names else {}


def _type_of(ending: str, values: list[bytes]) -> Any:
    """As `decode` has it; None: bytes."""
    if ending in _JSON:
        return _json_types(values)
    if ending == "npy":
        return _array_type(values)
    if ending in _TEXTS:
        return "str" if all(map(_is_text, values)) else None
    if all(map(_WHOLE.fullmatch, values)):
        return "int64"
    return "float64" if all(map(_NUMBER.fullmatch, values)) else None


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _json_types(values: list[bytes]) -> Any:
    """Of the keys that all objects have, or of lists."""
    try:
        parsed = [json.loads(value) for value in values]
    except (ValueError, RecursionError):
        return None
    if all(isinstance(each, dict) for each in parsed):
        keys = [key for key in parsed[0] if all(key in each for each in parsed)]
        types = {key: json_type([each[key] for each in parsed]) for key in keys}
        return {key: type_ for key, type_ in types.items() if type_ is not None} or None
    return json_type(parsed)


def _array_type(values: list[bytes]) -> Any:
    """Of one dtype, and of axes in which None stands for what differs."""
    headers = []
    for value in values:
        try:
            file = io.BytesIO(value)
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
        except ValueError:
            return None
        headers.append((dtype.newbyteorder("="), shape))
    dtypes = {dtype for dtype, _ in headers}
    shapes = [shape for _, shape in headers]
    if len(dtypes) != 1 or len({len(shape) for shape in shapes}) != 1 or headers[0][0].kind not in "biuf":
        return None
    common = tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True))
    return (headers[0][0].name, common)


def _written(dataset: Dataset, path: str, **options: Any) -> Converted:
    written = dataset.write_tar(path, **options)
    return Converted(written.paths, written.samples, written.bytes, written.kept)


TAR = Format(
    "tar",
    "hr.WebDataset",
    lambda paths, **options: sources.WebDataset(paths, **options),
    kinds=frozenset({"tar"}),
    endings=(".tar",),
    compressions=frozenset({"gzip", "zstd", "bzip2", "xz"}),
    proposed=_decode,
    beside=(".idx", ".index"),
    target=Target((".tar",), _written, part_paths),
)
