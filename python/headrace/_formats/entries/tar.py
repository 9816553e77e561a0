"""WebDataset's tar archives: fields are decoded as the first samples allow."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from headrace import sources
from headrace._arguments.late_numpy import np
from headrace._datasets.dataset import Dataset
from headrace._formats.format import Converted, Format, Place, Target
from headrace._formats.value_types import json_type
from headrace._writing.part_paths import part_paths
from headrace.errors import DataError

__all__ = ["TAR"]

_LOOKED_AT = 100
_WHOLE = re.compile(rb"\s*-?(0|[1-9][0-9]*)\s*")
_NUMBER = re.compile(rb"\s*[-+]?(nan|inf|(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?)\s*")
_EXACT = 1 << 53
# Of a number, with blanks around it.
_DIGITS = 40
_TEXTS = {"txt", "text", "transcript", "caption"}
_JSON = {"json", "jsn"}
_BYTES = {"bin", "bytes", "raw"}
_OF_SAMPLE = {"__key__", "__url__", "__fields__"}


class _Fields(NamedTuple):
    """Of the first samples."""

    of_all: list[str]
    of_some: list[str]
    damaged: bool
    """Whether damage ends them."""


def _fields_of(place: Place) -> _Fields:
    samples: list[list[str]] = []
    damaged = False
    try:
        with sources.WebDataset(place.paths, ["__fields__"]).take(_LOOKED_AT).iterate(workers=1, window=2) as rows:
            for row in rows:
                samples.append([str(name) for name in row["__fields__"]])
    except DataError:
        damaged = True
    names = list(dict.fromkeys(name for each in samples for name in each))
    of_all = [name for name in names if all(name in each for each in samples)]
    return _Fields(of_all, [name for name in names if name not in of_all], damaged)


def _proposed(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that all of the first samples have, where some have others, and what they hold."""
    found: dict[str, Any] = {}
    names = list(given.get("columns") or ())
    if not names and "missing" not in given:
        fields = _fields_of(place)
        names = fields.of_all
        if names and (fields.of_some or fields.damaged):
            found["columns"] = names
    if "decode" in given or "missing" in given or not names or _OF_SAMPLE & set(names):
        return found
    types = {name: _type_of(name.split(";")[0].rpartition(".")[2], values) for name, values in _values(place, names)}
    decode = {name: type_ for name, type_ in types.items() if type_ is not None}
    return found | ({"decode": decode} if decode else {})


def _left_out(place: Place, given: Mapping[str, Any]) -> dict[str, str]:
    if {"columns", "missing"} & given.keys():
        return {}
    fields = _fields_of(place)
    return {name: "some of the first samples lack it" for name in fields.of_some} if fields.of_all else {}


def _values(place: Place, names: list[str]) -> Iterable[tuple[str, list[bytes]]]:
    """Of the first samples, by field."""
    samples: list[list[bytes]] = []
    try:
        with sources.WebDataset(place.paths, names).take(_LOOKED_AT).iterate(workers=1, window=2) as rows:
            for row in rows:
                samples.append([bytes(row[name]) for name in names])
    except DataError:  # It shows when they are read.
        pass
    return ((name, list(values)) for name, values in zip(names, zip(*samples, strict=True), strict=False))


def _type_of(ending: str, values: list[bytes]) -> Any:
    """As `decode` has it; None: bytes."""
    if ending in _BYTES:
        return None
    if ending in _JSON:
        return _json_types(values)
    if ending == "npy":
        return _array_type(values)
    if ending in _TEXTS:
        return "str" if all(map(_is_text, values)) else None
    return _number_type(values)


def _number_type(values: list[bytes]) -> str | None:
    """Of numbers that it holds exactly, as far as whole ones go."""
    if any(len(each) > _DIGITS for each in values) or not all(map(_NUMBER.fullmatch, values)):
        return None
    wholes = [int(value) for value in values if _WHOLE.fullmatch(value)]
    if len(wholes) < len(values):
        return "float64" if all(abs(each) <= _EXACT for each in wholes) else None
    if all(-(1 << 63) <= each < 1 << 63 for each in wholes):
        return "int64"
    return "uint64" if all(0 <= each < 1 << 64 for each in wholes) else None


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _json_types(values: list[bytes]) -> Any:
    """Of objects with the same keys, each of one type, or of lists. None: bytes, so that no key is lost."""
    try:
        parsed = [json.loads(value) for value in values]
    except (ValueError, RecursionError):
        return None
    if all(isinstance(each, dict) for each in parsed):
        if any(each.keys() != parsed[0].keys() for each in parsed):
            return None
        types = {key: json_type([each[key] for each in parsed]) for key in parsed[0]}
        return types if types and None not in types.values() else None
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
    proposed=_proposed,
    left_out=_left_out,
    beside=(".idx", ".index"),
    target=Target((".tar",), _written, part_paths),
)
