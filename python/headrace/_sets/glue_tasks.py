"""The tasks of GLUE: where the columns of each are in its files of fields between tabs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import floats, text_of
from headrace._sets.set_table import LeftOut, SetTable
from headrace._sets.text_column import text_column

__all__ = ["GLUE_TASKS", "glue_table"]


class Task(NamedTuple):
    folder: str
    texts: Mapping[str, str]
    """From the columns of the set to the names in the head of the file."""
    label: str
    """The name in the head of the file."""
    classes: Mapping[str, tuple[str, int]]
    """From words of the file to the name and the number of a class; none: the label is a score."""
    head: tuple[str, ...] = ()
    """The names of the fields, where the file has no head except for "test"."""
    damaged: bool = False
    """Whether the publisher's file has lines that lack fields."""


def _binary(negative: str, positive: str) -> dict[str, tuple[str, int]]:
    return {"0": (negative, 0), "1": (positive, 1)}


def _named(*names: str) -> dict[str, tuple[str, int]]:
    return {name: (name, number) for number, name in enumerate(names)}


_PAIR = {"sentence1": "sentence1", "sentence2": "sentence2"}

GLUE_TASKS: dict[str, Task] = {
    "cola": Task(
        "CoLA",
        {"sentence": "sentence"},
        "label",
        _binary("unacceptable", "acceptable"),
        ("source", "label", "mark", "sentence"),
    ),
    "sst2": Task("SST-2", {"sentence": "sentence"}, "label", _binary("negative", "positive")),
    "mrpc": Task(
        "MRPC",
        {"sentence1": "#1 String", "sentence2": "#2 String"},
        "Quality",
        _binary("not_equivalent", "equivalent"),
    ),
    "qqp": Task(
        "QQP",
        {"question1": "question1", "question2": "question2"},
        "is_duplicate",
        _binary("not_duplicate", "duplicate"),
        damaged=True,
    ),
    "stsb": Task("STS-B", _PAIR, "score", {}),
    "mnli": Task("MNLI", _PAIR, "gold_label", _named("entailment", "neutral", "contradiction")),
    "qnli": Task(
        "QNLI", {"question": "question", "sentence": "sentence"}, "label", _named("entailment", "not_entailment")
    ),
    "rte": Task("RTE", _PAIR, "label", _named("entailment", "not_entailment")),
    "wnli": Task("WNLI", _PAIR, "label", _binary("not_entailment", "entailment")),
}


def glue_table(file: SetFile, task: Task, unlabeled: bool) -> SetTable:
    lines = [(line, text.split("\t")) for line, text in file.lines()]
    if task.head and not unlabeled:
        head: Sequence[str] = task.head
    else:
        head, lines = lines[0][1] if lines else [], lines[1:]
    wanted = [*task.texts.values(), *([] if unlabeled else [task.label])]
    for name in wanted:
        if name not in head:
            file.fail(f"its head must have {', '.join(wanted)}, and lacks {name}", 1)
    left_out: list[LeftOut] = []
    rows = list(_whole_rows(file, lines, len(head), task.damaged, left_out))
    if not rows:
        file.fail("it has no rows")
    columns: dict[str, Any] = {}
    for column, name in task.texts.items():
        place = head.index(name)
        columns[column] = text_column([text_of(file, line, fields[place]) for line, fields in rows])
    if unlabeled:
        return SetTable(columns, left_out=left_out)
    words = [(line, fields[head.index(task.label)]) for line, fields in rows]
    if not task.classes:
        columns["score"] = np.array([floats(file, line, [word], "a score")[0] for line, word in words], np.float32)
        return SetTable(columns, left_out=left_out)
    columns["label"] = np.array([_label(file, line, word, task) for line, word in words], np.int64)
    return SetTable(columns, {"label": dict(task.classes.values())}, left_out=left_out)


def _whole_rows(
    file: SetFile, lines: Sequence[tuple[int, list[str]]], width: int, damaged: bool, left_out: list[LeftOut]
) -> Iterator[tuple[int, list[str]]]:
    for line, fields in lines:
        if len(fields) == width:
            yield line, fields
        elif damaged:
            left_out.append(LeftOut(file.path, f"line {line}", f"it has {len(fields)} of {width} fields"))
        else:
            file.fail(f"it must have {width} fields between tabs, and has {len(fields)}", line)


def _label(file: SetFile, line: int, word: str, task: Task) -> int:
    found = task.classes.get(word)
    if found is None:
        file.fail(f"its label must be one of {', '.join(task.classes)}, and is {word[:80]!r}", line)
    return found[1]
