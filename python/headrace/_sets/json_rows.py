"""Values of JSON in the files of sets, with the line or the place that is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import text_of

__all__ = ["json_lines", "json_of", "member"]

_Kind = TypeVar("_Kind")
_NAMES = {str: "a text", int: "a whole number", list: "a list", dict: "an object", bool: "true or false"}


def json_of(file: SetFile, text: str | bytes, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        file.fail(f"it is not JSON: {error}", line)


def json_lines(file: SetFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object of each line, and its number."""
    for line, text in file.lines():
        found = json_of(file, text, line)
        if not isinstance(found, dict):
            file.fail("it must be an object of JSON", line)
        yield line, found


def member(file: SetFile, found: Any, name: str, kind: type[_Kind], line: int | None = None, what: str = "it") -> _Kind:
    """The value of a key, which must be of this kind. `what`: what has it, as a message names it."""
    value = found.get(name) if isinstance(found, Mapping) else None
    if type(value) is not kind:
        file.fail(f"{what} must have {_NAMES[kind]} as {name}", line)
    if isinstance(value, str):
        text_of(file, line, value)
    return value
