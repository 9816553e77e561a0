"""`CSVIter` gives batches of rows of CSV files."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from headrace import transforms as T
from headrace._arguments import options
from headrace._runs import error_policy
from headrace.errors import DataError, GraphError
from headrace.mx.context import Context
from headrace.mx.io.accepted_parameters import explained, page_locked_of
from headrace.mx.io.csv_files import CsvFiles
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.engine_batches import EngineBatches
from headrace.mx.io.filled_batch import Columns
from headrace.mx.io.given_values import dtype_name, file_patterns, flag, named_files, shape_of
from headrace.mx.io.pipeline import Ending, Pipeline, Running, numbered

__all__ = ["CSVIter"]

_DTYPES = ("float32", "int32", "int64")
# What `headrace.Csv` proposes, and this iterator has not.
_MISSING = re.compile(r"; say what that stands for, such as missing=\{.*?\}")
# A field that is no number, in the first line of a file.
_HEADER = re.compile(r"\A(field \d+, of \"\w+\", is .*; the column's type is [^\n]*)(?=\n[\s\S]*, byte 0\Z)")

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class CSVIter(EngineBatches):
    """Gives batches of the lines of CSV files, as `mxnet.io.CSVIter` does: an array of shape (batch_size, *data_shape),
    and labels.

    The batches come from `headrace.Csv`. Files have no header. Empty lines at a file's end are no rows; elsewhere an empty
    line is an error. A batch has the rows' numbers as `index`.

    Args:
        data_csv: The file; several, between semicolons or in a list; or a folder of them.
        data_shape: The shape of a row, whose fields fill it in order.
        batch_size: Rows in a batch, from 1 on.
        label_csv: Likewise, with the labels: a line for each of `data_csv`. The lines of both are counted before the first
            batch. None: all labels are 0.
        label_shape: The shape of a label. (1,): labels are numbers, of shape (batch_size,).
        round_batch: Whether the last batch of an epoch is filled with the first rows of the next pass, which then begins
            after them; else with the first rows of the epoch. `pad` says how many.
        dtype: "float32", "int32" or "int64": of data and labels. None: "float32".
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        prefetch_buffer: Kept for `explain()`: the budget `memory` bounds what is made ahead.
        ctx: Kept for `explain()`: batches lie in host memory, as MXNet's do.
        device_id: Batches lie in page-locked memory if the process has a context on this GPU already, else in plain
            memory. -1: in plain memory.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: "skip" leaves lines out that cannot be read, and the label of such a line with it.
        max_errors: The most rows that may be left out in an epoch.
        device: Where batches end, as `Dataset.to_device` takes it: "cuda:0", or "cpu:0"; None: in host memory. The arrays of
            a batch there are objects for `from_dlpack` of any library.
        state: What `state()` gave: the iterator goes on with the batch after it.

    Raises:
        DataError: There are not as many labels as lines of data. From `next()`: a line has another number of fields, or a
            field is no number of the type.
        GraphError: A parameter is out of its range, or there are fewer rows than batch_size and round_batch is set.
        NotFoundError: A file is not there.
        StateError: The state is of other data or another iterator.
    """

    WORDING = (
        (_MISSING, "; fill it in, or remove the line if it is empty"),
        (_HEADER, r"\1; if it is a line of names, remove it, as these files have none"),
    )

    def __init__(
        self,
        *,
        data_csv: Paths,
        data_shape: Sequence[int],
        batch_size: int,
        label_csv: Paths | None = None,
        label_shape: Sequence[int] = (1,),
        round_batch: bool = True,
        dtype: Literal["float32", "int32", "int64"] | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        prefetch_buffer: int | None = None,
        ctx: str | Context = "gpu",
        device_id: int = 0,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        max_errors: int = error_policy.MAX_ERRORS,
        device: str | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        of = type(self).__name__
        size = options.whole("batch_size", batch_size, 1, of)
        shape = shape_of("data_shape", data_shape, of)
        label = shape_of("label_shape", label_shape, of)
        kind = "float32" if dtype is None else options.choice("dtype", dtype_name(dtype), _DTYPES, of)
        rounds = flag("round_batch", round_batch, of)
        options.choice("on_error", on_error, ("raise", "skip"), of)
        heading = explained(of, ctx, device_id, None, prefetch_buffer)
        files = file_patterns("data_csv", data_csv, of)
        data = CsvFiles(files, memory, of)
        rows = numbered(data.rows("data", kind, math.prod(shape)))
        total = None
        # As MXNet's default.
        if label_csv is None or label_csv == "NULL":
            if label != (1,):
                raise GraphError(f"{of}: label_shape is {label}, and has no effect without label_csv; leave it out")
            rows = rows.map([T.Fill(0), T.TypeCast(kind)], "id", "label")
        else:
            label_files = file_patterns("label_csv", label_csv, of)
            labels = CsvFiles(label_files, memory, of)
            total = _number_of_rows(data.lines(math.prod(shape)), labels.lines(math.prod(label)), of)
            rows = rows.zip(labels.rows("label", kind, math.prod(label)))
        self._shapes = {"data": (-1, *shape), "label": (-1,) if label == (1,) else (-1, *label)}
        super().__init__(
            Pipeline(rows, "data", "id", total, files=named_files("data_csv", data_csv)),
            Running(0, memory, on_error, max_errors, state, None, device, page_locked_of(device_id)),
            Ending.ROUND if rounds else Ending.PAD,
            DataDesc(data_name, (size, *shape), np.dtype(kind).type),
            DataDesc(label_name, (size, *self._shapes["label"][1:]), np.dtype(kind).type),
            heading,
        )

    def _made_of(self, columns: Columns, pad: int, index: np.ndarray | None) -> DataBatch:
        # The engine's columns are vectors.
        shaped = {name: columns[name].reshape(shape) for name, shape in self._shapes.items()}
        return super()._made_of(shaped, pad, index)


def _number_of_rows(number: int, of_labels: int, of: str) -> int:
    """The lines, of which there must be as many labels."""
    if number != of_labels:
        raise DataError(f"{of}: data_csv has {number} lines, and label_csv has {of_labels}; they must be equal")
    return number
