"""Interfaces of Apache MXNet for its users' data and scripts: `import headrace.mx as mx`."""

from headrace.mx import recordio

__all__ = ["recordio"]
