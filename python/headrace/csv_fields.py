"""The columns of CSV files and their types: as given, or as the header and the first rows show them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from headrace import _engine
from headrace.declared_fields import (
    FieldType,
    dtype_of_whole,
    field_texts,
    first_lines,
    given_types,
)
from headrace.errors import Error, GraphError
from headrace.options import flag, shown, text, texts, whole

__all__ = ["csv_attributes"]


def csv_attributes(
    patterns: Any,
    types: Any,
    header: Any,
    columns: Any,
    delimiter: Any,
    quote: Any,
    missing: Any,
    look: Any,
) -> dict[str, Any]:
    look = whole("look", look, 1, of="Csv")
    header = flag("header", header, of="Csv")
    delimiter = text("delimiter", delimiter, of="Csv")
    quote = None if quote is None else text("quote", quote, of="Csv")
    names = None if columns is None else texts("columns", columns, of="Csv")
    if types is None:
        all_names = _names_of_header(patterns, header, delimiter, quote) if names is None else names
        found = _types_of_rows(patterns, all_names, header, delimiter, quote, look)
    else:
        found = given_types("types", types, "Csv")
    return {
        "fields": field_texts(found),
        "header": header,
        "names": names,
        "delimiter": delimiter,
        "quote": quote,
        "missing": None if missing is None else _missing_texts(missing, found),
    }


def _missing_texts(missing: Any, types: dict[str, FieldType]) -> dict[str, str]:
    if not isinstance(missing, Mapping):
        raise GraphError(f'Csv: missing is {shown(missing)}; give a dict from column to value, such as {{"age": -1}}')
    written: dict[str, str] = {}
    for name, value in missing.items():
        name = text("a column of missing", name, "Csv")
        if getattr(value, "ndim", None) == 0:
            value = value.item()
        is_text = name in types and types[name].dtype == "string"
        if name in types and isinstance(value, str) != is_text:
            wanted = "a text" if is_text else "a number or a bool"
            raise GraphError(f'Csv: missing["{name}"] is {shown(value)}; it must be {wanted}')
        written[name] = text(f'missing["{name}"]', value if isinstance(value, str) else repr(value), "Csv")
    return written


# ---- names and types that the files show ----


def _names_of_header(patterns: Any, header: bool, delimiter: str, quote: str | None) -> list[str]:
    if not header:
        raise GraphError("Csv: without a header the columns have no names; give types={…}, or columns=[…]")
    lines = [*first_lines(patterns, 1, "Csv")]
    if not lines:
        raise GraphError("Csv: the files are empty, so that no header names the columns; give types={…}")
    try:
        names = _engine.csv_names(lines[0], delimiter, quote)
    except Error as error:
        error.args = (f"Csv: the header of {shown(patterns)}: {error}", *error.args[1:])
        raise
    for name in names:
        if names.count(name) > 1:
            raise GraphError(
                f'Csv: the header of {shown(patterns)} has the name "{name}" twice; name the fields: columns=[…], '
                "or those to read: types={…}"
            )
    return names


def _types_of_rows(
    patterns: Any, names: list[str], header: bool, delimiter: str, quote: str | None, look: int
) -> dict[str, FieldType]:
    from headrace.sources import Csv

    if not names:
        raise GraphError("Csv: columns is empty; name the fields, or give None")
    # All fields as one row of texts: errors are those of reading them.
    texts_alone = Csv(patterns, {"": (str, (len(names),))}, header, [""], delimiter, quote)
    kinds: list[set[str]] = [set() for _ in names]
    with _errors_that_name(names):
        for row in texts_alone.take(look).iterate(workers=1, window=2):
            for found, field in zip(kinds, row[""], strict=True):
                if field:
                    found.add(_kind_of(field))
    return {name: FieldType(_dtype_of(found)) for name, found in zip(names, kinds, strict=True)}


_UNNAMED_FIELD = re.compile(r'\bfield ([0-9]+), of ""')


@contextmanager
def _errors_that_name(names: list[str]) -> Iterator[None]:
    """Errors of a field name its column, where all fields were read as one without a name."""
    try:
        yield
    except Error as error:
        told = _UNNAMED_FIELD.sub(lambda field: f'field {field[1]}, of "{names[int(field[1]) - 1]}"', str(error), 1)
        error.args = (told, *error.args[1:])
        raise


_WHOLE = re.compile(r"[ \t]*(-?(?:0|[1-9][0-9]{0,19}))[ \t]*")
_FLOAT = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?[ \t]*")
_NOT_FINITE = re.compile(r"[ \t]*[+-]?(?:nan|inf|infinity)[ \t]*", re.IGNORECASE)


def _kind_of(field: str) -> str:
    """A dtype, or "word". Digits with leading zeros or a plus, as of postcodes and telephone numbers, are a text; so is
    a number beyond the range of its dtypes."""
    if whole_number := _WHOLE.fullmatch(field):
        return dtype_of_whole(int(whole_number[1])) or "string"
    if _FLOAT.fullmatch(field) and math.isfinite(float(field)):
        return "float64"
    return "word" if _NOT_FINITE.fullmatch(field) else "string"


def _dtype_of(kinds: set[str]) -> str:
    """For all fields of a column: words such as "nan" are floats among numbers, and texts by themselves."""
    numbers = kinds - {"word"}
    if not numbers or "string" in numbers:
        return "string"
    if "word" in kinds or "float64" in numbers:
        return "float64"
    if {"int64", "uint64"} <= numbers:
        return "string"
    return "uint64" if "uint64" in numbers else "int64"
