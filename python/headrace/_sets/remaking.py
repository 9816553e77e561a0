"""`make_sets` says to what loads graphs how the sets that they name are made again."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from headrace import _engine
from headrace._graph.reference import Binding
from headrace._graph.set_calls import SetCall, set_maker
from headrace.errors import GraphError

__all__ = ["make_sets"]


def make_sets() -> None:
    set_maker(_made)


def _made(call: SetCall, reference: str, further: dict[str, Any]) -> tuple[_engine.Node, Binding]:
    # Late: few graphs name a set.
    import_module("headrace.datasets")
    known: Any = import_module("headrace._sets.named_set").SETS.get(call.name)
    if known is None:
        raise GraphError(f"the graph names the data set {call.name}, which this version of headrace does not have")
    try:
        again = known(*([call.root] if call.root else []), **call.arguments, **further)
    except TypeError as error:
        raise GraphError(f"{call.name}: this version of headrace takes other arguments: {error}") from None
    if again._set_call is None:
        raise GraphError(f"the graph has a table of the data set {call.name}, whose rows are lines; make it anew")
    if again._set_call.fingerprint != call.fingerprint:
        raise GraphError(
            f"{call.name}: the files in {call.root} are not as they were when the graph was saved; make the graph anew, or "
            f"give the arrays, or the folder where the files lie: headrace.load(path, references={{{reference!r}: …}})"
        )
    return again._set_node, again._set_binding
