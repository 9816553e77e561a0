"""`refuse_changing` refuses steps that no inference graph can hold: those that draw, call Python or read parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from headrace._graph.declared import followed_by, function_kernel, operator
from headrace._inference.graph_nodes import Node, Step, drawing_kernel, place_of, references_in
from headrace.errors import GraphError

__all__ = ["name_in_replace", "refuse_changing"]


class _Refused(NamedTuple):
    name: str
    """What is refused, and the key of `replace=` for it."""
    at: str
    reason: str


def refuse_changing(parts: Iterable[Step | Node], of: str, replaces: bool) -> None:
    """GraphError that names all such steps with their lines. `replaces`: whether `replace=` is there to be advised."""
    refused: dict[str, _Refused] = {}
    for part in parts:
        found = _refused(part) if "kernel" in part else None
        if found is not None:
            refused.setdefault(found.name, found)
    for name in [each for each in refused if not refused.keys().isdisjoint(followed_by(each))]:
        del refused[name]
    if refused:
        raise _refusal(list(refused.values()), of, replaces)


def _refusal(refused: list[_Refused], of: str, replaces: bool) -> GraphError:
    lines = [f"{of}: {each.name}{f' ({each.at})' if each.at else ''} {each.reason}" for each in refused]
    if replaces:
        written = ", ".join(f'"{each.name}": {_example(each.name)}' for each in refused)
        lines.append(f"write what stands in their place when serving, [] for nothing: replace={{{written}}}")
    else:
        lines.append("leave them out, or put kernels that always do the same in their place")
    error = GraphError(*lines)
    error.operator, error.location = refused[0].name, refused[0].at or None
    return error


def _refused(step: Step) -> _Refused | None:
    kernel, at = step["kernel"], place_of(step)
    for attribute, name in references_in(step):
        if kernel == function_kernel():
            return _Refused(name_in_replace(step), at, "is a Python function, which no graph holds")
        return _Refused(kernel, at, f"reads {name} as {attribute}, whose value depends on the epoch")
    drawing = drawing_kernel(step)
    if drawing is None:
        return None
    within = "" if drawing == kernel or _draws(kernel) else f", as {drawing} in it does"
    return _Refused(kernel, at, f"draws random numbers{within}, and a request must get the same answer each time")


def name_in_replace(step: Step) -> str:
    """The key of `replace=` for a step: the name of the function that it calls, or of its kernel."""
    name = next((name for _, name in references_in(step)), None) if step["kernel"] == function_kernel() else None
    return (
        str(step["kernel"]) if name is None else (name.rpartition("#")[0] or name).rpartition(":")[2].rpartition(".")[2]
    )


def _draws(kernel: str) -> bool:
    declared = operator(kernel)
    return declared is not None and bool(declared["traits"]["random"])


def _example(kernel: str) -> str:
    """What serving does for a kernel that cuts a piece of a given size out: the middle of the picture."""
    declared = operator(kernel)
    if declared is None or declared["role"] != "kernel" or not declared["traits"]["geometric"]:
        return "[]"
    sized = any(each["name"] == "size" for each in declared["attributes"])
    return "[V.Resize(…), V.CenterCrop(…)]" if sized else "[]"
