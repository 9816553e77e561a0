"""Rows of images with objects on their way to a batch. A label as records and lists have it is split into its header, the
boxes, which follow the image, and the rest of each object; after the kernels it is joined again."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

import headrace
from headrace import transforms as T
from headrace._arguments.function_adapter import FunctionAdapter
from headrace._datasets.dataset import Dataset
from headrace.errors import DataError
from headrace.mx.nd import NDArray

__all__ = ["Segment", "joined", "label_widths", "object_shape", "split", "through"]

_HEADER, _BOXES, _REST = "_header", "_boxes", "_rest"
_ROWS = 4096


class Segment(NamedTuple):
    """What follows each other in one map."""

    through: Literal["kernels", "image", "both"]
    """Kernels, which boxes follow; a function of images; or one of images and their objects."""
    steps: Sequence[Any]


class _OfImagesAndObjects(FunctionAdapter):
    """Calls a function with arrays that it may change, and that have MXNet's methods."""

    def __call__(self, src: np.ndarray, label: np.ndarray) -> Any:
        image, objects = self._function(src.copy().view(NDArray), label.copy().view(NDArray))
        return np.asarray(image), np.ascontiguousarray(objects, np.float32)


def split(rows: Dataset) -> Dataset:
    """`label` goes to the columns that follow the image."""
    return rows.map(T.SplitDetections(), "label", [_HEADER, _BOXES, _REST])


def through(rows: Dataset, segments: Sequence[Segment]) -> Dataset:
    """Applies them to split rows, in order."""
    for each in segments:
        if each.through == "image":
            rows = rows.map([*each.steps], "image")
        elif each.through == "both":
            rows = _with_objects(rows, each.steps)
        elif each.steps:
            rows = rows.map([*each.steps], ["image", headrace.boxes(_BOXES, labels=_REST, relative=True)])
    return rows


def _with_objects(rows: Dataset, functions: Sequence[Any]) -> Dataset:
    rows = rows.map(T.JoinDetections(), [_BOXES, _REST], "label")
    for function in functions:
        rows = rows.map(_OfImagesAndObjects(function), ["image", "label"])
    # As the function says nothing of its types.
    rows = rows.map(T.TypeCast("float32"), "label")
    return rows.map(T.SplitDetections(), "label", ["_unused", _BOXES, _REST])


def joined(rows: Dataset, data_shape: Sequence[int] | None = None, own_size: bool = False) -> Dataset:
    """Columns image, label and id; `label` holds the objects, (n, width), or with `data_shape` what ImageDetRecordIter
    gives, before padding. `own_size`: with the image's own height and width in place of those of `data_shape`."""
    rows = rows.map(T.JoinDetections(), [_BOXES, _REST], "label")
    if data_shape is not None:
        columns = [_HEADER, "label", "image"] if own_size else [_HEADER, "label"]
        rows = rows.map(T.DetectionLabel([*data_shape]), columns, "label")
    return rows.project(["image", "label", "id"])


def label_widths(rows: Dataset, on_error: Literal["raise", "skip"], max_errors: int) -> int:
    """The most numbers of a label: reads the rows once."""
    most = 0
    for batch in _ragged(rows, ["label"], on_error, max_errors):
        most = max(most, int(np.diff(batch["label_splits"]).max()))
    return most


def object_shape(rows: Dataset, on_error: Literal["raise", "skip"], max_errors: int, of: str) -> tuple[int, int]:
    """The most objects of an image, and how many numbers each has: reads the rows once."""
    most, widths = 0, set()
    for batch in _ragged(split(rows), [_HEADER, _BOXES], on_error, max_errors):
        most = max(most, int(np.diff(batch[f"{_BOXES}_splits"]).max()))
        # The second number of each header.
        widths |= {int(each) for each in batch[_HEADER][batch[f"{_HEADER}_splits"][:-1] + 1]}
    if len(widths) > 1:
        raise DataError(f"{of}: objects have {' and '.join(map(str, sorted(widths)))} numbers; all must have as many")
    if most == 0:
        raise DataError(f"{of}: no label has an object whose width and height are above 0")
    return most, widths.pop()


def _ragged(rows: Dataset, columns: list[str], on_error: Literal["raise", "skip"], max_errors: int) -> Any:
    labels = rows.project(columns)
    if on_error == "skip":
        labels = labels.on_error("skip", max_errors=max_errors)
    with labels.batch(_ROWS, ragged=dict.fromkeys(columns, "splits")).iterate() as batches:
        yield from batches
