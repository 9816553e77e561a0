"""`SetAssembly` makes the files of a MindRecord set of rows that are all there."""

import contextlib
import json
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrace import _engine
from headrace._files.system_error import saying
from headrace._mindrecord.index_database import index_bytes
from headrace._mindrecord.page_layout import (
    LEAST_HEADER,
    LEAST_PAGE,
    MOST_HEADER,
    MOST_PAGE,
    Page,
    header_size_for,
    lay_out,
    page_size_for,
)
from headrace._mindrecord.row_spool import RowParts
from headrace._mindrecord.schema import Schema
from headrace._mindrecord.set_files import db_path, others_of_set
from headrace._writing.encoding import MADE
from headrace.errors import Error, GraphError

__all__ = [
    "SetAssembly",
    "Sizes",
    "Target",
    "TargetFile",
    "check_header_size",
    "check_page_size",
    "remove_others",
]

_LENGTH = struct.Struct("<Q")
_ZEROS = bytes(1 << 20)


def check_header_size(size: int, of: str) -> int:
    return _check_size("header_size", size, LEAST_HEADER, MOST_HEADER, of)


def check_page_size(size: int, of: str) -> int:
    return _check_size("page_size", size, LEAST_PAGE, MOST_PAGE, of)


def _check_size(name: str, size: int, least: int, most: int, of: str) -> int:
    if not least <= size <= most or size % 4:
        raise GraphError(f"{of}: {name} is {size:,}; it must be a multiple of 4 from {least:,} to {most:,}")
    return size


@dataclass
class Sizes:
    """Of the header and of pages, in bytes. None: as the rows need."""

    header: int | None = None
    page: int | None = None


@dataclass
class Target:
    """What all files of a set have in common."""

    schema: Schema
    index: Sequence[str]
    # The names of all files of the set.
    addresses: Sequence[str]
    version: str = "3.0"
    # Bytes that packing has saved.
    saved: int = 0


@dataclass
class TargetFile:
    """A file that is to be made, and its rows, of all that there are."""

    path: str
    number: int
    first: int
    end: int


class SetAssembly:
    """Used by one thread.

    Args:
        target: What the files have in common.
        sizes: Of headers and pages.
        of: What errors begin with.
    """

    def __init__(self, target: Target, sizes: Sizes, of: str) -> None:
        self._target = target
        self._sizes = sizes
        self._of = of
        self.made: list[tuple[str, int]] = []
        """The drafts that are whole, with their sizes: those of the indices and of the files."""

    def make(self, files: Sequence[TargetFile], scalars: Sequence[RowParts], blobs: Sequence[RowParts]) -> None:
        """Makes the drafts of the files, or none."""
        try:
            self._make_all(files, scalars, blobs)
        except BaseException:
            self.drop()
            raise

    def in_order(self) -> list[tuple[str, int]]:
        """The order in which files get their names: the indices first, and the first file, without which none of the set
        is read, last."""
        first = min(path for path, _ in self.made if not path.endswith(".db"))
        return sorted(self.made, key=lambda made: (not made[0].endswith(".db"), made[0] == first))

    def drop(self) -> None:
        """Removes the drafts."""
        made, self.made = self.made, []
        for path, size in made:
            with contextlib.suppress(Error):
                _engine.OutputStream.resume(os.fsencode(path), MADE, size).discard()

    def _make_all(self, files: Sequence[TargetFile], scalars: Sequence[RowParts], blobs: Sequence[RowParts]) -> None:
        scalar_lengths = np.concatenate([part.lengths for part in scalars])
        blob_lengths = np.concatenate([part.lengths for part in blobs])
        spans = [slice(file.first, file.end) for file in files]
        page_size = self._sizes.page
        if page_size is None:
            longest = int(max(scalar_lengths.max(initial=0), blob_lengths.max(initial=0)))
            page_size = page_size_for(longest, max(int(blob_lengths[span].sum()) for span in spans))
        layouts = [lay_out(scalar_lengths[span], blob_lengths[span], page_size) for span in spans]
        header_size = self._header_size(files, layouts, page_size)
        for file, span, pages in zip(files, spans, layouts, strict=True):
            with saying(f"{self._of}: cannot write {file.path}"):
                self._write(file.path, self._contents(file, pages, scalars, blobs, header_size, page_size))
            index = index_bytes(
                file.path,
                pages,
                scalars,
                blob_lengths[span],
                file.first,
                self._target.schema,
                self._target.index,
                self._target.version == "2.0",
            )
            with saying(f"{self._of}: cannot write {db_path(file.path)}"):
                self._write(db_path(file.path), index)

    def _header_size(self, files: Sequence[TargetFile], layouts: Sequence[list[Page]], page_size: int) -> int:
        # Numbers of as many digits as the largest.
        texts = [self._header(file, pages, MOST_HEADER, page_size) for file, pages in zip(files, layouts, strict=True)]
        if self._sizes.header is None:
            return header_size_for(texts, self._of)
        if (needed := _LENGTH.size + max(map(len, texts))) > self._sizes.header:
            raise GraphError(
                f"{self._of}: the list of pages takes {needed:,} bytes of the header, which has {self._sizes.header:,}: "
                "write the set anew with a larger header_size, or with larger pages"
            )
        return self._sizes.header

    def _header(self, file: TargetFile, pages: list[Page], header_size: int, page_size: int) -> bytes:
        raw_before = np.cumsum([0, *(page.is_raw for page in pages)]).tolist()
        target = self._target
        header: dict[str, Any] = {
            "header_size": header_size,
            "index_fields": [{"index_field": name, "schema_id": 0} for name in target.index] or None,
            "page": [page.as_dict(i, file.number, raw_before[i]) for i, page in enumerate(pages)] or None,
            "page_size": page_size,
            "compression_size": max(0, target.saved),
            "schema": [target.schema.as_dict],
            "shard_addresses": list(target.addresses),
            "shard_id": file.number,
            "statistics": None,
            "version": target.version,
        }
        if target.version == "2.0":
            del header["compression_size"]
        return json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()

    def _contents(
        self,
        file: TargetFile,
        pages: list[Page],
        scalars: Sequence[RowParts],
        blobs: Sequence[RowParts],
        header_size: int,
        page_size: int,
    ) -> Iterator[Any]:
        text = self._header(file, pages, header_size, page_size)
        yield _LENGTH.pack(len(text)) + text
        at = _LENGTH.size + len(text)
        for number, page in enumerate(pages):
            begin = header_size + number * page_size
            yield from _padding(begin - at)
            parts = scalars if page.is_raw else blobs
            yield from RowParts.pieces_of(parts, file.first + page.first, file.first + page.end)
            at = begin + page.bytes

    def _write(self, path: str, blocks: Iterable[Any]) -> None:
        stream = _engine.OutputStream(os.fsencode(path), MADE)
        try:
            for block in blocks:
                stream.append([block])
            stream.seal()
            size = stream.size
            stream.keep()
        except BaseException:
            stream.discard()
            raise
        self.made.append((path, size))


def remove_others(paths: Sequence[str]) -> None:
    """Files of the sets that have these names by now which the new set lacks: without them the old set is refused."""
    for other in others_of_set(list(paths)):
        for each in (other, db_path(other)):
            _engine.remove_file(os.fsencode(each))


def _padding(size: int) -> Iterator[Any]:
    for at in range(0, size, len(_ZEROS)):
        yield memoryview(_ZEROS)[: size - at]
