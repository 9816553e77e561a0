"""`squad_table` makes the table of a file of SQuAD: a row for each question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._sets.json_rows import json_of, member
from headrace._sets.object_columns import ragged_column, ragged_texts
from headrace._sets.set_file import SetFile
from headrace._sets.set_table import SetTable
from headrace._sets.text_column import text_column

__all__ = ["squad_table"]

_TEXTS = ("id", "title", "context", "question")


def squad_table(file: SetFile, may_be_impossible: bool) -> SetTable:
    questions = list(_questions(file, json_of(file, bytes(file.rest()))))
    if not questions:
        file.fail("it has no questions")
    columns: dict[str, Any] = {
        name: text_column([each[place] for each, _ in questions]) for place, name in enumerate(_TEXTS)
    }
    answers = [_answers(file, texts, question) for texts, question in questions]
    columns["answers"] = ragged_texts([[text for text, _ in each] for each in answers])
    columns["answer_start"] = ragged_column([[start for _, start in each] for each in answers], "int64")
    if may_be_impossible:
        columns["is_impossible"] = np.array(
            [
                member(file, question, "is_impossible", bool, what=f"question {texts[0]}")
                for texts, question in questions
            ]
        )
    return SetTable(columns)


def _questions(file: SetFile, found: Any) -> Iterator[tuple[tuple[str, str, str, str], Any]]:
    """Id, title, context and question, and the object of the question."""
    for number, article in enumerate(member(file, found, "data", list)):
        title = member(file, article, "title", str, what=f"article {number}")
        for paragraph in member(file, article, "paragraphs", list, what=f"article {number}"):
            context = member(file, paragraph, "context", str, what=f"a paragraph of article {number}")
            for question in member(file, paragraph, "qas", list, what=f"a paragraph of article {number}"):
                name = member(file, question, "id", str, what=f"a question of article {number}")
                yield (name, title, context, member(file, question, "question", str, what=f"question {name}")), question


def _answers(file: SetFile, texts: tuple[str, str, str, str], question: Any) -> list[tuple[str, int]]:
    what = f"an answer of question {texts[0]}"
    found = []
    for answer in member(file, question, "answers", list, what=f"question {texts[0]}"):
        start = member(file, answer, "answer_start", int, what=what)
        if not 0 <= start <= len(texts[2]):
            file.fail(f"{what} begins at {start}, and its context has {len(texts[2])} characters")
        found.append((member(file, answer, "text", str, what=what), start))
    return found
