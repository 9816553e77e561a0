"""`RowSpool` keeps rows until all are there: only then are the sizes of pages known, and which file each row goes to.
`RowParts` are rows in files, which are copied without being looked at."""

import array
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

import numpy as np

from headrace import _engine
from headrace._files.opened_file import open_own_file
from headrace._files.system_error import saying
from headrace._writing.encoding import DRAFT

__all__ = ["RowParts", "RowSpool", "SpooledRows", "open_spool", "spool_files"]

_BLOCK = 4 << 20
# Of rows, whose lengths are written at once.
_LENGTHS = 4096


def spool_files(path: str) -> list[str]:
    """The blobs, the scalars, and the lengths of both, beside the file at `path`."""
    return [path, f"{path}.scalars", f"{path}.lengths"]


class RowSpool:
    """The rows of a file, or of a set, as drafts. Used by one thread. UnsupportedError: another process writes them."""

    def __init__(self, path: str) -> None:
        self.rows = 0
        self._lengths = array.array("q")
        self.streams: list[_engine.OutputStream] = []
        try:
            for file in spool_files(path):
                self.streams.append(_engine.OutputStream(os.fsencode(file), DRAFT))
        except BaseException:
            self.discard()
            raise

    def append(self, scalars: Sequence[Any], blob: Sequence[Any]) -> None:
        """The pieces of a row's scalars and of its blob, with their lengths in front."""
        self.streams[0].append(blob)
        self.streams[1].append(scalars)
        self._lengths.extend((sum(map(len, scalars)), sum(map(len, blob))))
        self.rows += 1
        if len(self._lengths) >= 2 * _LENGTHS:
            self._write_lengths()

    def finish(self, saved: int) -> None:
        """Comes after the last row. `saved`: bytes that packing has saved."""
        self._lengths.append(saved)
        self._write_lengths()

    def flush(self) -> None:
        for stream in self.streams:
            stream.flush()

    def discard(self) -> None:
        for stream in self.streams:
            stream.discard()

    def _write_lengths(self) -> None:
        self.streams[2].append([self._lengths.tobytes()])
        self._lengths = array.array("q")


@dataclass
class RowParts:
    """The scalars of some rows, or their blobs, with their lengths in front: where they begin and end in one file."""

    file: BufferedReader
    begins: "np.ndarray[Any, Any]"
    ends: "np.ndarray[Any, Any]"

    @property
    def lengths(self) -> "np.ndarray[Any, Any]":
        lengths: np.ndarray[Any, Any] = self.ends - self.begins
        return lengths

    def pieces(self, first: int, end: int) -> Iterator[bytes]:
        """The bytes of these rows, of which there is one at least. What lies together is read together."""
        begins, ends = self.begins[first:end], self.ends[first:end]
        cuts = (np.flatnonzero(begins[1:] != ends[:-1]) + 1).tolist()
        for a, b in zip([0, *cuts], [*cuts, len(begins)], strict=True):
            at, to = int(begins[a]), int(ends[b - 1])
            while at < to:
                block = os.pread(self.file.fileno(), min(_BLOCK, to - at), at)
                if not block:
                    raise OSError(0, f"{self.file.name} ends at byte {at:,}, before a row at byte {to:,}")
                at += len(block)
                yield block

    @staticmethod
    def pieces_of(parts: Sequence["RowParts"], first: int, end: int) -> Iterator[bytes]:
        """Of rows that are counted over all parts."""
        for part in parts:
            count = len(part.begins)
            if first < count and end > 0:
                yield from part.pieces(max(first, 0), min(end, count))
            first -= count
            end -= count


@dataclass
class SpooledRows:
    """What a spool holds."""

    scalars: RowParts
    blobs: RowParts
    saved: int

    def close(self) -> None:
        self.scalars.file.close()
        self.blobs.file.close()


def open_spool(path: str) -> SpooledRows:
    """Of the spool at `path`, which is finished and flushed."""
    blobs, scalars, lengths = (f"{file}{DRAFT}" for file in spool_files(path))
    with saying(f"cannot read {path}"):
        with open_own_file(lengths) as file:
            numbers = np.frombuffer(file.read(), np.int64)
        of_rows, saved = numbers[:-1].reshape(-1, 2), int(numbers[-1])
        first = open_own_file(scalars)
        try:
            return SpooledRows(
                _end_to_end(first, of_rows[:, 0]), _end_to_end(open_own_file(blobs), of_rows[:, 1]), saved
            )
        except BaseException:
            first.close()
            raise


def _end_to_end(file: BufferedReader, lengths: "np.ndarray[Any, Any]") -> RowParts:
    ends = np.cumsum(lengths)
    return RowParts(file, ends - lengths, ends)
