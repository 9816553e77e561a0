"""Sentences in two languages: files of equally many lines, and the talks of IWSLT."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import text_of
from headrace._sets.set_table import SetTable
from headrace._sets.text_column import text_column
from headrace.errors import GraphError

__all__ = ["check_languages", "pair_table", "plain_lines", "talk_name", "talk_sentences"]

# Lines of these are about a talk.
_TAGS = ("url", "keywords", "talkid", "speaker", "reviewer", "translator", "title", "description", "doc", "/doc")
_TAG = re.compile(rf"<(?:{'|'.join(_TAGS)})[ >]")
_SENTENCE = re.compile(r"<seg id=\"[^\"]*\">(.*)</seg>")


def check_languages(of: str, source: str, target: str) -> None:
    if source == target:
        raise GraphError(f"{of}: source and target are both {source}; they must be two languages")


def pair_table(file: SetFile, texts: Sequence[str], other: SetFile, translations: Sequence[str]) -> SetTable:
    if len(texts) != len(translations):
        other.fail(f"it has {len(translations):,} sentences, and {file.path} has {len(texts):,}")
    if not texts:
        file.fail("it has no sentences")
    return SetTable({"text": text_column(texts), "translation": text_column(translations)})


def plain_lines(file: SetFile) -> list[str]:
    return [text_of(file, line, text) for line, text in file.all_lines()]


def talk_name(split: str, year: int, pair: str, language: str) -> str:
    """Of a file of IWSLT; `year`: of the century."""
    return f"train.tags.{pair}.{language}" if split == "train" else f"IWSLT{year}.TED.{split}.{pair}.{language}.xml"


def talk_sentences(file: SetFile, split: str) -> list[str]:
    """To train, of lines of text among lines of tags; else of XML with a sentence a line."""
    if split != "train":
        return [text for line, each in file.lines() for text in _of_segment(file, line, each)]
    lines = [(line, text_of(file, line, text).strip()) for line, text in file.all_lines()]
    return [text for _, text in lines if not _TAG.match(text)]


def _of_segment(file: SetFile, line: int, text: str) -> list[str]:
    if "<seg" not in text:
        return []
    found = _SENTENCE.search(text)
    if found is None:
        file.fail("it must have a sentence between <seg …> and </seg>", line)
    return [html.unescape(text_of(file, line, found[1])).strip()]
