"""`Block` holds an input or output of a call in memory that shows reads and writes out of bounds.

A block belongs to one call. Of one with margins `fault` says what was written beside it or, of an input, into it; a
guarded one stands at the border of a page that ends the process when it is touched, and as an input cannot be written."""

import ctypes as c
import mmap

import numpy as np

_PAGE = mmap.PAGESIZE
_MARGIN = 4096
_PATTERN = 0xC5
_libc = c.CDLL(None, use_errno=True)
_libc.mmap.restype = c.c_void_p
_libc.mmap.argtypes = [c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long]
_libc.mprotect.argtypes = [c.c_void_p, c.c_size_t, c.c_int]
_libc.munmap.argtypes = [c.c_void_p, c.c_size_t]
_NONE, _READ, _READ_WRITE = 0, 1, 3


class Block:
    """Plain memory, aligned to 64 bytes and filled."""

    _margin = 64

    def __init__(self, size: int, fill: int, contents: bytes | None = None) -> None:
        self.size = size
        self.fill = fill
        self._contents = contents
        self._place(size)
        if contents is not None:
            c.memmove(self.address, contents, size)
        else:
            c.memset(self.address, fill, size)

    def _place(self, size: int) -> None:
        self._array = np.empty(size + 2 * self._margin + 64, np.uint8)
        first = self._array.ctypes.data + self._margin
        self.address = first + -first % 64

    def read(self) -> bytes:
        return c.string_at(self.address, self.size)

    def protect(self) -> None:
        """Makes it read-only, where it can be."""

    def fault(self, name: str) -> str | None:
        """What was done to it that must not be."""
        return None

    def free(self) -> None:
        """Ends it."""


class BlockWithMargins(Block):
    _margin = _MARGIN

    def _place(self, size: int) -> None:
        super()._place(size)
        self._array.fill(_PATTERN)

    def fault(self, name: str) -> str | None:
        start = self.address - self._array.ctypes.data
        before, after = self._array[:start], self._array[start + self.size :]
        for margin, where in ((before, "before"), (after, "after")):
            written = int(np.count_nonzero(margin != _PATTERN))
            if written:
                return f"wrote {where} {name}, which has {self.size} bytes: {written} or more"
        if self._contents is not None and self.read() != self._contents:
            return f"wrote into {name}"
        return None


class GuardedBlock(Block):
    """Ends at a page that cannot be touched."""

    _at_end = True

    def _place(self, size: int) -> None:
        self._pages = -(-size // _PAGE) * _PAGE
        base = _libc.mmap(None, self._pages + 2 * _PAGE, _NONE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        if base is None or base == c.c_void_p(-1).value:
            raise MemoryError(f"no memory for {size:,} bytes")
        self._base = base
        self._change(_READ_WRITE)
        self.address = base + _PAGE + (self._pages - size if self._at_end else 0)

    def _change(self, rights: int) -> None:
        if self._pages and _libc.mprotect(self._base + _PAGE, self._pages, rights) != 0:
            raise MemoryError(f"no memory for {self.size:,} bytes")

    def protect(self) -> None:
        self._change(_READ)

    def free(self) -> None:
        _libc.munmap(self._base, self._pages + 2 * _PAGE)


class GuardedBlockAtStart(GuardedBlock):
    """Begins after such a page."""

    _at_end = False
