"""`class_names` gives the names of a dataset's classes: those of its source, as long as the labels stay what they were."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._datasets.starts import attributes_of
from headrace._graph.declared import operator
from headrace.errors import Error

if TYPE_CHECKING:
    from headrace._datasets.base import Base

__all__ = ["class_names", "why_none"]

# From a column of labels to the labels of its classes by name; or to the reason why they are not known.
_Found = dict[str, "dict[str, int] | str"]


def class_names(dataset: Base) -> dict[str, int]:
    """The labels by name, in the order of the labels; AttributeError, with the reason, if they are not known."""
    found = _of(dataset)
    known = [each for each in found.values() if isinstance(each, dict)]
    label = found.get("label")
    if isinstance(label, dict):
        known = [label]
    if known and all(each == known[0] for each in known):
        return dict(sorted(known[0].items(), key=lambda item: (item[1], item[0])))
    raise AttributeError(why_none(dataset))


def why_none(dataset: Base) -> str:
    found = _of(dataset)
    if not found:
        return "the dataset has no column of labels whose classes have names; ImageFolder gives one"
    reasons = [f'column "{name}": {each}' for name, each in found.items() if isinstance(each, str)]
    several = ", ".join(f'"{name}"' for name, each in found.items() if isinstance(each, dict))
    return "; ".join(reasons) or f"the columns {several} have different classes; project the dataset to one of them"


def _of(dataset: Base) -> _Found:
    inputs = [_of(each) for each in dataset._inputs if not each._node.stands_for_attribute]
    node = dataset._node
    if not inputs:
        return _of_source(dataset)
    found = inputs[0] if node.by_number or len(inputs) == 1 else _joined(inputs, node.side_by_side)
    if node.op == "rename":
        names = next((each for each in attributes_of(node).values() if isinstance(each, dict)), {})
        found = {names.get(name, name): each for name, each in found.items()}
    if found and node.steps:
        found = _after_steps(dataset, found)
    if not found:
        return found
    try:
        columns = {name for name, _, _ in dataset._build_graph().schema()}
    except Error:  # Reported when the dataset is used, with all that is wrong.
        return found
    return {name: each for name, each in found.items() if name in columns}


def _joined(inputs: list[_Found], side_by_side: bool) -> _Found:
    joined: _Found = {}
    for each in inputs:
        for name, classes in each.items():
            joined.setdefault(name, classes)
    if side_by_side:
        return joined
    for name, classes in joined.items():
        if any(each.get(name) != classes for each in inputs):
            joined[name] = "the datasets that were joined have different classes"
    return joined


def _after_steps(dataset: Base, found: _Found) -> _Found:
    """Labels stay what they are, also as numbers of another dtype or one-hot; a function may give anything."""
    after = dict(found)
    for step in json.loads(dataset._build_graph().json())["nodes"][-1].get("steps", []):
        kernel, inputs, outputs = step["kernel"], step["inputs"], step["outputs"]
        known = operator(kernel)
        keeps = known is not None and (kernel in _KEEP or known["traits"]["casts"])
        labelled = next((after[name] for name in inputs if name in after), None)
        for name in outputs:
            if keeps and labelled is not None:
                after[name] = labelled
            elif name in after and not (labelled is not None and _mixes(kernel, name, inputs)):
                after[name] = f"{'a function' if known and known['traits']['python'] else kernel} changed the labels"
    return after


# Kernels that give labels in another form.
_KEEP = {"OneHot"}


def _mixes(kernel: str, name: str, inputs: list[str]) -> bool:
    """Whether it shares the labels of rows out: its columns of labels are still by class."""
    return kernel in ("MixUp", "CutMix") and name in inputs


def _of_source(dataset: Base) -> _Found:
    node = dataset._node
    if node.op == "ImageFolder":
        attributes = attributes_of(node)
        if "label" not in (attributes.get("columns") or ("label",)):
            return {}
        return {"label": _of_folder(attributes)}
    if node.op == "from_dataset":
        return _of_object(dataset)
    return {}


def _of_folder(attributes: dict[str, Any]) -> dict[str, int] | str:
    given = attributes.get("classes")
    if given:
        return {name: int(label) for name, label in given.items()}
    root = attributes["root"]
    try:
        folder = _engine.local_path(os.fsencode(root))
        with os.scandir(folder) as entries:
            names = sorted(each.name for each in entries if not each.name.startswith(b".") and each.is_dir())
    except (OSError, Error) as error:
        return f"the class folders of {root} cannot be listed: {error}"
    return {os.fsdecode(name): label for label, name in enumerate(names)}


def _of_object(dataset: Base) -> _Found:
    """Of a dataset of torchvision's, which has them as an attribute."""
    for binding in dataset._bindings:
        if binding is None or binding[0] != "rows":
            continue
        labels = getattr(binding[1], "class_to_idx", None)
        names = getattr(binding[1], "classes", None)
        if not isinstance(labels, dict) and isinstance(names, (list, tuple)):
            labels = {str(name): label for label, name in enumerate(names)}
        columns = list(dataset._node.columns) or [name for name, _, _ in dataset._build_graph().schema()]
        column = next((name for name in columns if name in ("label", "labels", "target")), None)
        if isinstance(labels, dict) and column is not None:
            return {column: {str(name): int(label) for name, label in labels.items()}}
    return {}
