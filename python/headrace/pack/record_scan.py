"""Goes over the records of a RecordIO file, from head to tail, also after damage."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from headrace import _engine
from headrace._files.places import file_size

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
        self.file_bytes = file_size(path)

    def __iter__(self) -> Iterator[ScannedRecord]:
        self.lost.clear()
        reader = _engine.RecordReader(os.fsencode(self.path), skip_damage=True)
        while (record := reader.read()) is not None:
            yield ScannedRecord(*record)
        self.lost += [LostBytes(*each) for each in reader.lost]
