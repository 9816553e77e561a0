"""`requests` makes the source of an inference graph: columns whose values a caller gives, one row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace import _engine
from headrace._datasets.base import source
from headrace._kernels.mapping import Types

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["requests"]


def requests(types: Types) -> Dataset:
    return source("Input", {"columns": _engine.Columns(types)})
