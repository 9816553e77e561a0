"""Goes over the records of a RecordIO file, from head to tail, also after damage."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from headrace import _engine
from headrace._files.system_error import system_error

__all__ = ["LostBytes", "RecordScan", "ScannedRecord"]


class LostBytes(NamedTuple):
    """Bytes of a file that belong to no good record."""

    offset: int
    bytes: int
    reason: str


class ScannedRecord(NamedTuple):
    offset: int
    """Of the record's head."""
    payload: memoryview


class RecordScan:
    """Iterating reads the file once, by large blocks. NotFoundError if there is no such file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lost: list[LostBytes] = []
        """Filled while iterating."""
        try:
            self.file_bytes = os.stat(path).st_size
        except OSError as error:
            raise system_error(f"cannot read {path}", error) from None

    def __iter__(self) -> Iterator[ScannedRecord]:
        self.lost.clear()
        reader = _engine.RecordReader(os.fsencode(self.path), skip_damage=True)
        while (record := reader.read()) is not None:
            yield ScannedRecord(*record)
        self.lost += [LostBytes(*each) for each in reader.lost]
