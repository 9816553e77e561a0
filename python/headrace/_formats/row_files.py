"""`unpack_rows` writes the rows of a path to files: bytes to one each, all else to a list in metadata.jsonl."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headrace import _engine
from headrace._files.system_error import saying
from headrace._files.whole_file import write_whole
from headrace._formats.opening import Found
from headrace._formats.row_reading import RowReading
from headrace._records.encoded_header import file_ending
from headrace._writing.target_folder import make_empty_folder

__all__ = ["LIST_NAME", "UnpackedRows", "unpack_rows"]

LIST_NAME = "metadata.jsonl"
_FILE_NAME = "file_name"
_UNSAFE = re.compile(r"[^0-9A-Za-z_-]+")


@dataclass
class UnpackedRows:
    """What was written."""

    rows: int
    files: int
    listing: str
    faults: list[str]


def unpack_rows(found: Found, folder: str) -> UnpackedRows:
    """Writes the bytes of column `image` of row 7 to `folder`/00000007.jpg, with the ending of their format, or of several
    such columns to 00000007.image.jpg, and a line for each row to `folder`/metadata.jsonl: names of files under `file_name`
    (of several columns `image_file_name`), and the values of the other columns.

    Names come from numbers, never from the rows. The folder must not be there, or be empty; the list is written last, so it
    stands for a complete folder.
    """
    make_empty_folder(folder)
    reading = RowReading(found)
    of_bytes = [
        name for name, column in reading.dataset.schema.items() if column.dtype == "bytes" and column.shape == ()
    ]
    keys = {name: _FILE_NAME if len(of_bytes) == 1 else f"{name}_{_FILE_NAME}" for name in of_bytes}
    parts = {name: "" if len(of_bytes) == 1 else f".{_UNSAFE.sub('_', name)}" for name in of_bytes}
    listing = os.path.join(folder, LIST_NAME)
    rows = files = 0
    with _listing(listing) as stream:
        for number, row in enumerate(reading):
            line: dict[str, Any] = {}
            for name, value in row.items():
                if name not in keys:
                    line[name] = _plain(value)
                    continue
                line[keys[name]] = f"{number:08}{parts[name]}{file_ending(value)}"
                # The disk is waited for with the list alone.
                write_whole(os.path.join(folder, line[keys[name]]), value, named=False, durable=False)
                files += 1
            stream.append([(json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")])
            rows += 1
    return UnpackedRows(rows, files, listing, reading.faults)


@contextlib.contextmanager
def _listing(path: str) -> Iterator[_engine.OutputStream]:
    """A draft of the list, which takes its name at the end: the lines of many rows are more than memory should hold."""
    with saying(f"cannot write {path}"):
        stream = _engine.OutputStream(os.fsencode(path))
    try:
        yield stream
        with saying(f"cannot write {path}"):
            stream.commit()
    except BaseException:
        # A traceback may keep it alive.
        stream.discard()
        raise


def _plain(value: Any) -> Any:
    """As JSON has it; bytes within arrays as texts in Latin-1."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).decode("latin-1")
    listed = value.tolist()
    if value.dtype.kind == "O":
        return [_plain(each) if isinstance(each, (bytes, memoryview)) else each for each in value.reshape(-1)]
    return listed
