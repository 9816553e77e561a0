"""Interfaces of Apache MXNet for its users' data and scripts: `import headrace.mx as mx`."""

from headrace.mx import image, io, nd, recordio, rnn
from headrace.mx.context import Context, cpu, cpu_pinned, gpu

__all__ = ["Context", "cpu", "cpu_pinned", "gpu", "image", "io", "nd", "recordio", "rnn"]
