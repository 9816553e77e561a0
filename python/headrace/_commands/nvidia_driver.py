"""`nvidia_report` asks NVIDIA's driver for its version and its GPUs, as the engine finds it."""

import ctypes
from typing import Any

__all__ = ["nvidia_report"]

LIBRARY = "libcuda.so.1"
_NAME_BYTES = 256
# CUdevice_attribute: the compute capability.
_MAJOR = 75
_MINOR = 76


class _CannotAsk(Exception):
    """The driver answers with an error."""


def nvidia_report(library: str = LIBRARY) -> dict[str, Any]:
    """`cuda`, the newest version of CUDA that the driver knows, and `devices`; or `error`, why there are none."""
    try:
        driver = ctypes.CDLL(library)
    except OSError as error:
        return {"error": f"no driver: {error}"}
    try:
        _call(driver, "cuInit", 0)
        version = _number(driver, "cuDriverGetVersion")
        count = _number(driver, "cuDeviceGetCount")
        devices = [_device(driver, ordinal) for ordinal in range(count)]
    except _CannotAsk as error:
        return {"error": str(error)}
    return {"cuda": f"{version // 1000}.{version % 1000 // 10}", "devices": devices}


def _call(driver: ctypes.CDLL, name: str, *arguments: Any) -> None:
    try:
        code = getattr(driver, name)(*arguments)
    except AttributeError:
        raise _CannotAsk(f"{LIBRARY} has no function {name}") from None
    if code != 0:
        raise _CannotAsk(f"{name} of {LIBRARY} gives the error {code}")


def _number(driver: ctypes.CDLL, name: str, *arguments: Any) -> int:
    found = ctypes.c_int()
    _call(driver, name, ctypes.byref(found), *arguments)
    return found.value


def _device(driver: ctypes.CDLL, ordinal: int) -> dict[str, Any]:
    handle = _number(driver, "cuDeviceGet", ordinal)
    name = ctypes.create_string_buffer(_NAME_BYTES)
    _call(driver, "cuDeviceGetName", name, _NAME_BYTES, handle)
    memory = ctypes.c_size_t()
    _call(driver, "cuDeviceTotalMem_v2", ctypes.byref(memory), handle)
    major, minor = (_number(driver, "cuDeviceGetAttribute", each, handle) for each in (_MAJOR, _MINOR))
    return {
        "name": name.value.decode(errors="replace"),
        "memory_bytes": memory.value,
        "compute_capability": f"{major}.{minor}",
    }
