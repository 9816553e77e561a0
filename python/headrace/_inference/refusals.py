"""`refuse_changing` refuses steps that no inference graph can hold: those that draw, call Python or read parameters."""

from __future__ import annotations

from collections.abc import Iterable

from headrace._graph.declared import function_kernel, operator
from headrace._inference.graph_nodes import Node, Step, drawing_kernel, place_of, references_in
from headrace.errors import GraphError

__all__ = ["refuse_changing"]


def refuse_changing(parts: Iterable[Step | Node], of: str, replaces: bool) -> None:
    """GraphError that names all such steps with their lines. `replaces`: whether `replace=` is there to be advised."""
    wrong: dict[str, tuple[str, str, str]] = {}
    for part in parts:
        found = _wrong_with(part) if "kernel" in part else None
        if found is not None:
            wrong.setdefault(found[1], (*found, place_of(part)))
    if not wrong:
        return
    raise _refusal(list(wrong.values()), of, replaces)


def _refusal(wrong: list[tuple[str, str, str]], of: str, replaces: bool) -> GraphError:
    lines = [f"{of}: {what}{f' ({at})' if at else ''}" for what, _, at in wrong]
    if replaces:
        written = ", ".join(f'"{key}": {_example(key)}' for _, key, _ in wrong)
        lines.append(f"write what stands in their place when serving, [] for nothing: replace={{{written}}}")
    else:
        lines.append("leave them out, or put kernels that always do the same in their place")
    error = GraphError(*lines)
    error.operator, error.location = wrong[0][1], wrong[0][2] or None
    return error


def _wrong_with(step: Step) -> tuple[str, str] | None:
    """What is wrong, and the key of `replace=` for it."""
    kernel = step["kernel"]
    for attribute, name in references_in(step):
        if kernel == function_kernel():
            plain = name.rpartition("#")[0] or name
            return f"{plain} is a Python function, which no graph holds", plain.rpartition(":")[2]
        return f"{kernel} reads {name} as {attribute}, whose value depends on the epoch", kernel
    drawing = drawing_kernel(step)
    if drawing is None:
        return None
    within = f", by {drawing} in it" if drawing != kernel and not _draws(kernel) else ""
    return f"{kernel} draws random numbers{within}, and a request gets the same answer each time", kernel


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
