"""`Arrow`: the source of tables and streams of other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from headrace._datasets.fields.arrow_data import arrow_attributes
from headrace._graph.adapters import adapts

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("Arrow")
def arrow(
    source: Dataset,
    /,
    data: Any,
    columns: str | Sequence[str] | None,
    classes: Sequence[str] | Mapping[str, Sequence[str] | None] | None,
    missing: Mapping[str, Any] | None,
    root: str | PathLike[str] | None,
    **attributes: Any,
) -> None:
    source._begin("Arrow", {**arrow_attributes(data, columns, classes, missing, root), **attributes})
