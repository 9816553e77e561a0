"""The index of a MindRecord file, which MindSpore needs: an SQLite database of where each row is."""

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from headrace._files.opened_file import open_to_read
from headrace._files.system_error import saying
from headrace._mindrecord.message_pack import unpack_map
from headrace._mindrecord.page_layout import Page
from headrace._mindrecord.row_spool import RowParts
from headrace._mindrecord.schema import Schema

__all__ = ["index_bytes"]

_PLACES = (
    "ROW_ID",
    "PAGE_ID_RAW",
    "PAGE_OFFSET_RAW",
    "PAGE_OFFSET_RAW_END",
    "ROW_GROUP_ID",
    "PAGE_ID_BLOB",
    "PAGE_OFFSET_BLOB",
    "PAGE_OFFSET_BLOB_END",
)
_TYPES = {"string": "TEXT", "int32": "INTEGER", "int64": "INTEGER", "float32": "REAL", "float64": "REAL"}
_LENGTH_BYTES = 8
_BLOCK = 1 << 20


def index_bytes(
    path: str,
    pages: Sequence[Page],
    scalars: Sequence[RowParts],
    blob_lengths: "np.ndarray[Any, Any]",
    first: int,
    schema: Schema,
    index: Sequence[str],
    quotes: bool,
) -> Iterator[bytes]:
    """Of the file at `path`, whose first row is number `first` of `scalars`. `quotes`: texts stand as JSON, as version
    2.0 has them. The database is made in a folder beside the file, which is removed."""
    folder, name = os.path.split(path)
    with (
        saying(f"cannot write the index of {path}"),
        tempfile.TemporaryDirectory(prefix=".headrace-", dir=folder or ".") as made,
    ):
        database = os.path.join(made, "index.db")
        try:
            _fill(database, name, _rows(pages, scalars, blob_lengths, first, index, quotes), schema, index)
        except sqlite3.Error as error:
            raise OSError(0, str(error)) from error
        with open_to_read(database) as file:
            while block := file.read(_BLOCK):
                yield block


def _fill(database: str, name: str, rows: Iterator[tuple[Any, ...]], schema: Schema, index: Sequence[str]) -> None:
    types = {field.name: _TYPES[field.type] for field in schema.scalars}
    columns = [f"{place} INT NOT NULL" for place in _PLACES]
    keys = ["ROW_ID"]
    for number, field in enumerate(index):
        columns += (f"INC_{number} INT", f"{field}_0 {types[field]}")
        keys.append(f"INC_{number}")
    connection = sqlite3.connect(database)
    try:
        connection.execute("PRAGMA page_size = 4096")
        # It is nobody's yet, and made again after a fault.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
        connection.execute("INSERT INTO SHARD_NAME VALUES (?)", (name,))
        connection.execute(f"CREATE TABLE INDEXES({', '.join(columns)}, PRIMARY KEY({', '.join(keys)}))")
        places = ", ".join("?" * (len(_PLACES) + 2 * len(index)))
        connection.executemany(f"INSERT INTO INDEXES VALUES ({places})", rows)
        connection.commit()
    finally:
        connection.close()


def _rows(
    pages: Sequence[Page],
    scalars: Sequence[RowParts],
    blob_lengths: "np.ndarray[Any, Any]",
    first: int,
    index: Sequence[str],
    quotes: bool,
) -> Iterator[tuple[Any, ...]]:
    raw_of = {group: (number, offset) for number, page in enumerate(pages) for group, offset in page.groups}
    for number, page in enumerate(pages):
        if page.is_raw:
            continue
        raw_page, raw_at = raw_of[page.group]
        data = b"".join(RowParts.pieces_of(scalars, first + page.first, first + page.end))
        at = blob_at = 0
        for row in range(page.first, page.end):
            end = at + _LENGTH_BYTES + int.from_bytes(data[at : at + _LENGTH_BYTES], "little")
            blob_end = blob_at + int(blob_lengths[row])
            yield (
                *(row, raw_page, raw_at + at, raw_at + end, page.group, number, blob_at, blob_end),
                *_values(data[at + _LENGTH_BYTES : end], index, quotes),
            )
            at, blob_at = end, blob_end


def _values(data: bytes, index: Sequence[str], quotes: bool) -> list[Any]:
    found = unpack_map(data) if index else {}
    values: list[Any] = []
    for name in index:
        value = found.get(name)
        values += (0, json.dumps(value, ensure_ascii=False) if quotes and isinstance(value, str) else value)
    return values
