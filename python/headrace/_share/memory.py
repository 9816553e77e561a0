"""`Pool`: the memory of batches, in files without a name that others map and cannot change; `Mapping`: such memory there.

Threads: a pool on any; a mapping may be let go on any thread."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from headrace.errors import Error, ResourceError, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Mapping", "Pool", "Slot"]

_PAGE = mmap.PAGESIZE
# Nobody but who has it mapped already may write to it: F_SEAL_FUTURE_WRITE, which `fcntl` has not named yet.
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10 | fcntl.F_SEAL_SEAL
_FAILED = ctypes.c_void_p(-1).value

# Not the mmap of Python, which keeps a descriptor for each mapping: many batches may be kept.
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


class Mapping:
    """Memory of a descriptor, for `numpy.asarray`, whose arrays keep it. `private`: what is written to its arrays nobody
    else sees.

    Attributes:
        on_release: Called when it is unmapped.
    """

    def __init__(self, descriptor: int, size: int, private: bool) -> None:
        flags = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
        address = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, descriptor, 0)
        if address == _FAILED:
            number = ctypes.get_errno()
            raise ResourceError(f"share: no room to map a batch of {size:,} bytes: {os.strerror(number)}")
        self._address, self._size = address, size
        self.on_release: Callable[[], None] | None = None

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "data": (self._address, False), "shape": (self._size,), "typestr": "|u1"}

    def __del__(self, unmap: Any = _libc.munmap) -> None:
        address, self._address = getattr(self, "_address", None), None
        if address is None:
            return
        unmap(address, self._size)
        if self.on_release is not None:
            self.on_release()


class Slot:
    """The memory of one batch at a time.

    Attributes:
        number: Of the slot, which is never another's.
        holders: Those that may read it.
    """

    def __init__(self, number: int, size: int) -> None:
        self.number, self.size, self.holders = number, size, 0
        self.descriptor = -1
        try:
            self.descriptor = os.memfd_create("headrace-batch", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            # With its pages, so that no write to it can fail.
            os.posix_fallocate(self.descriptor, 0, size)
            self.memory: NDArray[numpy.uint8] = numpy.asarray(Mapping(self.descriptor, size, False))
            _seal(self.descriptor)
        except Error:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise ResourceError(
                f"share: no memory for a batch of {size:,} bytes: {error.strerror}; let go of batches that consumers keep"
            ) from error

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1


def _seal(descriptor: int) -> None:
    try:
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    except OSError as error:
        raise UnsupportedError(
            "share: the kernel cannot seal memory so that consumers do not change batches of others, which needs Linux 5.1 or "
            f"a later one; run the dataset in each process (Linux {os.uname().release}: {error.strerror})"
        ) from error


class Pool:
    """Keeps the memory of batches that all have let go of for those that come, as new memory costs more than to fill it."""

    def __init__(self, most_free: int) -> None:
        self._lock = threading.Lock()
        self._free: list[Slot] = []
        self._made = 0
        self.most_free = most_free

    def take(self, size: int) -> Slot:
        """The smallest that is large enough, and not twice as large. ResourceError where there is no memory."""
        with self._lock:
            fit = [each for each in self._free if size <= each.size <= 2 * size + _PAGE]
            if fit:
                found = min(fit, key=lambda each: each.size)
                self._free.remove(found)
                return found
            self._made += 1
            number = self._made
        # A little more, as batches of one pipeline differ a little.
        return Slot(number, -(-(size + size // 8) // _PAGE) * _PAGE)

    def give(self, slot: Slot) -> None:
        with self._lock:
            self._free.append(slot)
            dropped = self._free.pop(0) if len(self._free) > self.most_free else None
        if dropped is not None:
            dropped.close()

    def trim(self, most_free: int) -> None:
        with self._lock:
            self.most_free = most_free
            kept = self._free[max(0, len(self._free) - most_free) :]
            dropped, self._free = self._free[: len(self._free) - len(kept)], kept
        for each in dropped:
            each.close()
