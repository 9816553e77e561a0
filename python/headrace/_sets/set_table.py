"""`SetTable` is what the files of a named set say: columns, names of classes, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["LeftOut", "SetTable"]


class LeftOut(NamedTuple):
    """What a set names and does not give as a row."""

    file: str
    """The list that names it, or the folder that holds it."""
    entry: str
    reason: str


@dataclass(frozen=True)
class SetTable:
    columns: Mapping[str, Any]
    """Arrays of equally many rows, or `headrace.ragged`, in the order of the rows' columns."""
    classes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Labels by class name, of columns of labels, and of those of masks, whose pixels are labels."""
    pictures: str | None = None
    """The column that names the file of each row, whose bytes take its place."""
    folder: str = ""
    """The folder to which these names are relative."""
    left_out: list[LeftOut] = field(default_factory=list)
    further_pictures: tuple[str, ...] = ()
    """More such columns."""
    asked_out: list[LeftOut] = field(default_factory=list)
    """What is left out because an argument asks for it: listed as well, without a warning."""
    doubts: Mapping[str, int | str] = field(default_factory=dict)
    """Of a set with boxes, what `box_doubts` counts."""
    entries: tuple[str, tuple[str, ...]] | None = None
    """A column before the others, and the LMDB files whose values it has, one file after the other."""
