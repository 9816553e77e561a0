"""`Identity`: what must be the same of two runs for their rows to be the same for a seed."""

from __future__ import annotations

from typing import NamedTuple

from headrace import _engine

__all__ = ["Identity", "identity_of"]


class Identity(NamedTuple):
    """Of a run in any process. What the user's functions do is not seen: a pickled dataset has them by value."""

    version: str
    graph: str
    """A hash of all operators."""
    operators: tuple[tuple[str, int], ...]
    """Inputs first: name, and a hash of it alone."""
    sources: tuple[tuple[str, int, int], ...]
    """What each reads, the number of its entries, and a hash that identifies them."""

    def difference(self, other: Identity) -> str:
        """What of `other` is not as here, as a sentence; empty: nothing."""
        if self.version != other.version:
            return f"it is of {other.version}, not of {self.version}"
        if self.graph != other.graph:
            return self._operator_that_differs(other)
        for ours, theirs in zip(self.sources, other.sources, strict=False):
            if ours[:2] != theirs[:2]:
                return f"{theirs[0]} has {theirs[1]} entries there, and {ours[0]} has {ours[1]} here"
            if ours != theirs:
                return f"{theirs[0]} has as many entries there as here, {ours[1]}, but not the same ones"
        return ""

    def _operator_that_differs(self, other: Identity) -> str:
        for ours, theirs in zip(self.operators, other.operators, strict=False):
            if ours != theirs:
                same = ours[0] == theirs[0]
                return (
                    f"{theirs[0]} has other settings there" if same else f"it has {theirs[0]} in the place of {ours[0]}"
                )
        if len(self.operators) != len(other.operators):
            return f"it has {len(other.operators)} operators, not {len(self.operators)}"
        return "its on_error() is another"


def identity_of(engine: _engine.Iteration, version: str) -> Identity:
    graph, operators, sources = engine.identity()
    return Identity(version, graph, tuple(operators), tuple(sources))
