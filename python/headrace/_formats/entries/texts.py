"""Files of lines: CSV, JSON lines, LibSVM, MXNet's image lists, and plain text."""

import csv
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from headrace import sources
from headrace._files.places import exists
from headrace._formats.first_bytes import FirstBytes
from headrace._formats.format import Format, Place

__all__ = ["CSV", "IMAGE_LIST", "JSON_LINES", "LIB_SVM", "TEXT"]

_COMPRESSED = frozenset({"gzip", "zstd"})
_NUMBER = r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?"
_SPARSE = re.compile(rf"\s*{_NUMBER}(:{_NUMBER})?(\s+(qid:)?[0-9]+:{_NUMBER})+\s*(#.*)?")
_LISTED = re.compile(rf"[0-9]+(\t{_NUMBER})+\t[^\t]+")
_ARRAY = re.compile(r"\s*\[\s*\{")
# Of lines that are parsed as JSON.
_LOOKED_AT = 10
_DELIMITERS = ",\t;|"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_json_lines(first: FirstBytes) -> bool:
    """Objects in lines, or an array of objects."""
    if _ARRAY.match(first.text or ""):
        return True
    return first.begins_as_json and all(map(_is_object, first.lines[:_LOOKED_AT]))


def _is_sparse(first: FirstBytes) -> bool:
    return bool(first.lines) and all(map(_SPARSE.fullmatch, first.lines))


def _is_list(first: FirstBytes) -> bool:
    return bool(first.lines) and all(map(_LISTED.fullmatch, first.lines))


def _delimiter_of(lines: list[str]) -> str | None:
    """The one that divides all lines into as many fields, at least two."""
    for delimiter in _DELIMITERS:
        try:
            counts = {len(row) for row in csv.reader(lines, delimiter=delimiter, strict=True)}
        except csv.Error:
            continue
        if len(counts) == 1 and counts.pop() > 1:
            return delimiter
    return None


def _is_csv(first: FirstBytes) -> bool:
    return not first.begins_as_json and len(first.lines) > 1 and _delimiter_of(first.lines) is not None


def _csv_options(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """A delimiter other than a comma, and that there is no line of names."""
    first = place.first
    if first is None:
        return {}
    delimiter = given.get("delimiter", _delimiter_of(first.lines) or ("\t" if first.name.endswith(".tsv") else ","))
    found = {} if "delimiter" in given or delimiter == "," else {"delimiter": delimiter}
    fields = next(csv.reader(first.lines[:1], delimiter=delimiter), [])
    if (
        not {"header", "columns"} & given.keys()
        and fields
        and all(re.fullmatch(_NUMBER, each.strip()) for each in fields)
    ):
        found |= {"header": False, "columns": [f"column{number}" for number in range(len(fields))]}
    return found


def _root_of_list(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """The list's own folder, where its first file is there."""
    if "root" in given or place.first is None or not place.first.lines:
        return {}
    folder = os.path.dirname(place.first.path)
    return {"root": folder} if exists(os.path.join(folder, place.first.lines[0].rpartition("\t")[2])) else {}


def _list_width(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    widths = {line.count("\t") - 1 for line in (place.first.lines if place.first else [])}
    width = {} if "label_width" in given or widths <= {1} else {"label_width": widths.pop() if len(widths) == 1 else -1}
    return _root_of_list(place, given) | width


CSV = Format(
    "CSV",
    "hr.Csv",
    lambda paths, **options: sources.Csv(paths, **options),
    recognises=_is_csv,
    endings=(".csv", ".tsv"),
    is_text=True,
    compressions=_COMPRESSED,
    proposed=_csv_options,
)
JSON_LINES = Format(
    "JSON lines",
    "hr.JsonLines",
    lambda paths, **options: sources.JsonLines(paths, **options),
    recognises=_is_json_lines,
    endings=(".jsonl", ".ndjson"),
    is_text=True,
    compressions=_COMPRESSED,
)
LIB_SVM = Format(
    "LibSVM",
    "hr.LibSvm",
    lambda paths, **options: sources.LibSvm(paths, **options),
    recognises=_is_sparse,
    endings=(".libsvm", ".svm", ".svmlight"),
    is_text=True,
    compressions=_COMPRESSED,
)
IMAGE_LIST = Format(
    "image list",
    "hr.ImageList",
    lambda paths, **options: sources.ImageList(paths, **options),
    recognises=_is_list,
    endings=(".lst",),
    is_text=True,
    proposed=_list_width,
    takes_patterns=False,
    takes_several=False,
)
TEXT = Format(
    "text",
    "hr.Text",
    lambda paths, **options: sources.Text(paths, **options),
    recognises=lambda first: bool(first.lines) and not first.is_json,
    endings=(".txt", ".text"),
    is_text=True,
    compressions=_COMPRESSED,
)
