"""`SetFile` is a file of a named set, plain or compressed: read whole, at most once, and noted for the fingerprint. What
it gives of a plain file are views of its bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from typing import NoReturn

from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole
from headrace._files.xz_file import LargeDictionaryError, XzFile
from headrace.errors import DataError, ResourceError

__all__ = ["ENDINGS", "SetFile"]

# Of a compressed file, after its name.
ENDINGS = ("", ".gz", ".xz", ".bz2")

_Stream = io.BufferedIOBase | XzFile
# The first bytes of a file decide, not its name.
_OPENERS: list[tuple[bytes, Callable[[io.BytesIO], _Stream]]] = [
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    (b"\xfd7zXZ\0", lambda raw: XzFile(raw)),
    (b"BZh", lambda raw: bz2.BZ2File(raw)),
]
# Memory is taken for what is there, not for what a header says.
_PIECE = 1 << 24
# Of what is decompressed: publishers' arrays and lists are a tenth or more of their size when they are compressed, and what
# was made to fill memory a thousandth and less.
_MOST_TIMES = 200
_ALWAYS = 256 << 20


class SetFile:
    """`path` is as a user would write it; `note` gets the size and the checksum of what was read."""

    def __init__(self, path: str, note: Callable[[int, int], None]) -> None:
        self.path = path
        self._note = note
        self._plain: memoryview | None = None
        """What was not read yet; None: the file was not opened, or is compressed."""
        self._stream: _Stream | None = None
        self._left = 0
        """How many bytes may be decompressed."""

    def read(self, count: int, what: str) -> memoryview:
        """The next `count` bytes. DataError if the file ends before them."""
        found = self._read(count)
        if len(found) < count:
            self.fail(f"it ends within {what}, after {len(found):,} of {count:,} bytes")
        return found

    def rest(self) -> memoryview:
        return self._read(None)

    def end(self, what: str) -> None:
        """DataError if the file goes on."""
        if self._read(1):
            self.fail(f"it has more bytes than {what}")

    def lines(self) -> Iterator[tuple[int, str]]:
        """The number of each line that is not blank, from 1, and its text without its end. What is not UTF-8 is as in names
        of files."""
        return ((number, text) for number, text in self.all_lines() if text and not text.isspace())

    def all_lines(self) -> Iterator[tuple[int, str]]:
        """Those that are blank, too."""
        data = bytes(self.rest()).removeprefix(b"\xef\xbb\xbf")
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else (), 1):
            yield number, os.fsdecode(line.removesuffix(b"\r"))

    def note(self, size: int, checksum: int) -> None:
        """Notes what the engine read of the file, in this one's place."""
        self._note(size, checksum)

    def fail(self, reason: str, line: int | None = None) -> NoReturn:
        place = self.path if line is None else f"{self.path}, line {line}"
        error = DataError(f"{place}: {reason}")
        error.file = self.path
        raise error

    def _read(self, count: int | None) -> memoryview:
        if self._plain is None and self._stream is None:
            self._open()
        if self._plain is None:
            return memoryview(self._unpacked(count))
        found = self._plain if count is None else self._plain[:count]
        # The file's bytes are not held by what has none of them.
        self._plain = self._plain[len(found) :] if len(found) < len(self._plain) else memoryview(b"")
        return found

    def _unpacked(self, count: int | None) -> bytearray:
        assert self._stream is not None
        found = bytearray()
        try:
            while count is None or len(found) < count:
                piece = self._stream.read(_PIECE if count is None else min(_PIECE, count - len(found)))
                if not piece:
                    break
                self._count(len(piece))
                found += piece
        except MemoryError:
            raise ResourceError(f"no memory for what {self.path} holds") from None
        except LargeDictionaryError as error:
            self.fail(f"{error}; decompress it with unxz, if you trust it")
        except EOFError:
            self.fail("its compressed data is cut off; get it anew from the publisher")
        except (OSError, zlib.error, lzma.LZMAError) as error:
            self.fail(f"its compressed data is damaged ({error}); get it anew from the publisher")
        return found

    def _count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            self.fail(
                f"its compressed data gives more than {_MOST_TIMES} times its bytes, which no file of the publisher does; get it "
                "anew, or decompress it, if you trust it"
            )

    def _open(self) -> None:
        try:
            data = read_whole(self.path)
        except OSError as error:
            raise system_error(f"cannot read {self.path}", error) from None
        self._note(len(data), zlib.crc32(data))
        opener = next((opener for mark, opener in _OPENERS if data.startswith(mark)), None)
        if opener is None:
            self._plain = memoryview(data)
            return
        self._left = max(_ALWAYS, _MOST_TIMES * len(data))
        self._stream = opener(io.BytesIO(data))
