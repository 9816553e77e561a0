"""Where the C library lies: its headers, and libheadrace.so with the files for CMake and pkg-config."""

import os

from headrace.errors import UnsupportedError

__all__ = ["include_dir", "library_dir"]

# Unpacked by the set-up of a clone, and a part of the wheel.
_ROOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "c")


def _folder(name: str) -> str:
    folder = os.path.join(_ROOT, name)
    if not os.path.isdir(folder):
        raise UnsupportedError(f"the C library is not built here: run tools/setup/setup; there is no {folder}")
    return folder


def include_dir() -> str:
    """The folder of `headrace.h` and `headrace.hpp`, the interface of the C library, which runs inference graphs.

    Errors: UnsupportedError in a clone whose set-up did not end.

    Example:
        subprocess.run(["cc", f"-I{hr.include_dir()}", "prepare.c", f"-L{hr.library_dir()}", "-lheadrace"])
    """
    return _folder("include")


def library_dir() -> str:
    """The folder of `libheadrace.so`, which programs in C and C++ link; CMake finds it by the folder above.

    Errors: UnsupportedError in a clone whose set-up did not end.

    Example:
        subprocess.run(["cmake", f"-DCMAKE_PREFIX_PATH={os.path.dirname(hr.library_dir())}", "-B", "build"])
    """
    return _folder("lib")
