"""Interfaces of Apache MXNet for its users' data and scripts: `import headrace.mx as mx`."""

from headrace.mx import io, nd, recordio
from headrace.mx.context import Context, cpu, cpu_pinned, gpu

__all__ = ["Context", "cpu", "cpu_pinned", "gpu", "io", "nd", "recordio"]
