"""Samplers: values that they take for each row are a column's or an array's, and no attributes."""

from __future__ import annotations

from typing import Any

from headrace._datasets.base import Base
from headrace._datasets.sampler import Sampler
from headrace._graph.adapters import adapts

__all__ = ["rows_together"]


@adapts("ClassBalanced")
def class_balanced(sampler: Sampler, /, labels: Any, **attributes: Any) -> None:
    sampler._begin("ClassBalanced", attributes, {"labels": labels})


@adapts("PK")
def pk(sampler: Sampler, /, labels: Any, **attributes: Any) -> None:
    sampler._begin("PK", attributes, {"labels": labels})


def rows_together(rows: Base) -> int:
    """How many rows in succession one rank has: the groups of `hr.PK`."""
    while rows._node.op != "PK":
        if not rows._inputs:
            return 1
        rows = rows._inputs[0]
    attributes = rows._node.attributes
    return int(attributes["classes"]) * int(attributes["samples"])


@adapts("Weighted")
def weighted(sampler: Sampler, /, weights: Any, **attributes: Any) -> None:
    sampler._begin("Weighted", attributes, {"weights": weights})


@adapts("from_sampler")
def from_sampler(sampler: Sampler, /, **given: Any) -> None:
    sampler._begin_own(**given)
