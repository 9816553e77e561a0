"""The tasks of CLUE: objects of JSON, one a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from headrace._sets.json_rows import json_lines, member
from headrace._sets.object_columns import ragged_texts
from headrace._sets.set_file import SetFile
from headrace._sets.set_labels import class_labels
from headrace._sets.set_lines import text_of
from headrace._sets.set_table import LeftOut, SetTable
from headrace._sets.text_column import text_column

__all__ = ["CLUE_TASKS", "clue_table"]

Row = tuple[int, dict[str, Any]]

_TOPICS = {
    "100": "story",
    "101": "culture",
    "102": "entertainment",
    "103": "sports",
    "104": "finance",
    "106": "house",
    "107": "car",
    "108": "edu",
    "109": "tech",
    "110": "military",
    "112": "travel",
    "113": "world",
    "114": "stock",
    "115": "agriculture",
    "116": "game",
}
_APPS = 119

# From the labels of the files to the names of the classes, in the order of their numbers.
CLUE_TASKS: dict[str, Mapping[str, str]] = {
    "afqmc": {"0": "different", "1": "same"},
    "tnews": _TOPICS,
    "iflytek": {str(number): str(number) for number in range(_APPS)},
    "cmnli": {name: name for name in ("entailment", "neutral", "contradiction")},
    "wsc": {"false": "false", "true": "true"},
    "csl": {"0": "wrong", "1": "right"},
}

_TEXTS = {
    "afqmc": ("sentence1", "sentence2"),
    "tnews": ("sentence", "keywords"),
    "iflytek": ("sentence",),
    "cmnli": ("sentence1", "sentence2"),
    "wsc": ("text",),
    "csl": ("abst",),
}
_UNDECIDED = "-"


def clue_table(file: SetFile, task: str, unlabeled: bool, names: SetFile | None) -> SetTable:
    """`names`: the file that names the classes of IFLYTEK."""
    rows = list(json_lines(file))
    left_out: list[LeftOut] = []
    if task == "cmnli" and not unlabeled:
        left_out = [_undecided(file, line) for line, found in rows if found.get("label") == _UNDECIDED]
        rows = [(line, found) for line, found in rows if found.get("label") != _UNDECIDED]
    if not rows:
        file.fail("it has no rows")
    columns: dict[str, Any] = {
        name: text_column([member(file, found, name, str, line) for line, found in rows]) for name in _TEXTS[task]
    }
    more = _FURTHER.get(task)
    if more is not None:
        columns |= more(file, rows)
    if unlabeled:
        return SetTable(columns, left_out=left_out)
    numbers = {label: number for number, label in enumerate(CLUE_TASKS[task])}
    columns["label"] = np.array([_label(file, line, found, numbers) for line, found in rows], np.int64)
    classes = {name: numbers[label] for label, name in CLUE_TASKS[task].items()}
    return SetTable(columns, {"label": classes if names is None else _apps(names)}, left_out=left_out)


def _undecided(file: SetFile, line: int) -> LeftOut:
    return LeftOut(file.path, f"line {line}", "its label is -, as nobody agreed")


def _label(file: SetFile, line: int, found: dict[str, Any], numbers: Mapping[str, int]) -> int:
    label = member(file, found, "label", str, line)
    if label not in numbers:
        file.fail(f"its label must be one of {', '.join(numbers)[:200]}, and is {label[:80]!r}", line)
    return numbers[label]


def _spans(file: SetFile, rows: list[Row]) -> dict[str, Any]:
    targets = [(line, member(file, found, "target", dict, line)) for line, found in rows]
    texts = {
        name: text_column([member(file, found, name, str, line, "target") for line, found in targets])
        for name in ("span1_text", "span2_text")
    }
    return texts | {
        name: np.array([_place(file, line, found, name) for line, found in targets], np.int64)
        for name in ("span1_index", "span2_index")
    }


def _place(file: SetFile, line: int, found: dict[str, Any], name: str) -> int:
    number = member(file, found, name, int, line, "target")
    if not 0 <= number < 1 << 31:
        file.fail(f"{name} is {number}, which is not a place in a text", line)
    return number


def _keywords(file: SetFile, rows: list[Row]) -> dict[str, Any]:
    return {"keyword": ragged_texts([_words(file, line, found) for line, found in rows])}


def _words(file: SetFile, line: int, found: dict[str, Any]) -> list[str]:
    words = member(file, found, "keyword", list, line)
    if not all(isinstance(word, str) for word in words):
        file.fail("keyword must be a list of texts", line)
    return [text_of(file, line, word) for word in words]


_FURTHER: dict[str, Callable[[SetFile, list[Row]], dict[str, Any]]] = {"wsc": _spans, "csl": _keywords}


def _apps(names: SetFile) -> dict[str, int]:
    found: dict[int, str] = {}
    for line, entry in json_lines(names):
        label = member(names, entry, "label", str, line)
        name = member(names, entry, "label_des", str, line)
        if label not in CLUE_TASKS["iflytek"] or int(label) in found:
            names.fail(f"label {label[:80]!r} is not a number below {_APPS} of its own", line)
        found[int(label)] = name
    if len(found) != _APPS:
        names.fail(f"it must name {_APPS} classes, and names {len(found)}")
    return class_labels(names, [found[number] for number in range(_APPS)])
