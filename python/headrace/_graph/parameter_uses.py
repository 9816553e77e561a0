"""Finds the attributes of kernels that read parameters."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from headrace import _engine
from headrace._graph.parameter_lists import ParameterList, holds_parameter
from headrace._graph.parameters import Parameter, Use

__all__ = ["bound_steps", "note_uses", "uses_in"]

Uses = list[tuple[Parameter, Use]]


def bound_steps(steps: Sequence[Any], functions: Sequence[Any]) -> tuple[list[Any], list[Any], Uses]:
    """The steps of a map with references in the place of parameters, the bindings of all their references, in order,
    and what reads parameters; `functions`: the bindings of the steps' functions. GraphError if a value is out of bounds."""
    made = _Bound(functions)
    return [_bound(step, made) for step in steps], made.bindings, made.uses


class _Bound:
    def __init__(self, functions: Sequence[Any]) -> None:
        self.functions = iter(functions)
        self.bindings: list[Any] = []
        self.uses: Uses = []
        # Steps of several columns have one list.
        self.lists: dict[str, ParameterList] = {}

    def reader(self, kernel: str, attribute: str, value: Any) -> Parameter | ParameterList | None:
        """What an attribute reads in each epoch; None: a value."""
        if isinstance(value, Parameter):
            return value
        if not holds_parameter(value):
            return None
        listed = ParameterList(value, f"{kernel}: {attribute}")
        return self.lists.setdefault(listed.name, listed)


# No function within `bound_steps`: one that calls itself is in a cycle with what it holds, which would keep the user's
# functions alive until Python collects garbage.
def _bound(step: Any, made: _Bound) -> Any:
    kernel, attributes, *rest, branches = step
    replaced = {}
    for name, value in attributes.items():
        if (reader := made.reader(kernel, name, value)) is not None:
            reader._check_use(kernel, name)
            made.uses += reader._uses(kernel, name)
            made.bindings.append(("parameter", reader))
            value = _engine.Reference(reader.name)
        elif isinstance(value, _engine.Reference):
            made.bindings.append(next(made.functions))
        replaced[name] = value
    of_branches = [[_bound(each, made) for each in branch] for branch in branches]
    return (kernel, replaced, *rest, of_branches)


def note_uses(uses: Iterable[tuple[Parameter, Use]]) -> None:
    """Attributes of a dataset that is made read these parameters."""
    for parameter, use in uses:
        parameter._use(use)


def uses_in(graph: str, named: Mapping[str, Parameter | ParameterList]) -> Uses:
    """What reads these parameters in a graph, which is JSON; they are named as its references are. GraphError if a value
    is out of bounds."""
    return [use for node in json.loads(graph)["nodes"] for step in node.get("steps", ()) for use in _used(step, named)]


def _used(step: dict[str, Any], named: Mapping[str, Parameter | ParameterList]) -> Iterator[tuple[Parameter, Use]]:
    for attribute in step.get("attributes", ()):
        reader = named.get(attribute["value"].get("reference", {}).get("name"))
        if reader is not None:
            reader._check_use(step["kernel"], attribute["name"])
            yield from reader._uses(step["kernel"], attribute["name"])
    for branch in step.get("branches", ()):
        for each in branch.get("steps", ()):
            yield from _used(each, named)
