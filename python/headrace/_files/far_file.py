"""`FarFile` reads a file of any store through the engine, as Python's files are read: with seek, tell and readinto, as pyarrow
and h5py take them."""

from __future__ import annotations

import io
import os
from typing import Any

from headrace import _engine

__all__ = ["FarFile"]


class FarFile(io.RawIOBase):
    """Each read is a request for its bytes alone. Used by one thread. Raises the engine's errors."""

    def __init__(self, path: str | os.PathLike[str], opened: _engine.ReadFile | None = None) -> None:
        super().__init__()
        self.name = os.fspath(path)
        self.mode = "rb"
        self._file = _engine.open_file(os.fsencode(path)) if opened is None else opened
        self._at = 0

    @property
    def size(self) -> int:
        """In bytes."""
        return self._file.size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        self._check()
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._check()
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size}.get(whence)
        if base is None:
            raise ValueError(f"whence is {whence}; it must be 0, 1 or 2")
        if base + offset < 0:
            raise ValueError(f"a file has no byte {base + offset}")
        self._at = base + offset
        return self._at

    def readinto(self, target: Any) -> int:
        self._check()
        read = self._file.read_into(self._at, target)
        self._at += read
        return read

    def read(self, size: int | None = -1) -> bytes:
        self._check()
        given = self._file.read_at(self._at, max(0, self._file.size - self._at) if size is None or size < 0 else size)
        self._at += len(given)
        return given

    def readall(self) -> bytes:
        return self.read()

    def _check(self) -> None:
        if self.closed:
            raise ValueError(f"{self.name} is closed")
