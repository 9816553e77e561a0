"""`LineSource` is what the files of a named set say whose rows are lines: the engine reads these by their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from headrace import sources
from headrace._datasets.dataset import Dataset
from headrace._datasets.fields.class_columns import NamedTexts
from headrace._sets.set_folder import SetFolder

__all__ = ["LineSource", "labelled_lines", "text_lines_of"]


@dataclass(frozen=True)
class LineSource:
    operator: Literal["Csv", "Text"]
    path: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the source, beside those that all sources of lines have."""
    names: Mapping[str, str] = field(default_factory=dict)
    """From the source's names of columns to those of the set."""

    def opened(self, shuffle: bool, seed: int | None, name: str | None) -> Dataset:
        source = getattr(sources, self.operator)
        lines: Dataset = source([self.path], shuffle=shuffle, index="build", seed=seed, name=name, **self.options)
        return lines.rename(dict(self.names)) if self.names else lines


def labelled_lines(
    folder: SetFolder, split: str, below: tuple[str, ...], classes: tuple[str, ...], texts: tuple[str, ...]
) -> LineSource:
    """Of CSV without a head, each line of which has the number of a class, from 1, and texts. The engine gives labels from
    0, and refuses a number beyond the classes."""
    options = {
        "types": dict.fromkeys(("label", *texts), "string"),
        "header": False,
        "classes": {"label": NamedTexts({str(number): name for number, name in enumerate(classes, 1)})},
    }
    return LineSource("Csv", folder.plain(f"{split}.csv", below), options)


def text_lines_of(path: str, skip_empty: bool) -> LineSource:
    return LineSource("Text", path, {"skip_empty": skip_empty}, names={"line": "text"})
