"""`FirstBytes`: the beginning of a file, also of what is in a compressed one, and what it shows."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import re
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from headrace._datasets.base import source
from headrace._files.opened_file import open_to_read, opened_size
from headrace._files.system_error import system_error
from headrace._files.xz_file import XzFile
from headrace._formats.named_kinds import kind_named
from headrace._runs.foreign_files import kind_of, kind_of_head
from headrace.errors import Error

__all__ = ["FirstBytes", "first_bytes"]

_LOOKED_AT = 1 << 16
_LINES = 100
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_OBJECT = re.compile(r'\s*\{\s*["}]')
_COMPRESSED: dict[str, tuple[bytes, str]] = {
    "gzip": (b"\x1f\x8b", "gunzip"),
    "zstd": (b"\x28\xb5\x2f\xfd", "unzstd"),
    "bzip2": (b"BZh", "bunzip2"),
    "xz": (b"\xfd7zXZ\x00", "unxz"),
    # Which has too few bytes of its own to be known by them alone.
    "zlib": (b"", "zlib-flate -uncompress"),
}
_ENDINGS = {".gz": "", ".zst": "", ".zstd": "", ".bz2": "", ".xz": "", ".tgz": ".tar", ".tzst": ".tar"}
_ENDINGS |= {".tbz2": ".tar", ".txz": ".tar"}


@dataclass
class FirstBytes:
    """Of a file; `head` is decompressed."""

    path: str
    head: bytes
    compression: str | None
    size: int
    """Of the file as it is."""

    @cached_property
    def kind(self) -> tuple[str, str] | None:
        """What it is by its bytes, and what to do with it; None: they do not say."""
        named = kind_named(self.head, self.path)
        if named is not None:
            return named
        if self.compression is None:
            return kind_of(self.path)
        return kind_of_head(self.head) or self._kind_of_rows()

    @property
    def decompress(self) -> str:
        """The command that does it."""
        return "" if self.compression is None else _COMPRESSED[self.compression][1]

    @cached_property
    def name(self) -> str:
        """Of the file in lower case, without the ending of a compression."""
        name = os.path.basename(self.path).lower()
        stem, ending = os.path.splitext(name)
        return stem + _ENDINGS[ending] if ending in _ENDINGS else name

    @cached_property
    def text(self) -> str | None:
        """The head as UTF-8, without a byte order mark; None: it is no text."""
        if b"\0" in self.head:
            return None
        try:
            # A character may be cut at the end of what was read.
            return codecs.getincrementaldecoder("utf-8-sig")().decode(self.head, final=len(self.head) < _LOOKED_AT)
        except UnicodeDecodeError:
            return None

    @cached_property
    def lines(self) -> list[str]:
        """The first whole lines that have a character; none if it is no text."""
        lines = (self.text or "").splitlines()
        if len(self.head) >= _LOOKED_AT and len(lines) > 1:
            del lines[-1]
        return [line for line in lines if line.strip()][:_LINES]

    @property
    def begins_as_json(self) -> bool:
        """Whether an object of JSON begins it."""
        return _OBJECT.match(self.text or "") is not None

    @property
    def is_json(self) -> bool:
        """By its name, too: as lines of text it would be of no use."""
        return self.begins_as_json or self.name.endswith(".json")

    def _kind_of_rows(self) -> tuple[str, str] | None:
        """Of what is compressed, as the engine reads it."""
        if _gives_a_row("WebDataset", {"paths": self._pattern, "fields": ["__key__ string ()"], "readings": ["key"]}):
            return "tar", "read it with hr.WebDataset"
        if _gives_a_row("TFRecord", {"paths": self._pattern}):
            return "TFRecord", "read it with hr.TFRecord"
        return None

    @property
    def _pattern(self) -> str:
        return escaped(self.path)


def escaped(path: str) -> str:
    """A pattern that this path alone matches."""
    return "".join(f"[{letter}]" if letter in "*?[;" else letter for letter in path)


def first_bytes(path: str) -> FirstBytes:
    """Of a regular file. NotFoundError, UnsupportedError: it cannot be read, or is none."""
    try:
        with open_to_read(path) as file:
            head = file.read(_LOOKED_AT)
            size = opened_size(file)
    except OSError as error:
        raise system_error(f"cannot read {path}", error) from error
    compression = _compression_of(head)
    if compression is None or _is_record(path):
        return FirstBytes(path, head, None, size)
    return FirstBytes(path, _decompressed(path, head, compression), compression, size)


def _compression_of(head: bytes) -> str | None:
    # What pzstd and others write comes first in frames that are skipped.
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F:
        return "zstd"
    if head[:2] in _ZLIB and _unpacked(head):
        return "zlib"
    return next((name for name, (begin, _) in _COMPRESSED.items() if begin and head.startswith(begin)), None)


def _unpacked(head: bytes) -> bytes:
    """By zlib; empty: it is none."""
    try:
        return zlib.decompressobj().decompress(head, _LOOKED_AT)
    except zlib.error:
        return b""


def _is_record(path: str) -> bool:
    """A length may begin as gzip does."""
    found = kind_of(path)
    return found is not None and found[0] == "TFRecord"


def _decompressed(path: str, head: bytes, compression: str) -> bytes:
    """Its beginning; empty: it is damaged, or holds nothing."""
    if compression == "zlib":
        return _unpacked(head)
    if compression == "zstd":
        return _first_lines(path)
    try:
        with open_to_read(path) as file, _reader(file, compression) as opened:
            return opened.read(_LOOKED_AT)
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError):
        return b""


def _reader(file: BinaryIO, compression: str) -> gzip.GzipFile | bz2.BZ2File | XzFile:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=file)
    return bz2.BZ2File(file) if compression == "bzip2" else XzFile(file)


def _first_lines(path: str) -> bytes:
    """Of zstd, which Python's library does not have: those that the engine reads, if they are a text."""
    lines: list[str] = []
    size = 0
    try:
        with source("Text", {"patterns": escaped(path)}).take(_LINES).iterate(workers=1, window=2) as rows:
            for row in rows:
                lines.append(str(row["line"]))
                size += len(lines[-1])
                if size > _LOOKED_AT:
                    break
    except Error:
        return b""
    return "".join(f"{line}\n" for line in lines).encode()[:_LOOKED_AT]


def _gives_a_row(op: str, attributes: dict[str, Any]) -> bool:
    try:
        return any(True for _ in source(op, attributes).take(1).iterate(workers=1, window=2))
    except Error:
        return False
