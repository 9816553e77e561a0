"""`doubts_of` gives a graph's doubts: the engine's, and Normalize by numbers of 0 … 255 over an image of 0 … 1."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from headrace import _engine
from headrace._graph.declared import operator

__all__ = ["doubts_of"]

Doubt = tuple[str, str]

# No mean of values of 0 … 1 is above 1, and no deviation near this.
_MOST_MEAN, _MOST_STD = 1.0, 10.0


def doubts_of(graph: _engine.Graph, steps: Iterable[str]) -> list[Doubt]:
    """Lines and messages. `steps`: the texts of all steps in the graph."""
    found: list[Doubt] = graph.doubts()
    together = " ".join(steps)
    # Graphs may be large, and most have no such step.
    if "Normalize(" in together and ("ToFloat(" in together or "Rescale(" in together):
        return found + _Search().run(json.loads(graph.json())["nodes"])
    return found


class _Search:
    def __init__(self) -> None:
        self._found: list[Doubt] = []

    def run(self, nodes: list[dict[str, Any]]) -> list[Doubt]:
        # For each node the columns whose values are 0 … 1, with what made them so.
        known: list[dict[str, str]] = []
        for node in nodes:
            unit: dict[str, str] = {}
            for each in reversed(node.get("inputs", [])):
                unit |= known[each]
            if node["op"] == "rename":
                mapping: dict[str, str] = next(
                    (_value(each) for each in node["attributes"] if each["name"] == "mapping"), {}
                )
                unit = {mapping.get(name, name): by for name, by in unit.items()}
            for step in node.get("steps", []):
                self._after(step, unit, node)
            known.append(unit)
        return self._found

    def _after(self, step: dict[str, Any], unit: dict[str, str], node: dict[str, Any]) -> None:
        branches = step.get("branches", [])
        if branches:
            self._after_branches(step, branches, unit, node)
            return
        kernel, attributes = step["kernel"], {each["name"]: _value(each) for each in step.get("attributes", [])}
        maker = next((unit[name] for name in step["inputs"] if name in unit), None)
        if kernel == "Normalize" and maker is not None:
            self._check(step, attributes, maker, node)
        if kernel == "ToFloat" or (kernel == "Rescale" and maker is None and _divides(attributes.get("scale"))):
            maker = kernel
        elif not _keeps_range(kernel):
            maker = None
        for name in step["outputs"]:
            unit.pop(name, None)
            if maker is not None:
                unit[name] = maker

    def _after_branches(
        self, step: dict[str, Any], branches: list[Any], unit: dict[str, str], node: dict[str, Any]
    ) -> None:
        """A row may go through any of them, or none."""
        results = [dict(unit)]
        for branch in branches:
            after = dict(unit)
            for each in branch.get("steps", []):
                self._after(each, after, node)
            results.append(after)
        for name in step["outputs"]:
            if not all(name in each for each in results):
                unit.pop(name, None)

    def _check(self, step: dict[str, Any], attributes: dict[str, Any], maker: str, node: dict[str, Any]) -> None:
        means, deviations = _numbers(attributes.get("mean")), _numbers(attributes.get("std"))
        if not (any(mean > _MOST_MEAN for mean in means) or any(each > _MOST_STD for each in deviations)):
            return
        at = step.get("location") or node.get("location") or {}
        self._found.append(
            (
                f"{at.get('file', '')}:{at.get('line', 0)}",
                f"Normalize: mean and std are those of pixels of 0 … 255, but {maker} below it made them 0 … 1, so that all "
                f"images come out nearly alike; leave {maker} out, or divide mean and std by 255",
            )
        )


def _divides(scale: Any) -> bool:
    return isinstance(scale, float) and 0 < scale <= 1 / 100


def _keeps_range(kernel: str) -> bool:
    """Whether values of 0 … 1 stay so."""
    found = operator(kernel)
    if found is None or kernel in ("Normalize", "Rescale"):
        return False
    traits = found["traits"]
    if traits.get("geometric") or traits.get("layout") or traits.get("casts"):
        return True
    return found["python_module"] == "vision" and bool(traits.get("pointwise") or traits.get("per_pixel"))


def _value(attribute: dict[str, Any]) -> Any:
    """Of a graph's JSON form."""
    (kind, value), *_ = attribute["value"].items()
    if kind == "pairs":
        return dict(zip(value.get("keys", []), value.get("values", []), strict=False))
    if isinstance(value, dict):
        return value.get("values", [])
    return value


def _numbers(value: Any) -> list[float]:
    listed = value if isinstance(value, list) else [value]
    return [float(each) for each in listed if isinstance(each, (int, float))]
