"""`row_graph` makes the graph of a row part, if a request can run it."""

from __future__ import annotations

from collections.abc import Sequence

from headrace import _engine
from headrace._datasets.adapters import inputs
from headrace._inference.graph_nodes import graph_of
from headrace._inference.refusals import refuse_changing
from headrace._inference.row_part import RowPart

__all__ = ["row_graph"]


def row_graph(part: RowPart, keep: Sequence[str], of: str, replaces: bool) -> _engine.Graph:
    """`keep`: its columns, in order. `replaces`: whether `replace=` is there to be advised."""
    refuse_changing(part.parts, of, replaces)
    return graph_of(inputs.requests(part.types)._node, part.parts, keep)
