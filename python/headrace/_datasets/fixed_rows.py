"""`FixedRows`: a source of files without a description whose rows all have equally many bytes, such as MNIST's and
CIFAR's."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from headrace._arguments.options import path
from headrace._datasets.dataset import Dataset
from headrace.errors import GraphError

__all__ = ["FixedField", "FixedPart", "FixedRows"]


class FixedField(NamedTuple):
    """A column: numbers of a dtype and a shape that begin `offset` bytes after a row does."""

    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    offset: int = 0

    @property
    def bytes(self) -> int:
        return np.dtype(self.dtype).itemsize * math.prod(self.shape)


class FixedPart(NamedTuple):
    """Files whose rows come one after the other, and the fields in each row. `head_bytes` at the beginning of each file
    are no row. A row ends with its last field unless `row_bytes` says otherwise."""

    paths: Sequence[str | os.PathLike[str]]
    fields: Sequence[FixedField]
    head_bytes: int = 0
    row_bytes: int | None = None


class FixedRows(Dataset):
    """Gives the rows of the parts side by side: an image of one file with its label of another one. They are read by
    number, and only as far as they are needed; files that are compressed by gzip are unpacked into memory."""

    def __init__(
        self,
        parts: Sequence[FixedPart],
        *,
        big_endian: bool = False,
        columns: Sequence[str] | None = None,
        shuffle: bool = False,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        if not parts or not all(part.paths and part.fields for part in parts):
            raise GraphError("FixedRows: give each part a file and a field at least")
        fields = [(number, field) for number, part in enumerate(parts) for field in part.fields]
        attributes: dict[str, Any] = {
            "paths": [path("paths", each, "FixedRows") for part in parts for each in part.paths],
            "path_parts": [number for number, part in enumerate(parts) for _ in part.paths],
            "head_bytes": [part.head_bytes for part in parts],
            "row_bytes": [_row_bytes(part) for part in parts],
            "fields": [f"{field.name} {field.dtype} {field.shape}" for _, field in fields],
            "field_parts": [number for number, _ in fields],
            "field_offsets": [field.offset for _, field in fields],
            "big_endian": big_endian,
            "columns": columns,
            "shuffle": shuffle,
            "seed": seed,
            "name": name,
        }
        self._begin("FixedRows", attributes)


def _row_bytes(part: FixedPart) -> int:
    if part.row_bytes is not None:
        return part.row_bytes
    return max(field.offset + field.bytes for field in part.fields)
