"""Samplers: values that they take for each row are a column's or an array's, and no attributes."""

from __future__ import annotations

from typing import Any

from headrace._datasets.sampler import Sampler
from headrace._graph.adapters import adapts

__all__: list[str] = []


@adapts("ClassBalanced")
def class_balanced(sampler: Sampler, /, labels: Any, **attributes: Any) -> None:
    sampler._begin("ClassBalanced", attributes, {"labels": labels})


@adapts("PK")
def pk(sampler: Sampler, /, labels: Any, **attributes: Any) -> None:
    sampler._begin("PK", attributes, {"labels": labels})


@adapts("Weighted")
def weighted(sampler: Sampler, /, weights: Any, **attributes: Any) -> None:
    sampler._begin("Weighted", attributes, {"weights": weights})


@adapts("from_sampler")
def from_sampler(sampler: Sampler, /, **given: Any) -> None:
    sampler._begin_own(**given)
