"""`make_sets` says to what loads graphs how the sets that they name are made again."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from headrace._graph.reference import Binding
from headrace._graph.set_calls import SetCall, set_maker
from headrace.errors import GraphError

__all__ = ["make_sets"]


def make_sets() -> None:
    set_maker(_made)


def _made(call: SetCall, reference: str) -> Binding:
    # Late: few graphs name a set.
    sets: dict[str, Any] = import_module("headrace.datasets").SETS
    known = sets.get(call.name)
    if known is None:
        raise GraphError(f"the graph names the data set {call.name}, which this version of headrace does not have")
    try:
        again = known(*([call.root] if call.root else []), **call.arguments)
    except TypeError as error:
        raise GraphError(f"{call.name}: this version of headrace takes other arguments: {error}") from None
    if again._set_call.fingerprint != call.fingerprint:
        raise GraphError(
            f"{call.name}: the files in {call.root} have changed since the graph was saved; make the graph anew, or give "
            f"the arrays: headrace.load(path, references={{{reference!r}: …}})"
        )
    binding: Binding = again._set_binding
    return binding
