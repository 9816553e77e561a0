"""`caption_table` makes the table of a set of photographs with several captions each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from headrace._sets.object_columns import ragged_texts
from headrace._sets.picture_names import path_column, present
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import csv_rows, text_of, whole_numbers
from headrace._sets.set_table import LeftOut, SetTable

__all__ = ["caption_table"]

_NO_BAR = re.compile(r"\s*([0-9]+)\s+(.*\S)\s*")


def caption_table(
    folder: SetFolder,
    file: SetFile,
    bases: Sequence[str],
    missing: str,
    kept: Sequence[str] | None = None,
    nowhere: Collection[str] = (),
) -> SetTable:
    """`kept`: the photographs to give; None: all. `nowhere`: those that no copy of the set has."""
    captions: dict[str, dict[int, str]] = defaultdict(dict)
    for line, name, number, text in _entries(file):
        if number in captions[name]:
            file.fail(f"caption {number} of {name} comes twice", line)
        captions[name][number] = text_of(file, line, text)
    left_out = [LeftOut(file.path, name, "no copy of the set has it") for name in nowhere if captions.pop(name, None)]
    chosen = None if kept is None else set(kept)
    names = [name for name in captions if chosen is None or name in chosen]
    left_out += [LeftOut(file.path, name, "it has no caption") for name in kept or () if name not in captions]
    base = folder.folder(*bases)
    there, absent = present(folder, base, names, file.path, missing)
    names = [names[number] for number in there]
    texts = [[text for _, text in sorted(captions[name].items())] for name in names]
    return SetTable(
        {"image": path_column(names), "captions": ragged_texts(texts)}, {}, "image", base, left_out + absent
    )


def _entries(file: SetFile) -> Iterator[tuple[int, str, int, str]]:
    """Line, photograph, number and text of each caption."""
    if not file.path.endswith((".csv", "captions.txt")):
        for line, text in file.lines():
            place, tab, caption = text.partition("\t")
            name, mark, number = place.rpartition("#")
            if not tab or not mark:
                file.fail("it must be a name, #, a number, a tab and a caption", line)
            (count,) = whole_numbers(file, line, [number], "the number of a caption")
            yield line, name, count, caption.strip()
        return
    yield from _fields(file)


def _fields(file: SetFile) -> Iterator[tuple[int, str, int, str]]:
    """Of CSV: name and caption between commas, or with the caption's number between bars."""
    bars = file.path.endswith(".csv")
    counts: dict[str, int] = defaultdict(int)
    for row, (line, given) in enumerate(csv_rows(file, "|" if bars else ",")):
        if row == 0:
            continue
        fields = _with_bar(given) if bars else given
        if len(fields) != (3 if bars else 2):
            file.fail(f"it must have {3 if bars else 2} fields, and has {len(fields)}", line)
        name = fields[0].strip()
        number = whole_numbers(file, line, [fields[1].strip()], "the number of a caption")[0] if bars else counts[name]
        counts[name] += 1
        yield line, name, number, fields[-1].strip()


def _with_bar(fields: list[str]) -> list[str]:
    """One line of Flickr30k's only copy in this form has spaces for the second bar."""
    found = _NO_BAR.fullmatch(fields[1]) if len(fields) == 2 else None
    return fields if found is None else [fields[0], found[1], found[2]]
