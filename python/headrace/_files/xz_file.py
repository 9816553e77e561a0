"""`XzFile` decompresses a file of xz as it is read, but for a dictionary that would take more memory than readers of archives
allow."""

from __future__ import annotations

import io
import lzma
from typing import BinaryIO

__all__ = ["LargeDictionaryError", "XzFile"]

_MOST_MEMORY = 128 << 20
_PIECE = 1 << 16
_MARK = b"\xfd7zXZ\0"
# As lzma says it.
_LIMIT = "Memory usage limit exceeded"


class LargeDictionaryError(lzma.LZMAError):
    def __init__(self) -> None:
        super().__init__(f"its dictionary takes more than {_MOST_MEMORY >> 20} MiB of memory")


class XzFile(io.RawIOBase):
    """Several streams are one; what comes after the last one is left. Used by one thread."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
        self._given = b""
        """What was read and not decompressed."""

    def read(self, size: int = -1) -> bytes:
        """So many bytes; fewer at the end alone. Raises LZMAError, and EOFError where the file is cut off, after what comes
        before."""
        made = bytearray()
        while size < 0 or len(made) < size:
            if self._decompressor.eof and not self._next_stream():
                break
            given = self._next_piece() if self._decompressor.needs_input else b""
            if self._decompressor.needs_input and not given:
                if made:
                    break
                raise EOFError("the file ends within a stream")
            made += self._decompressed(given, -1 if size < 0 else size - len(made))
        return bytes(made)

    def _next_stream(self) -> bool:
        """Goes on to the stream after this one; false: there is none."""
        rest = self._decompressor.unused_data.lstrip(b"\0")
        # Streams are filled up by any number of zeros.
        while len(rest) < len(_MARK) and (given := self._file.read(_PIECE)):
            rest = (rest + given).lstrip(b"\0")
        if not rest.startswith(_MARK):
            return False
        self._decompressor = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
        self._given = rest
        return True

    def _next_piece(self) -> bytes:
        given, self._given = self._given, b""
        return given or self._file.read(_PIECE)

    def _decompressed(self, given: bytes, most: int) -> bytes:
        try:
            return self._decompressor.decompress(given, most)
        except lzma.LZMAError as error:
            if str(error) == _LIMIT:
                raise LargeDictionaryError from None
            raise
