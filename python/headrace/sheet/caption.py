"""`caption` writes the text under an image: the small values of its row."""

from __future__ import annotations

from typing import Any

from headrace._arguments.late_numpy import np
from headrace.sheet.image_column import type_text

__all__ = ["caption"]

_MOST_NUMBERS = 8
_MOST_LETTERS = 200


def caption(name: str, value: Any, named: bool) -> str | None:
    """One line. A value that is not small is left out (None), or described by its type if the user named the column."""
    if isinstance(value, str):
        return f"{name}: {_cut(' '.join(value.split()))}"
    if isinstance(value, bytes):
        return f"{name}: {_cut(repr(value[:_MOST_LETTERS]))}"
    if isinstance(value, np.ndarray) and (value.ndim > 1 or value.size > _MOST_NUMBERS or value.dtype == object):
        return f"{name}: {type_text(value)}" if named else None
    return f"{name}: {_numbers(np.asarray(value))}"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"


def _numbers(value: np.ndarray) -> str:
    if value.ndim == 1:
        return f"[{', '.join(map(_numbers, map(np.asarray, value)))}]"
    return f"{value.item():.6g}" if value.dtype.kind == "f" else str(value.item())
