"""`Range`: its arguments are read as those of Python's range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace._graph.adapters import adapts

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("Range")
def numbers(source: Dataset, /, start: Any, stop: Any, **attributes: Any) -> None:
    if stop is None:
        start, stop = 0, start
    source._begin("Range", {"start": start, "stop": stop, **attributes})
