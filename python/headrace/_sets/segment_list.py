"""`segments_of` reads what is said in a talk, and when, of a list of NIST's form STM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import floats, text_of

__all__ = ["Segment", "segments_of"]

_FIELDS = 6
_COMMENT = ";;"


class Segment(NamedTuple):
    talk: str
    speaker: str
    start: float
    end: float
    label: str
    text: str


def segments_of(file: SetFile) -> Iterator[Segment]:
    """Lines of talk, channel, speaker, start, end, label between < and >, and text."""
    for line, each in file.lines():
        if each.startswith(_COMMENT):
            continue
        words = text_of(file, line, each).split(maxsplit=_FIELDS)
        if len(words) < _FIELDS or "/" in words[0] or not words[5].startswith("<"):
            file.fail("it must be talk, channel, speaker, start, end, <label> and text", line)
        start, end = floats(file, line, words[3:5], "start and end")
        if not 0 <= start <= end:
            file.fail(f"it must begin before it ends, and is from {start:g} to {end:g}", line)
        yield Segment(words[0], words[2], start, end, words[5], words[6].strip() if len(words) > _FIELDS else "")
