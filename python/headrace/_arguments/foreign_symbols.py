"""`own_symbols_first` sees that another library's protobuf does not take the place of the engine's when that is loaded."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["own_symbols_first"]

# `google::protobuf::MessageLite::ParseFromArray(void const*, int)`, which all versions of protobuf have.
_OF_PROTOBUF = "_ZN6google8protobuf11MessageLite14ParseFromArrayEPKvi"

# What takes malloc's place has these, too. They have one address each, where an interpreter that is not position-independent
# may have one of its own for `malloc` and `free`.
_OF_ALLOCATORS = ("aligned_alloc", "posix_memalign")


def _protobuf_is_global() -> bool:
    """Whether a library with a protobuf was loaded for all others to see, as TensorFlow loads its own."""
    # Not imported: it takes longer than the question, and whoever loads such libraries has it, as NumPy does.
    ctypes = sys.modules.get("ctypes")
    return ctypes is not None and hasattr(ctypes.CDLL(None), _OF_PROTOBUF)


def _allocator_is_libcs() -> bool:
    """Whether no other one, such as a preloaded jemalloc, takes its place. A library that looks in its own libraries first
    frees by libc's `free` what the other one gave."""
    ctypes = sys.modules["ctypes"]
    used, libcs = ctypes.CDLL(None), ctypes.CDLL("libc.so.6")
    return all(_address(getattr(used, name)) == _address(getattr(libcs, name)) for name in _OF_ALLOCATORS)


def _address(function: Any) -> int | None:
    ctypes = sys.modules["ctypes"]
    found: int | None = ctypes.cast(function, ctypes.c_void_p).value
    return found


@contextlib.contextmanager
def own_symbols_first() -> Iterator[None]:
    """Modules that are loaded within look for names in their own libraries first, where other ones would be mixed in and the
    allocator is libc's."""
    if not _protobuf_is_global() or not _allocator_is_libcs():
        yield
        return
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | os.RTLD_DEEPBIND)
    try:
        yield
    finally:
        sys.setdlopenflags(flags)
