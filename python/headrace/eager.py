"""`compose` makes one function of several kernels, for what has no pipeline; `Composed` is what it gives."""

from headrace._datasets.eager import Composed, compose

__all__ = ["Composed", "compose"]
