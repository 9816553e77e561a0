"""`numbered_columns` puts the numbers of classes in place of their names, in tables that are held whole; `names_for_lines`
gives the names that a source of files does this by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown, text
from headrace._arguments.suggestions import did_you_mean
from headrace._datasets.base import source
from headrace._datasets.fields.ragged_column import RaggedColumn
from headrace._kernels.mapping import Types
from headrace.errors import DataError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["NamedTexts", "different_names", "given_classes", "names_for_lines", "numbered_columns", "occurring_names"]

# For each column the names in the order of their numbers; None: those that occur, sorted.
Classes = dict[str, list[str] | None]
Names = dict[str, list[str]]

# More texts than classes have: such a column holds other texts.
_MOST = 1_000_000


class NamedTexts(list[str]):
    """Texts that stand for classes in a file, in the order of their numbers, with the names of these."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(names)
        self.names = list(names.values())


def given_classes(classes: Any, of: str) -> Classes:
    """The argument `classes`."""
    if classes is None:
        return {}
    if isinstance(classes, str):
        return {text("classes", classes, of): None}
    if not isinstance(classes, Mapping):
        raise GraphError(
            f"{of}: classes is {shown(classes)}; give the name of a column of texts, or a dict from column to names of "
            'classes, such as {"label": ["cat", "dog"]}'
        )
    return {text("a column of classes", name, of): _given_names(name, names, of) for name, names in classes.items()}


def _given_names(column: str, names: Any, of: str) -> list[str] | None:
    if names is None or isinstance(names, NamedTexts):
        return names
    what = f'classes["{column}"]'
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise GraphError(f"{of}: {what} is {shown(names)}; give a list of names, or None for those that occur, sorted")
    found = different_names(what, names, of)
    if not found:
        raise GraphError(f"{of}: {what} has no names; give None for those that occur, sorted")
    return found


def different_names(what: str, names: Iterable[Any], of: str) -> list[str]:
    """The names of classes in the argument `what`, none of which is there twice."""
    found = [text(f"a name of {what}", name, of) for name in names]
    for name, count in Counter(found).items():
        if count > 1:
            raise GraphError(f"{of}: {what} has {shown(name)} {count} times; a name has one number")
    return found


def _sorted_names(texts: set[str], column: str, of: str) -> list[str]:
    if not texts:
        raise GraphError(f'{of}: column "{column}" has no texts to name classes by; give the names: classes={{…}}')
    _check_number(texts, column, of)
    return sorted(texts)


def _check_number(texts: set[str], column: str, of: str) -> None:
    if len(texts) > _MOST:
        raise GraphError(
            f'{of}: column "{column}" has more than {_MOST:,} different texts, which seem to be no classes; give the names: '
            "classes={…}"
        )


# ---- tables ----


def numbered_columns(
    columns: dict[str, Any], types: Types, classes: Classes, of: str
) -> tuple[dict[str, Any], Types, dict[str, str] | None]:
    """Columns and types, with numbers (int32) in place of names, and the attribute `class_names`."""
    columns, names = dict(columns), {}
    kinds = {name: (dtype, shape) for name, dtype, shape in types}
    for column, given in classes.items():
        if column not in columns:
            raise GraphError(f'{of}: classes names "{column}", and there is no such column ({", ".join(columns)})')
        dtype, shape = kinds[column]
        if dtype != "string":
            raise GraphError(
                f'{of}: column "{column}" is {dtype}, and names of classes are texts; leave it out of classes'
            )
        columns[column], names[column] = _numbered(columns[column], given, column, of)
        kinds[column] = ("int32", shape)
    return columns, [(name, *kinds[name]) for name, _, _ in types], _attribute(names)


def _attribute(names: Names) -> dict[str, str] | None:
    return {column: json.dumps(_with_names(each)) for column, each in names.items()} or None


def _with_names(texts: list[str]) -> list[Any]:
    return [list(each) for each in zip(texts, texts.names, strict=True)] if isinstance(texts, NamedTexts) else texts


def _numbered(held: Any, given: list[str] | None, column: str, of: str) -> tuple[Any, list[str]]:
    import numpy as np

    ragged = isinstance(held, RaggedColumn)
    values = np.asarray(held.values if ragged else held)
    flat = [str(value) for value in values.reshape(-1)]
    names = _sorted_names(set(flat), column, of) if given is None else given
    numbers = {name: number for number, name in enumerate(names)}
    found = np.fromiter((numbers.get(value, -1) for value in flat), np.int32, len(flat)).reshape(values.shape)
    unknown = np.argwhere(found < 0)
    if len(unknown) > 0:
        first = values[tuple(unknown[0])]
        row = int(unknown[0][0])
        if ragged:
            row = int(np.searchsorted(held.splits, row, side="right")) - 1
        raise DataError(
            f'{of}: column "{column}" is {shown(str(first))} in row {row}, not one of the {len(names)} classes'
            f"{did_you_mean(str(first), names)}"
        )
    return (RaggedColumn(found, held.splits) if ragged else found), names


# ---- files that are read row by row ----

# Rows at once, of columns with one text a row.
_BATCH = 4096


def names_for_lines(op: str, attributes: dict[str, Any], classes: Classes) -> dict[str, str] | None:
    """The attribute `class_names`. Names that are not given are looked for, in one pass over the files."""
    sought = [column for column, names in classes.items() if names is None]
    found = occurring_names(source(op, {**attributes, "columns": sought}), sought, op) if sought else {}
    return _attribute({column: found[column] if names is None else names for column, names in classes.items()})


def occurring_names(rows: Dataset, sought: Iterable[str], op: str) -> Names:
    """The texts that occur in columns, sorted; reads all rows once."""
    texts: dict[str, set[str]] = {column: set() for column in sought}
    kinds = rows.schema
    for column in sought:
        if kinds[column].dtype != "string":
            raise GraphError(
                f'{op}: column "{column}" is {kinds[column].dtype}, and names of classes are texts; leave it out of classes'
            )
    stacked = all(kinds[column].shape == () for column in sought)
    for given in (rows.batch(_BATCH) if stacked else rows).iterate(workers=1):
        for column, found in texts.items():
            value = given[column]
            found.update(map(str, value.reshape(-1)) if hasattr(value, "reshape") else (str(value),))
            _check_number(found, column, op)
    return {column: _sorted_names(found, column, op) for column, found in texts.items()}
