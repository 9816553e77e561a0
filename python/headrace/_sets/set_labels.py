"""Labels of classes: their names, and whether each label is that of a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from headrace._sets.set_file import SetFile

__all__ = ["check_labels", "class_labels", "with_labels"]


def check_labels(file: SetFile, given: Any, classes: Mapping[str, int]) -> Any:
    """As int64. DataError for a label that is not that of a class."""
    labels = np.asarray(given).astype(np.int64)
    if not classes:
        file.fail("there are no classes for its labels")
    wrong = np.flatnonzero(~np.isin(labels, list(classes.values())))
    if wrong.size > 0:
        row = int(wrong[0])
        listed = f"{min(classes.values())} to {max(classes.values())}"
        file.fail(f"label {row} is {labels[row]}; the labels of its {len(classes)} classes are {listed}")
    return labels


def with_labels(file: SetFile, part: Mapping[str, Any], classes: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The columns of a file, those of labels checked."""
    checked = {name: check_labels(file, part[name], labels) for name, labels in classes.items()}
    return {"image": part["image"]} | checked


def class_labels(file: SetFile, names: Iterable[str]) -> dict[str, int]:
    """From the names of a file to their numbers. DataError for a name that comes twice, or is not UTF-8."""
    labels: dict[str, int] = {}
    for name in names:
        if name in labels:
            file.fail(f"the class {name} comes twice")
        if not _is_utf8(name):
            file.fail(f"the name of class {len(labels)} is not UTF-8: {name}")
        labels[name] = len(labels)
    if not labels:
        file.fail("it names no class")
    return labels


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
