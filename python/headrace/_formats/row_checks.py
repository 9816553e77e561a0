"""`check_rows` reads every row of a path and decodes every image, and names what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from headrace import vision as V
from headrace._formats.image_columns import image_columns
from headrace._formats.opening import Found
from headrace._formats.row_reading import RowReading

__all__ = ["Checked", "check_rows"]


@dataclass
class Checked:
    """What was read, and what is wrong."""

    rows: int
    """Those that are good."""
    images: int
    faults: list[str]


def check_rows(found: Found, decodes: bool = True) -> Checked:
    """With `decodes` the columns whose first row holds an encoded image are decoded in all rows."""
    reading = RowReading(found)
    names = image_columns(reading.dataset) if decodes else []
    if names:
        reading = RowReading(found, lambda dataset: dataset.map(V.Decode(mode="any"), names))
    rows = sum(1 for _ in reading)
    return Checked(rows, rows * len(names), reading.faults)
