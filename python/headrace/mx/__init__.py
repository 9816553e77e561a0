"""Interfaces of Apache MXNet for its users' data and scripts: `import headrace.mx as mx`."""

from typing import TYPE_CHECKING

from headrace.mx import base, context, image, io, nd, ndarray, random, recordio, rnn
from headrace.mx import image as img
from headrace.mx.absent import no_name
from headrace.mx.base import MXNetError
from headrace.mx.context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus

__all__ = [
    "Context",
    "MXNetError",
    "base",
    "context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "gpu",
    "image",
    "img",
    "io",
    "nd",
    "ndarray",
    "num_gpus",
    "random",
    "recordio",
    "rnn",
]


if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        raise no_name(__name__, name)
