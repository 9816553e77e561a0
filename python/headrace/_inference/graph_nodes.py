"""`Node`: an operator of a graph as JSON has it, with the steps of a map; graphs are put together of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from headrace import _engine
from headrace._datasets.base import PRODUCER, Base
from headrace._graph.declared import operator

__all__ = ["Node", "Step", "drawing_kernel", "graph_of", "map_of", "node_of", "place_of", "references_in"]

# As protobuf's JSON form has a Node and a Step.
Node: TypeAlias = dict[str, Any]
Step: TypeAlias = dict[str, Any]


def node_of(node: _engine.Node) -> Node:
    """Alone, without its inputs."""
    graph = _engine.Graph([(node, [])], node.references, None, PRODUCER, None)
    (found,) = json.loads(graph.json())["nodes"]
    return dict(found)


def map_of(dataset: Base) -> list[Step]:
    """The steps of a map, in order; other operators have no steps."""
    return list(node_of(dataset._node).get("steps", ()))


def place_of(located: Mapping[str, Any]) -> str:
    """Where a node or step was written, for messages; "" if that is not known."""
    location = located.get("location", {})
    return f"{location['file']}:{location.get('line', 0)}" if location.get("file") else ""


def drawing_kernel(step: Step) -> str | None:
    """The first kernel of a step that draws random numbers, itself or in its branches; None: nothing is drawn."""
    return next((each["kernel"] for each in _with_branches(step) if each.get("salt", "0") != "0"), None)


def references_in(step: Step) -> Iterator[tuple[str, str]]:
    """The attributes of a step, and of those in its branches, that name objects of Python; each with that name."""
    for each in _with_branches(step):
        for attribute in each.get("attributes", ()):
            reference = attribute["value"].get("reference")
            if reference is not None:
                yield attribute["name"], reference.get("name", "")


def _with_branches(step: Step) -> Iterator[Step]:
    waiting = [step]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += [inner for branch in each.get("branches", ()) for inner in branch.get("steps", ())]


def graph_of(source: _engine.Node, parts: Iterable[Step | Node], keep: Sequence[str]) -> _engine.Graph:
    """A graph of one row after the other: steps that follow each other become one map. `keep`: its columns, in order."""
    nodes: list[Node] = [node_of(source) | {"version": _version(source.op)}]
    for part in parts:
        if "kernel" not in part:
            nodes.append(_above(part, nodes))
        elif nodes[-1]["op"] == "map":
            nodes[-1]["steps"].append(part)
        else:
            made = {"op": "map", "version": _version("map"), "steps": [part], "location": part.get("location", {})}
            nodes.append(_above(made, nodes))
    nodes.append(_above(node_of(_engine.Node("project", {"columns": list(keep)}, [], ("", 0))), nodes))
    text = json.dumps({"format": 2, "nodes": nodes, "producer": PRODUCER})
    return _engine.Graph.parse_json(text)


def _above(node: Node, nodes: Sequence[Node]) -> Node:
    return node | {"inputs": [len(nodes) - 1]}


def _version(op: str) -> int:
    declared = operator(op)
    return 1 if declared is None else int(declared["version"])
