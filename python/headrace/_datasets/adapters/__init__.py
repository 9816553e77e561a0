"""How the arguments of datasets' operators become their attributes. Importing this registers them all."""

from headrace._datasets.adapters import (
    array_sources,
    arrow_source,
    buckets,
    caches,
    children,
    field_sources,
    filters,
    joining,
    maps,
    mind_record_source,
    mixing,
    numbers,
    orders,
    parts,
    python_sources,
    split_sources,
    successions,
)
from headrace._graph.adapters import adapted

__all__ = [
    "adapted",
    "array_sources",
    "arrow_source",
    "buckets",
    "caches",
    "children",
    "field_sources",
    "filters",
    "joining",
    "maps",
    "mind_record_source",
    "mixing",
    "numbers",
    "orders",
    "parts",
    "python_sources",
    "split_sources",
    "successions",
]
