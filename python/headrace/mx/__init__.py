"""Interfaces of Apache MXNet for its users' data and scripts: `import headrace.mx as mx`."""

from typing import TYPE_CHECKING

from headrace.mx import image, io, nd, recordio, rnn
from headrace.mx.absent import no_name
from headrace.mx.context import Context, cpu, cpu_pinned, gpu

__all__ = ["Context", "cpu", "cpu_pinned", "gpu", "image", "io", "nd", "recordio", "rnn"]


if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        raise no_name(__name__, name)
