"""Tables given by users, as columns of values."""

import glob
import os
from collections.abc import Mapping, Sequence
from typing import Any

from headrace._arguments.options import shown
from headrace._datasets.base import source
from headrace._datasets.fields.csv_fields import csv_table
from headrace._datasets.fields.frame_columns import frame_columns, plain_column
from headrace._datasets.fields.joined_columns import column_of_lists
from headrace._datasets.fields.json_fields import json_attributes
from headrace._datasets.fields.metadata_folder import is_folder, metadata_columns
from headrace.errors import GraphError

__all__ = ["table_columns", "with_plain_paths"]

# The rows of a file of JSON that are looked at for columns and types: all, as all are read at once.
_LOOK = 1 << 62


def table_columns(table: Any, paths: str, of: str, missing: Any = None, unmatched: str = "error") -> dict[str, Any]:
    """The columns of a dict, a list of dicts, a pandas DataFrame, a pyarrow Table, a file of JSON or CSV, or a folder with
    metadata.

    In CSV, which does not tell 7 from "007", the column `paths` is text, and columns without a name are left out. Of files
    the values in `missing` already stand where a line has none.
    """
    if isinstance(table, Mapping):
        return dict(table)
    if is_folder(table):
        folder = os.fspath(table)
        return metadata_columns(folder, paths, lambda file: _of_file(file, paths, of, missing), unmatched)
    if isinstance(table, (str, os.PathLike)):
        return _of_file(os.fspath(table), paths, of, missing)
    columns = frame_columns(table, of)
    if columns is not None:
        return columns
    if isinstance(table, Sequence) and not isinstance(table, (bytes, bytearray)):
        return _of_rows(table, of)
    raise GraphError(
        f"{of}: the table is {shown(table)}; it must be a dict from column to values, a list of dicts, a pandas "
        "DataFrame, a pyarrow Table, or the path of a file of JSON lines or CSV, or of a folder with metadata"
    )


def _of_rows(rows: Sequence[Any], of: str) -> dict[str, Any]:
    if not rows:
        raise GraphError(f"{of}: the table has no rows, so its columns are not known; give a dict of empty columns")
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise GraphError(f"{of}: row {number} of the table is {shown(row)}; it must be a dict from column to value")
        if row.keys() != rows[0].keys():
            raise GraphError(
                f"{of}: row {number} of the table has the columns {', '.join(map(str, row))}, and row 0 "
                f"{', '.join(map(str, rows[0]))}"
            )
    return {name: [row[name] for row in rows] for name in rows[0]}


def _of_file(path: Any, paths: str, of: str, missing: Any) -> dict[str, Any]:
    # Sources take patterns.
    pattern = glob.escape(path)
    ending = os.path.splitext(path)[1]
    if ending == ".csv":
        (file,) = source("Files", {"patterns": pattern})
        columns = csv_table(file["data"], path, {paths}, of, missing)
        # Of rows that pandas numbers, and of lines that end with a comma.
        columns.pop("", None)
        return columns
    if ending in (".jsonl", ".ndjson", ".json"):
        attributes = json_attributes(pattern, None, missing, _LOOK, of)
        rows = source("JsonLines", {"patterns": pattern, **attributes})
        columns = _of_rows([{name: _scalar(value) for name, value in row.items()} for row in rows], of)
        return {name: column_of_lists(column) for name, column in columns.items()}
    raise GraphError(
        f"{of}: the table is {shown(path)}, and only files of JSON (.jsonl, .json) and CSV (.csv) are read; read "
        "another with a library, as pandas.read_parquet(path), and give what it returns"
    )


def _scalar(value: Any) -> Any:
    """The number in an array without axes, which is looked at sooner."""
    return value[()] if getattr(value, "ndim", None) == 0 else value


def with_plain_paths(values: Any, of: str) -> Any:
    """The values of a column of paths, with texts in place of path objects; what is no column is given back."""
    import numpy as np

    values = plain_column(values, of)
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values
    if isinstance(values, (str, bytes)) or not (isinstance(values, Sequence) or getattr(values, "ndim", 0) == 1):
        return values
    plain = np.empty(len(values), object)
    plain[:] = [_plain(value) for value in values]
    return plain


def _plain(value: Any) -> Any:
    import numpy as np

    if isinstance(value, os.PathLike):
        return os.fspath(value)
    # A number of a file of JSON lines, so that a message names its type.
    return value.item() if isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0 else value
