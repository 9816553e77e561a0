"""`headrace.mx.nd` under the name by which scripts import it: `import headrace.mx.ndarray as nd`."""

from typing import TYPE_CHECKING

from headrace.mx import nd
from headrace.mx.nd import *  # noqa: F403

__all__ = nd.__all__

if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        return getattr(nd, name)
