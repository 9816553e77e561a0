"""`SetCall` is how a graph names a set of `headrace.datasets`: its call, the fingerprint of its files and its classes.

What makes sets stands above all that load graphs, so it says here how a set is made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from headrace import _engine
from headrace._graph.reference import Binding
from headrace.errors import GraphError

__all__ = ["SetCall", "call_of", "made_again", "made_at", "set_maker"]

# Makes the source of a set: its node and its binding. The dict has arguments that every set takes, such as `shuffle`.
_Maker = Callable[["SetCall", str, dict[str, Any]], tuple[_engine.Node, Binding]]

_make: _Maker | None = None


class SetCall(NamedTuple):
    name: str
    root: str
    arguments: Mapping[str, Any]
    fingerprint: str
    classes: Mapping[str, Mapping[str, int]]

    def text(self) -> str:
        """In ASCII, whatever the bytes of the root are."""
        return json.dumps(self._asdict())


def call_of(attributes: Mapping[str, Any]) -> SetCall | None:
    """That of a source's attributes; None if its rows are of no set. GraphError if it is not as `text` writes it."""
    text = attributes.get("set_call")
    if not text:
        return None
    try:
        call = SetCall(**json.loads(text))
    except (TypeError, ValueError, RecursionError):
        call = None
    if call is None or not _is_sound(call):
        raise GraphError(
            "the graph names a data set in a form that this version of headrace does not write; make it anew"
        )
    return call


def _is_sound(call: SetCall) -> bool:
    texts = all(isinstance(each, str) for each in (call.name, call.root, call.fingerprint))
    return (
        texts
        and isinstance(call.arguments, dict)
        and isinstance(call.classes, dict)
        and all(
            isinstance(labels, dict) and all(type(label) is int for label in labels.values())
            for labels in call.classes.values()
        )
    )


def set_maker(make: _Maker) -> None:
    global _make
    _make = make


def made_again(call: SetCall, reference: str) -> Callable[[], Binding]:
    """Makes the set's table again, once. GraphError if its files are others by now."""
    made: list[Binding] = []

    def binding() -> Binding:
        if not made:
            assert _make is not None
            made.append(_make(call, reference, {})[1])
        return made[0]

    return binding


def made_at(call: SetCall, root: str, reference: str, attributes: Mapping[str, Any]) -> tuple[_engine.Node, Binding]:
    """The source of the set with these attributes, whose files lie at another place. GraphError if they are others."""
    assert _make is not None
    return _make(call._replace(root=root), reference, {name: attributes[name] for name in ("shuffle", "seed", "name")})
