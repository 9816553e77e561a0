"""`class_names` gives the names of a dataset's classes: those of its source, as long as the labels stay what they were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.options import file_path, text
from headrace._arguments.storage import within
from headrace._datasets.base import Base, ordered
from headrace._files.places import list_folder
from headrace._graph.declared import operator
from headrace._graph.set_calls import call_of
from headrace.errors import Error, GraphError

__all__ = ["class_names", "classes_of", "has_class_folders", "known_classes", "label_columns", "why_none"]

_AXES_OF_MASKS = 2
_MOST_LABEL = 1 << 60
_NO_NAMES = "the names in its graph are not a list of texts"

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
        return _in_order(known[0])
    raise AttributeError(why_none(dataset))


def classes_of(dataset: Base, column: Any) -> list[str]:
    """The names of the column's classes, in the order of their labels; GraphError, with the reason, if it has none."""
    name = text("column", column, "classes_of")
    found = _of(dataset)
    known = found.get(name, "its source has no names for it")
    if isinstance(known, dict):
        return list(_in_order(known))
    named = ", ".join(f'"{each}"' for each, classes in found.items() if isinstance(classes, dict)) or "none"
    raise GraphError(f'classes_of: column "{name}" has no classes with names: {known} (columns with names: {named})')


def known_classes(dataset: Base) -> dict[str, list[str]]:
    """By column, of those whose labels number the names from 0 on. Masks are none of them: files name the classes of
    values and of lists."""
    shapes = dataset.schema
    return {
        column: list(_in_order(found))
        for column, found in _of(dataset).items()
        if isinstance(found, dict)
        and sorted(found.values()) == list(range(len(found)))
        and len(shapes[column].shape or ()) < _AXES_OF_MASKS
    }


def _in_order(labels: dict[str, int]) -> dict[str, int]:
    return dict(sorted(labels.items(), key=lambda item: (item[1], item[0])))


def why_none(dataset: Base) -> str:
    found = _of(dataset)
    if not found:
        return (
            "the dataset has no column of labels whose classes have names; ImageFolder gives one, and sources of tables "
            "with classes="
        )
    reasons = [f'column "{_engine.printable(name)}": {each}' for name, each in found.items() if isinstance(each, str)]
    several = ", ".join(f'"{_engine.printable(name)}"' for name, each in found.items() if isinstance(each, dict))
    return (
        "; ".join(reasons) or f"the columns {several} have different classes; ask for those of one: classes_of(column)"
    )


def _of(dataset: Base) -> _Found:
    # A folder of classes may be far.
    with within(dataset._options["storage"]):
        return _found_in(dataset)


def _found_in(dataset: Base) -> _Found:
    node, inputs = dataset._node, dataset._inputs
    if not inputs:
        return _of_source(dataset)
    found = _of(inputs[0]) if node.by_number or len(inputs) == 1 else _joined(inputs, node.side_by_side)
    if node.op == "rename":
        names = node.attributes["mapping"]
        found = {names.get(name, name): each for name, each in found.items()}
    found = _after_function(node, _after_steps(node, found))
    return {name: each for name, each in found.items() if _has(dataset, name)}


def _joined(inputs: Sequence[Base], side_by_side: bool) -> _Found:
    of_each = [_of(each) for each in inputs]
    joined: _Found = {}
    for found in of_each:
        for name, classes in found.items():
            joined.setdefault(name, classes)
    if side_by_side:
        return joined
    for name, classes in joined.items():
        # An input without the column gives no rows: it chooses among the others.
        if any(found.get(name) != classes and _has(each, name) for each, found in zip(inputs, of_each, strict=True)):
            joined[name] = "the datasets that were joined have different classes"
    return joined


def _has(dataset: Base, column: str) -> bool:
    try:
        return any(name == column for name, _, _ in dataset._build_graph().schema())
    except Error:  # Reported when the dataset is used, with all that is wrong.
        return True


def _after_steps(node: _engine.Node, found: _Found) -> _Found:
    """Labels stay what they are where kernels keep their classes; a function may give anything."""
    if not node.columns_of_steps:
        return found
    known: list[dict[str, int] | str] = []
    for each in found.values():
        if each not in known:
            known.append(each)
    after = node.classes_after({name: (known.index(each), _greatest(each)) for name, each in found.items()})
    # In the order of before.
    return {
        name: _known_or_changed(known, after[name]) for name in [*found, *(name for name in after if name not in found)]
    }


def _greatest(classes: dict[str, int] | str) -> int:
    """The greatest label, for casts to types that may not hold it. A graph may hold any number."""
    return min(max([0, *classes.values()]), _MOST_LABEL) if isinstance(classes, dict) else -1


def _known_or_changed(known: list[dict[str, int] | str], each: int | str) -> dict[str, int] | str:
    if isinstance(each, int):
        return known[each]
    declared = operator(each)
    return _CHANGED if declared is not None and declared["traits"]["python"] else f"{each} changed the labels"


_CHANGED = "a function changed the labels"


def _after_function(node: _engine.Node, found: _Found) -> _Found:
    """Of an operator that calls a function for columns, as batch(function=…) and flat_map do."""
    if not any(node.referenced_by(each) in ("function", "batch function") for each in node.references):
        return found
    attributes = node.attributes
    given = attributes.get("output") or attributes.get("columns")
    # Steps call functions for columns of their own.
    of_steps = bool(node.columns_of_steps)
    return {name: each if of_steps or (given and name not in given) else _CHANGED for name, each in found.items()}


def label_columns(dataset: Base) -> list[str]:
    """The columns of a source that hold numbers of classes, or labels."""
    # Operators that belong to it, as a shuffle does, may stand above.
    node = next(each._node for each in ordered(dataset)[1] if not each._inputs)
    named = node.attributes.get("class_names") or ("label",)
    return [column for column in named if _has(dataset, column)]


def has_class_folders(node: _engine.Node) -> bool:
    """Whether it is a source of files in a folder a class."""
    return {"root", "classes"} <= node.attributes.keys()


def _of_source(dataset: Base) -> _Found:
    node = dataset._node
    attributes = node.attributes
    if has_class_folders(node):
        if "label" not in (attributes.get("columns") or ("label",)):
            return {}
        return {"label": _of_folder(attributes)}
    if node.op == "from_dataset":
        return _of_object(dataset)
    call = call_of(attributes)
    if call is not None:
        return {column: dict(labels) for column, labels in call.classes.items()}
    named = attributes.get("class_names") or {}
    return {column: _of_names(names) for column, names in named.items() if _has(dataset, column)}


def _of_names(names: str) -> dict[str, int] | str:
    """Of the list in JSON that a source has; a graph may hold another text."""
    try:
        listed = json.loads(names)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        return _NO_NAMES
    # A text of the file may have its name beside it.
    found = [each[-1] if isinstance(each, list) and len(each) == 2 else each for each in listed]
    if not all(isinstance(each, str) for each in found):
        return _NO_NAMES
    return {name: label for label, name in reversed(list(enumerate(found)))}


def _of_folder(attributes: dict[str, Any]) -> dict[str, int] | str:
    given = attributes.get("classes")
    if given:
        return {name: int(label) for name, label in given.items()}
    root = attributes["root"]
    try:
        entries = list_folder(file_path("root", root, "class_names"))
        names = [name for name, is_folder in entries if is_folder and not name.startswith(".")]
    except Error as error:
        return _engine.printable(f"the class folders of {root} cannot be listed: {error}")
    return {name: label for label, name in enumerate(names)}


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
