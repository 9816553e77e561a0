"""`image_columns` gives the columns of a dataset that hold encoded images, by its first rows."""

from __future__ import annotations

from headrace import _engine
from headrace._datasets.dataset import Dataset
from headrace.errors import DataError

__all__ = ["image_columns"]

_START = 64


def image_columns(dataset: Dataset, rows: int = 1) -> list[str]:
    """The columns of single bytes that hold an encoded image in each of the first `rows`; none if one of these fails."""
    names = [name for name, column in dataset.schema.items() if column.dtype == "bytes" and column.shape in ((), None)]
    if not names:
        return []
    seen = 0
    try:
        with dataset.options(as_=None, as_tuple=None).take(rows).iterate(workers=1) as first:
            for row in first:
                seen += 1
                names = [name for name in names if _is_image(row[name])]
    except DataError:
        return []
    return names if seen > 0 else []


def _is_image(value: object) -> bool:
    return isinstance(value, (bytes, memoryview)) and _engine.encoded_format(bytes(value[:_START])) is not None
