"""`text_column` makes a column of texts of those of lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["text_column"]


def text_column(texts: Sequence[str]) -> Any:
    held = np.empty(len(texts), object)
    held[:] = texts
    return held
