"""Devices as scripts for MXNet name them. Batches lie in host memory whatever the context; it is kept for scripts that
ask for it."""

import types
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Context", "cpu", "cpu_pinned", "current_context", "gpu", "num_gpus"]


class Context(NamedTuple):
    """A device: its kind and its number."""

    device_type: str
    device_id: int = 0

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __enter__(self) -> "Self":
        """Changes nothing: arrays are made in host memory in a `with` block, too."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        pass


def cpu(device_id: int = 0) -> Context:
    """Host memory."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Page-locked host memory."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """The GPU of that number."""
    return Context("gpu", device_id)


def current_context() -> Context:
    """Where arrays are made: `cpu(0)`."""
    return cpu()


def num_gpus() -> int:
    """The number of GPUs on which arrays of this package can lie: 0."""
    return 0
