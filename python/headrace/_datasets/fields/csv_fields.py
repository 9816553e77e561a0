"""The columns of CSV files and their types: as given, or as the header and the rows show them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from headrace import _engine
from headrace._arguments.doubts import warn_once
from headrace._arguments.options import flag, shown, text, texts, whole
from headrace._arguments.source_location import users_location
from headrace._datasets.base import source
from headrace._datasets.fields.declared_fields import (
    FieldType,
    dtype_of_whole,
    field_texts,
    first_lines,
    given_types,
)
from headrace.errors import DataError, Error, GraphError

__all__ = ["csv_attributes", "csv_table"]


def csv_attributes(
    patterns: Any,
    types: Any,
    header: Any,
    columns: Any,
    delimiter: Any,
    quote: Any,
    missing: Any,
    look: Any,
    newlines_in_values: Any,
    classes: Collection[str] = (),
) -> dict[str, Any]:
    """Columns of `classes` whose types are looked for are texts."""
    look = whole("look", look, 1, of="Csv")
    header = flag("header", header, of="Csv")
    delimiter = text("delimiter", delimiter, of="Csv")
    quote = None if quote is None else text("quote", quote, of="Csv")
    newlines = flag("newlines_in_values", newlines_in_values, of="Csv")
    names = None if columns is None else texts("columns", columns, of="Csv")
    if types is None:
        all_names = _names_of_header(patterns, header, delimiter, quote, newlines) if names is None else names
        if len(all_names) == 1:
            _warn_of_delimiter(patterns, all_names[0], delimiter, header and names is None)
        # A dict of other values is refused below.
        fills = missing if isinstance(missing, Mapping) else {}
        found = _types_of_rows(patterns, all_names, header, delimiter, quote, newlines, look, fills)
        found |= {name: FieldType("string") for name in classes if name in found}
    else:
        found = given_types("types", types, "Csv")
    return {
        "fields": field_texts(found),
        "header": header,
        "names": names,
        "delimiter": delimiter,
        "quote": quote,
        "missing": None if missing is None else _missing_texts(missing, found),
        "newlines_in_values": newlines,
    }


_DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}


def _warn_of_delimiter(patterns: Any, name: str, delimiter: str, header: bool) -> None:
    """A file of several columns between other delimiters reads as one column."""
    line = name if header else next(iter(first_lines(patterns, 1, "Csv")), "")
    for other, them in _DELIMITERS.items():
        if other != delimiter and other in line:
            shown_as = "\\t" if other == "\t" else other
            warn_once(
                f"Csv: a line of {shown(patterns)} is one field, {shown(line)}, with {them} in it: the columns seem to be "
                f'between {them}; write delimiter="{shown_as}", or, for one column of text, types={{…}}',
                users_location(),
            )
            return


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


# ---- whole tables ----


def csv_table(content: bytes, path: Any, texts: set[str], of: str, missing: Any = None) -> dict[str, Any]:
    """The columns below the header of a file that is held whole: unlike those of Csv, texts in quotes may have line ends.
    Types are those of all rows; the columns `texts` are text. `missing`: values for fields that have none, by column."""
    try:
        numbered = _records(content.decode("utf-8-sig"), path, of)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{of}: line {line} of {shown(path)} is not UTF-8 at byte {error.start}; convert the file"
        ) from None
    rows = [(line, _fields(record, line, path, of)) for line, record in numbered]
    if not rows:
        raise DataError(f"{of}: {shown(path)} is empty; a table begins with the names of its columns")
    (_, names), *rows = rows
    for name in _named_twice(names):
        # Those without a name are left out.
        if name:
            raise DataError(
                f'{of}: the header of {shown(path)} has the name "{name}" twice; name each column differently'
            )
    if not rows:
        raise GraphError(f"{of}: {shown(path)} has no rows below its header, so the types of its columns are not known")
    for line, fields in rows:
        if len(fields) != len(names):
            raise DataError(
                f"{of}: line {line} of {shown(path)} has {len(fields)} field{'s' * (len(fields) != 1)}, "
                f"where {len(names)} are expected"
            )
    lines = [line for line, _ in rows]
    columns = {name: [fields[i] for _, fields in rows] for i, name in enumerate(names)}
    for name, value in missing.items() if isinstance(missing, Mapping) else ():
        if name in columns:
            columns[name] = _with_missing(columns[name], value)
    return {
        name: column if name in texts else _values_of(name, column, lines, path, of) for name, column in columns.items()
    }


def _records(content: str, path: Any, of: str) -> list[tuple[int, str]]:
    """Lines that are not blank, each with its number; those whose quotes are open go on in the next."""
    records: list[tuple[int, str]] = []
    record, first, is_open = "", 1, False
    for number, line in enumerate(content.split("\n"), 1):
        record, first = (f"{record}\n{line}", first) if is_open else (line, number)
        is_open ^= line.count('"') % 2 == 1
        if not is_open and record.removesuffix("\r"):
            records.append((first, record.removesuffix("\r")))
    if is_open:
        raise DataError(f"{of}: quotes that open in line {first} of {shown(path)} are not closed")
    return records


def _fields(record: str, line: int, path: Any, of: str) -> list[str]:
    try:
        return _engine.csv_names(record, ",", '"')
    except Error as error:
        error._reword(f"{of}: line {line} of {shown(path)}: {error}")
        raise


def _with_missing(fields: list[str], value: Any) -> list[str]:
    """As Csv reads them: words that stand for no number are no value where a number is stated."""
    plain = value.item() if getattr(value, "ndim", None) == 0 else value
    if isinstance(plain, str):
        return [field or plain for field in fields]
    return [repr(plain) if field.strip(" \t") in _NO_NUMBER else field for field in fields]


def _values_of(name: str, fields: list[str], lines: list[int], path: Any, of: str) -> Any:
    import numpy as np

    dtype = _dtype_of({_kind_of(field) for field in fields if field})
    if dtype == "string":
        return fields
    if "" in fields:
        raise DataError(f'{of}: "{name}" is empty in line {lines[fields.index("")]} of {shown(path)}; give a number')
    return np.array([float(field) if dtype == "float64" else int(field) for field in fields], dtype)


# ---- names and types that the files show ----

# Fields that have no value; where `missing` gives a number for them, also words that the engine takes for one.
_NO_VALUE = frozenset({""})
_NO_NUMBER = frozenset({"", "NA", "NaN", "N/A", "null"})

# The most lines of a header whose names have line ends.
_HEADER_LINES = 1000


def _names_of_header(patterns: Any, header: bool, delimiter: str, quote: str | None, newlines: bool) -> list[str]:
    if not header:
        raise GraphError("Csv: without a header the columns have no names; give types={…}, or columns=[…]")
    lines: list[str] = []
    for line in first_lines(patterns, _HEADER_LINES if newlines else 1, "Csv"):
        lines.append(line)
        if quote is None or "".join(lines).count(quote) % 2 == 0:
            break
    if not lines:
        raise GraphError("Csv: the files are empty, so that no header names the columns; give types={…}")
    try:
        names = _engine.csv_names("\n".join(lines), delimiter, quote)
    except Error as error:
        error._reword(f"Csv: the header of {shown(patterns)}: {error}")
        raise
    for name in _named_twice(names):
        header_advice = "" if _kind_of(name) == "string" else "if it is a row, write header=False, and "
        raise GraphError(
            f'Csv: the header of {shown(patterns)} has the name "{name}" twice; {header_advice}name the fields: '
            "columns=[…], or those to read: types={…}"
        )
    if _seems_a_row(names):
        warn_once(
            f"Csv: the header of {shown(patterns)}, which names the columns, seems to be a row: {', '.join(map(shown, names[:4]))}"
            f"{', …' if len(names) > 4 else ''}; write header=False, columns=[…] for files without a header",
            users_location(),
        )
    return names


def _seems_a_row(names: list[str]) -> bool:
    """Whether a header has a fraction in it, or is of numbers alone that do not count up, as years and positions do."""
    kinds = [_kind_of(name) for name in names]
    if "float64" in kinds:
        return True
    if len(names) < 2 or any(kind in ("string", "word") for kind in kinds):
        return False
    first = int(names[0])
    return any(int(name) != first + at for at, name in enumerate(names))


def _named_twice(names: list[str]) -> list[str]:
    counts = Counter(names)
    return [name for name in counts if counts[name] > 1]


def _types_of_rows(
    patterns: Any,
    names: list[str],
    header: bool,
    delimiter: str,
    quote: str | None,
    newlines: bool,
    look: int,
    missing: Mapping[Any, Any],
) -> dict[str, FieldType]:
    if not names:
        raise GraphError("Csv: columns is empty; name the fields, or give None")
    # All fields as one row of texts: errors are those of reading them.
    one_field = {"": (str, (len(names),))}
    attributes = csv_attributes(patterns, one_field, header, [""], delimiter, quote, None, look, newlines)
    texts_alone = source("Csv", {"patterns": patterns, **attributes})
    kinds: list[set[str]] = [set() for _ in names]
    # Words such as NA, which are texts unless `missing` says what they stand for, and the kinds of all other fields.
    words: list[set[str]] = [set() for _ in names]
    others: list[set[str]] = [set() for _ in names]
    no_value = [_NO_VALUE if isinstance(missing.get(name, ""), str) else _NO_NUMBER for name in names]
    with _errors_that_name(names):
        for row in texts_alone.take(look).iterate(workers=1, window=2):
            for at, (field, nothing) in enumerate(zip(row[""], no_value, strict=True)):
                if (field if nothing is _NO_VALUE else field.strip(" \t")) in nothing:
                    continue
                kind = _kind_of(field)
                kinds[at].add(kind)
                if kind == "string" and field.strip(" \t") in _NO_NUMBER:
                    words[at].add(field)
                else:
                    others[at].add(kind)
    for name, found in zip(names, kinds, strict=True):
        if found and isinstance(missing.get(name), float):
            found.add(_kind_of(repr(missing[name])))
    for name, found, word, other in zip(names, kinds, words, others, strict=True):
        if word and name not in missing and _dtype_of(found) == "string" and _dtype_of(other) != "string":
            _warn_of_word(patterns, name, min(word))
    return {name: FieldType(_dtype_of(found)) for name, found in zip(names, kinds, strict=True)}


def _warn_of_word(patterns: Any, name: str, word: str) -> None:
    column = _engine.printable(name)
    warn_once(
        f'Csv: column "{column}" of {shown(patterns)} is text, as {shown(word)} stands among its numbers: write '
        f'missing={{"{column}": -1}}, with the number that it stands for, or, for texts, types={{"{column}": str, …}}',
        users_location(),
    )


_UNNAMED_FIELD = re.compile(r'\bfield ([0-9]+), of ""')


@contextmanager
def _errors_that_name(names: list[str]) -> Iterator[None]:
    """Errors of a field name its column, where all fields were read as one without a name."""
    try:
        yield
    except Error as error:

        def named(field: re.Match[str]) -> str:
            return f'field {field[1]}, of "{_engine.printable(names[int(field[1]) - 1])}"'

        error._reword(_UNNAMED_FIELD.sub(named, str(error), 1))
        raise


_WHOLE = re.compile(r"[ \t]*(-?(?:0|[1-9][0-9]{0,19}))[ \t]*")
_FLOAT = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?[ \t]*")
_NOT_FINITE = re.compile(r"[ \t]*[+-]?(?:nan|inf|infinity)[ \t]*", re.IGNORECASE)


# After the dtype of a whole number that float64 does not hold.
_INEXACT = ", not float64"


def _kind_of(field: str) -> str:
    """A dtype, or "word". Digits with leading zeros or a plus, as of postcodes and telephone numbers, are a text; so is
    a number beyond the range of its dtypes."""
    if whole_number := _WHOLE.fullmatch(field):
        number = int(whole_number[1])
        dtype = dtype_of_whole(number)
        return "string" if dtype is None else dtype if float(number) == number else dtype + _INEXACT
    if _FLOAT.fullmatch(field) and math.isfinite(float(field)):
        return "float64"
    return "word" if _NOT_FINITE.fullmatch(field) else "string"


def _dtype_of(kinds: set[str]) -> str:
    """For all fields of a column: words such as "nan" are floats among numbers, and texts by themselves."""
    numbers = {kind.removesuffix(_INEXACT) for kind in kinds - {"word"}}
    if not numbers or "string" in numbers:
        return "string"
    if "word" in kinds or "float64" in numbers:
        # Ids beside fractions stay what they are.
        return "string" if any(kind.endswith(_INEXACT) for kind in kinds) else "float64"
    if {"int64", "uint64"} <= numbers:
        return "string"
    return "uint64" if "uint64" in numbers else "int64"
