"""The columns of Parquet files, of which the first is looked at, as attributes of the operator Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.options import path, shown, texts
from headrace._datasets.fields.arrow_choices import ArrowField, by_column, named_classes, tensor_shapes, with_names
from headrace._datasets.fields.arrow_data import fill_bytes
from headrace._datasets.fields.arrow_schema import feature_classes
from headrace._files.system_error import saying
from headrace._parquet.footer import Footer
from headrace.errors import GraphError

__all__ = ["parquet_attributes"]

_OF = "Parquet"
_Columns = list[tuple[str, str, tuple[int | None, ...]]]


def parquet_attributes(paths: Any, columns: Any, classes: Any, missing: Any) -> dict[str, Any]:
    """Those of the operator, besides how rows are read."""
    listed = _paths(paths)
    first, of_folders = _engine.parquet_files([os.fsencode(each) for each in listed])
    footer = Footer(first, _OF)
    data = _engine.ArrowData(footer.empty_reader(), False)
    fields = {each.name: each for each in (ArrowField(*values) for values in data.fields())}
    # What a file has of its own comes before the names of its folders.
    folders = {name: column for column in of_folders if (name := column[0]) not in fields}
    chosen = None if columns is None else texts("columns", columns, _OF)
    of_file = None if chosen is None else [each for each in chosen if each not in folders]
    for argument, by_name in (("classes", classes), ("missing", missing)):
        _check_of_files(argument, by_name, folders)
    found = _of_file(data, fields, footer, of_file, classes, missing)
    given = _in_order(chosen, found.pop("columns"), folders)
    return {
        "paths": listed,
        "fields": _engine.Columns(given),
        "columns": None if chosen is None else [name for name, _, _ in given],
        "folders": [name for name, _, _ in given if name in folders] or None,
        **found,
    }


def _paths(given: Any) -> list[str]:
    try:
        listed = [given] if isinstance(given, (str, bytes, os.PathLike)) else list(given)
    except TypeError:
        listed = []
    if not listed:
        raise GraphError(f"{_OF}: paths is {shown(given)}; give a path, or a list of paths")
    return [path("paths", each, _OF) for each in listed]


def _check_of_files(argument: str, given: Any, folders: Collection[str]) -> None:
    """Whether an argument by column names none whose values are those of folders."""
    named = next((name for name in given if name in folders), None) if isinstance(given, Mapping) else None
    if named is not None:
        raise GraphError(
            f'{_OF}: {argument} names "{named}", whose values are names of folders and are given as they are; leave it out'
        )


def _of_file(
    data: _engine.ArrowData,
    fields: dict[str, ArrowField],
    footer: Footer,
    chosen: list[str] | None,
    classes: Any,
    missing: Any,
) -> dict[str, Any]:
    """The columns that the file has, and what is known of them."""
    if chosen == []:
        return {"columns": [], "class_names": None, "named": None, "fills": None, "shapes": None, "units": None}
    given = _listed(named_classes(classes, fields, _OF))
    known = feature_classes(data.metadata(), _OF) | given
    named = with_names(given, fields)
    for name in _dictionaries(fields, chosen):
        if name not in named:
            # Numbers of another dictionary would be no help.
            named[name] = known[name] if name in known else footer.dictionary(name)
    values = by_column(missing, _OF)
    fills = {
        name: fill_bytes(value, fields.get(name), (known | named).get(name), _OF) for name, value in values.items()
    }
    shapes = tensor_shapes(fields, chosen, _OF)
    with saying(f"{_OF}: {footer.path}"):
        data.read(chosen, shapes, named, fills)
    names = {name for name, _, _ in data.columns}
    all_classes = {name: each for name, each in (known | named).items() if name in names}
    return {
        "columns": data.columns,
        "class_names": {name: json.dumps(each) for name, each in all_classes.items()} or None,
        "named": [name for name in named if name in names] or None,
        "fills": {name: json.dumps(each.decode("latin-1")) for name, each in fills.items()} or None,
        "shapes": {name: json.dumps(each) for name, each in shapes.items()} or None,
        "units": data.units or None,
    }


def _listed(classes: Mapping[str, list[str] | None]) -> dict[str, list[str]]:
    listed = {}
    for name, names in classes.items():
        if names is None:
            # They are known after a pass over all row groups of all files.
            raise GraphError(
                f'{_OF}: classes["{name}"] is None, and the files do not say which names occur; give the list of names, such as '
                f'sorted(pyarrow.compute.unique(table["{name}"]).to_pylist()) of a table that pyarrow reads'
            )
        listed[name] = names
    return listed


def _dictionaries(fields: dict[str, ArrowField], chosen: Sequence[str] | None) -> list[str]:
    return [
        name
        for name, field in fields.items()
        if field.dictionary and (chosen is None or any(name == each or name.startswith(f"{each}.") for each in chosen))
    ]


def _in_order(chosen: list[str] | None, found: _Columns, folders: dict[str, Any]) -> _Columns:
    """The columns in the order in which they were asked for; those of folders come last where none was."""
    if chosen is None:
        return [*found, *folders.values()]
    given: _Columns = []
    left = iter(found)
    for name in chosen:
        if name in folders:
            given.append(folders[name])
            continue
        count = sum(each == name or each.startswith(f"{name}.") for each, _, _ in found)
        given += [next(left) for _ in range(count)]
    return given
