"""Devices as scripts for MXNet name them. Batches lie in host memory whatever the context; it is kept for scripts that
ask for it."""

from typing import NamedTuple

__all__ = ["Context", "cpu", "cpu_pinned", "gpu"]


class Context(NamedTuple):
    """A device: its kind and its number."""

    device_type: str
    device_id: int = 0

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"


def cpu(device_id: int = 0) -> Context:
    """Host memory."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Page-locked host memory."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """The GPU of that number."""
    return Context("gpu", device_id)
