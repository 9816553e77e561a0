"""`survey_lines` shows what the rows of a path hold: columns, sizes, images, and damage."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace._arguments.counted import counted
from headrace._arguments.late_numpy import np
from headrace._arguments.options import shown
from headrace._datasets.base import ColumnType
from headrace._datasets.class_names import known_classes
from headrace._files.places import file_size, is_file
from headrace._formats.opening import Found
from headrace._formats.row_reading import RowReading
from headrace._records.encoded_header import encoded_header

__all__ = ["survey_lines"]

_NAMED = 10
# Of different values that are counted.
_VALUES = 10_000
_SHAPES = 100
# That are named.
_CLASSES = 5


@dataclass
class _Column:
    """Sums over the values of a column."""

    type: ColumnType
    bytes: int = 0
    least_bytes: int | None = None
    most_bytes: int = 0
    images: collections.Counter[str] = field(default_factory=collections.Counter)
    widths: collections.Counter[int] = field(default_factory=collections.Counter)
    heights: collections.Counter[int] = field(default_factory=collections.Counter)
    least: Any = None
    most: Any = None
    values: set[Any] = field(default_factory=set)
    shapes: set[tuple[int, ...]] = field(default_factory=set)
    first: str | None = None
    classes: Sequence[str] = ()

    def add(self, value: Any) -> None:
        if isinstance(value, (bytes, memoryview)):
            self._add_bytes(value)
        elif isinstance(value, str):
            self._add_size(len(value.encode("utf-8", "surrogatepass")))
            self.first = value if self.first is None else self.first
        else:
            self._add_array(value)

    def _add_size(self, size: int) -> None:
        self.bytes += size
        self.least_bytes = size if self.least_bytes is None else min(self.least_bytes, size)
        self.most_bytes = max(self.most_bytes, size)

    def _add_bytes(self, value: Any) -> None:
        self._add_size(len(value))
        header = encoded_header(value)
        if header is not None:
            self.images[header.format] += 1
            self.widths[header.width] += 1
            self.heights[header.height] += 1

    def _add_array(self, value: Any) -> None:
        self._add_size(value.nbytes)
        if len(self.shapes) < _SHAPES:
            self.shapes.add(value.shape)
        if value.dtype.kind not in "biuf":
            return
        if value.dtype.kind == "f":
            # NaN is neither the least nor the most.
            value = value[~np.isnan(value)]
        if value.size == 0:
            return
        least, most = value.min().item(), value.max().item()
        self.least = least if self.least is None or least < self.least else self.least
        self.most = most if self.most is None or most > self.most else self.most
        if self.type.shape == () and len(self.values) <= _VALUES:
            self.values.add(least)

    def text(self, rows: int) -> str:
        kind = self.type.dtype if not self.type.shape else f"{self.type.dtype} {self.type.shape}"
        return f"{kind}; {'; '.join(self._facts(rows))}" if rows else kind

    def _facts(self, rows: int) -> Iterable[str]:
        if self.least is not None:
            yield f"{_number(self.least)} to {_number(self.most)}"
        if self.values:
            yield (
                f"more than {_VALUES:,} different" if len(self.values) > _VALUES else f"{len(self.values):,} different"
            )
        if self.classes:
            rest = ", …" if len(self.classes) > _CLASSES else ""
            yield f"{len(self.classes):,} classes: {', '.join(map(shown, self.classes[:_CLASSES]))}{rest}"
        if len(self.shapes) > 1:
            yield f"{'at least ' * (len(self.shapes) == _SHAPES)}{len(self.shapes):,} shapes"
        if self.first is not None:
            yield f"the first is {shown(self.first)}"
        if self.least is None:
            size = f"{self.least_bytes:,} to {self.most_bytes:,} bytes"
            same = counted(self.most_bytes, "byte")
            yield same if self.least_bytes == self.most_bytes else size
        if self.images:
            formats = ", ".join(f"{count:,} {name}" for name, count in self.images.most_common())
            yield f"images: {formats}, width {_spread(self.widths)}, height {_spread(self.heights)}"
            if others := rows - self.images.total():
                yield f"{others:,} without an image that can be decoded"


def survey_lines(found: Found) -> list[str]:
    """What `headrace inspect` prints of everything but RecordIO. Images are not decoded."""
    reading = RowReading(found)
    classes = known_classes(reading.dataset)
    columns = {name: _Column(column, classes=classes.get(name, ())) for name, column in reading.dataset.schema.items()}
    rows = 0
    for row in reading:
        rows += 1
        for name, value in row.items():
            columns[name].add(value)
    width = max(map(len, columns), default=0)
    return [
        _heading(found, rows),
        f"read it with {found.call(reading.options)}",
        *found.left_out({}),
        *(f"  {name:{width}}  {column.text(rows)}" for name, column in columns.items()),
        *_damage(reading.faults),
    ]


def _heading(found: Found, rows: int) -> str:
    files = found.format.files_of(found.place)
    size = sum(map(file_size, filter(is_file, files)))
    within = f" in {len(files):,} files" if len(files) > 1 else ""
    compressed = found.place.first.compression if found.place.first else None
    kind = f"{found.format.name}, compressed by {compressed}" if compressed else found.format.name
    name = shown(found.place.paths) if isinstance(found.place.paths, list) else found.place.paths
    return f"{name}: {kind}, {counted(rows, 'row')}{within}, {size:,} bytes"


def _damage(faults: list[str]) -> list[str]:
    if not faults:
        return ["damage: none"]
    lines = [
        f"damage: {counted(len(faults), 'place')}",
        *(f"  {each}" for each in faults[:_NAMED]),
    ]
    if len(faults) > _NAMED:
        lines.append(f"  … and {len(faults) - _NAMED:,} more")
    return lines


def _number(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{int(value):,}"


def _spread(counts: collections.Counter[int]) -> str:
    return f"{min(counts):,} to {max(counts):,}"
