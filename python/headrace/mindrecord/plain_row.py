"""Rows as MindSpore's readers give them: Python's numbers, texts and bytes, and arrays of NumPy."""

from collections.abc import Mapping
from typing import Any

__all__ = ["plain_row"]


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Of a row of hr.MindRecord."""
    return {name: value.item() if getattr(value, "ndim", None) == 0 else value for name, value in row.items()}
