"""`token_columns` reads sentences whose words are lines with their tags, between blank lines."""

from __future__ import annotations

from collections.abc import Sequence

from headrace._datasets.fields.ragged_column import RaggedColumn
from headrace._sets.object_columns import ragged_texts
from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import text_of

__all__ = ["token_columns"]


def token_columns(file: SetFile, names: Sequence[str], separator: str) -> dict[str, RaggedColumn]:
    """A row for each sentence; a column for the words and for each of the tags."""
    sentences: list[list[list[str]]] = []
    is_open = False
    for line, text in file.all_lines():
        if not text.strip():
            is_open = False
            continue
        fields = text_of(file, line, text).strip("\r\n ").split(separator)
        if len(fields) != len(names):
            file.fail(f"it must have {len(names)} fields, {', '.join(names)}, and has {len(fields)}", line)
        if not is_open:
            sentences.append([])
        is_open = True
        sentences[-1].append(fields)
    if not sentences:
        file.fail("it has no sentences")
    return {
        name: ragged_texts([[fields[place] for fields in each] for each in sentences])
        for place, name in enumerate(names)
    }
