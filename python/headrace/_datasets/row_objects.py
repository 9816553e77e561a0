"""Objects that give rows by number, such as a dataset of torch."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from headrace._datasets.base import Base
from headrace.errors import GraphError

__all__ = ["keys_of_first_row", "rows_of"]


def rows_of(dataset: Any) -> int:
    """The number of rows of an object that can be asked for them by number; GraphError for any other."""
    kind = type(dataset)
    if isinstance(dataset, type):
        raise GraphError(f"from_dataset: {dataset.__name__} is a class; give an object of it")
    if isinstance(dataset, Base):
        raise GraphError(f"from_dataset: this {kind.__name__} is a headrace.Dataset already; use it as it is")
    if isinstance(dataset, (str, PathLike)):
        raise GraphError(
            f"from_dataset: a {kind.__name__} has no rows by number; for a path write the source that reads it, such as "
            "hr.ImageFolder(path)"
        )
    if isinstance(dataset, (Mapping, bytes, bytearray)):
        raise GraphError(
            f"from_dataset: a {kind.__name__} has no rows by number; give a list of rows, or hr.Numpy columns"
        )
    streams = any(each.__name__ == "IterableDataset" for each in kind.__mro__)
    if streams or not hasattr(kind, "__len__") or not hasattr(kind, "__getitem__"):
        lacks = (
            "is read from its start"
            if streams
            else "has no __len__"
            if hasattr(kind, "__getitem__")
            else "has no __getitem__"
        )
        raise GraphError(
            f"from_dataset: {kind.__name__} {lacks}, so its rows cannot be asked for by number; "
            "write hr.Generator(lambda: iter(dataset), columns) to read it from its start in each epoch"
        )
    try:
        return len(dataset)
    except (TypeError, ValueError, OverflowError) as error:
        # What its own lines raise is the user's.
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        raise GraphError(
            f"from_dataset: __len__ of {kind.__name__} does not give a whole number from 0 to 2**63 - 1: {error}"
        ) from None


def keys_of_first_row(dataset: Any, count: int) -> list[str]:
    kind = type(dataset).__name__
    if count == 0:
        raise GraphError(
            f"from_dataset: this {kind} has no rows, so its columns are not known; name them with columns="
        )
    try:
        row = dataset[0]
    except Exception as error:
        raise GraphError(
            f"from_dataset: {kind} raised {type(error).__name__}: {error} for row 0, which is asked for to learn the "
            "columns; name them with columns="
        ) from error
    if isinstance(row, dict):
        return list(row)
    if isinstance(row, (tuple, list)):
        example = ["image", "label"] if len(row) == 2 else [f"column_{number}" for number in range(len(row))]
        what = f"a {type(row).__name__} of {len(row)} values, which have no names"
    else:
        example, what = ["value"], f"a {type(row).__name__}, which has no name"
    raise GraphError(
        f"from_dataset: a row of {kind} is {what}; write from_dataset(dataset, columns={example!r})".replace("'", '"')
    )
