"""The lists of Labeled Faces in the Wild: people, and pairs of faces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headrace._sets.set_file import SetFile
from headrace._sets.set_lines import whole_numbers

__all__ = ["ALIGNED", "FACE_PLACES", "counted_people", "counts_of", "face_folders", "face_name", "face_pairs"]

ALIGNED = ("no", "funneled", "deepfunneled")
FACE_PLACES = ("", "lfw-py")
# A person has at most 530 faces.
_MOST_FACES = 100_000


def face_folders(aligned: str) -> list[str]:
    name = {"no": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled"}[aligned]
    return [name, f"lfw-py/{name}"]


def face_name(person: str, number: int) -> str:
    return f"{person}/{person}_{number:04}.jpg"


def counted_people(file: SetFile) -> list[str]:
    return [name for _, name, _ in counts_of(file, False)]


def counts_of(file: SetFile, headed: bool) -> Iterator[tuple[int, str, int]]:
    """Line, person and number of faces. Lists with a head say how many people follow, one of ten parts as many times."""
    for line, words in _entries(file, headed, (2,)):
        (count,) = whole_numbers(file, line, words[1:], "the number of faces")
        if not 0 <= count <= _MOST_FACES:
            file.fail(f"{words[0]} cannot have {count:,} faces", line)
        yield line, words[0], count


def face_pairs(file: SetFile) -> list[tuple[str, str, int]]:
    """Two faces, and 1 where they are of one person."""
    pairs = []
    for line, words in _entries(file, True, (3, 4)):
        if len(words) == 3:
            first, second = whole_numbers(file, line, words[1:], "the faces")
            pairs.append((face_name(words[0], first), face_name(words[0], second), 1))
        else:
            first, second = whole_numbers(file, line, words[1::2], "the faces")
            pairs.append((face_name(words[0], first), face_name(words[2], second), 0))
    return pairs


def _entries(file: SetFile, headed: bool, widths: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    """Lines of so many words; of lists with heads without these."""
    lines = [(line, text.split("\t" if "\t" in text else None)) for line, text in file.lines()]
    if headed and lines:
        lines = _without_heads(file, lines)
    for line, words in lines:
        if len(words) not in widths:
            file.fail(f"it must have {' or '.join(map(str, widths))} words, and has {len(words)}", line)
        yield line, words


def _without_heads(file: SetFile, lines: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The first line has the number of entries, or of parts and of the entries of each; people.txt has that before each
    part, and pairs have it twice: for those of one person and those of two."""
    first, head = lines[0]
    whole_numbers(file, first, head, "the first line")
    return [(line, words) for line, words in lines[1:] if len(words) > 1]
