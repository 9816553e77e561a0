"""`LibSVMIter` gives batches of LibSVM files, which are sparse."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

import headrace
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._runs import error_policy
from headrace.errors import DataError, GraphError
from headrace.mx import nd
from headrace.mx.context import Context
from headrace.mx.io.accepted_parameters import explained, page_locked_of
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.engine_batches import EngineBatches
from headrace.mx.io.filled_batch import Columns
from headrace.mx.io.given_values import dtype_name, file_patterns, flag, named_files, part
from headrace.mx.io.pipeline import Ending, Pipeline, Running, check_skips, numbered
from headrace.mx.sparse import CSRNDArray

__all__ = ["LibSVMIter"]

_INDEX = re.compile(r"has the index (\d+); indices are 0 to (\d+)")
# In place of the index of a feature where a row has fewer than others of its batch.
_NO_FEATURE = -1
_ANY_NUMBER = 1 << 62

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def _counted_from_1(found: re.Match[str]) -> str:
    """With advice where the index is the first that is too large."""
    index, last = map(int, found.groups())
    advice = f"; if the file counts from 1, {last + 1} features need a shape of ({last + 2},)"
    return found[0] + (advice if index == last + 1 else "")


class LibSVMIter(EngineBatches):
    """Gives batches of the lines of LibSVM files, as `mxnet.io.LibSVMIter` does: sparse data, a `mx.nd.sparse.CSRNDArray`
    of shape (batch_size, features), and labels.

    The batches come from `headrace.LibSvm`, and features are counted from 0. Lines without a field are no rows. A batch has
    the rows' numbers as `index`, unless the files are read in parts.

    Args:
        data_libsvm: The file; several, between semicolons or in a list; or a folder of them.
        data_shape: The number of features, as (features,).
        batch_size: Rows in a batch, from 1 on.
        label_libsvm: Likewise, with labels that are sparse: a line for each of `data_libsvm`, whose features are the label
            of the row. The lines of both are counted before the first batch. None: labels are those of `data_libsvm`.
        label_shape: With label_libsvm the number of features of a label, from 2 on, as (features,); (1,) without.
        num_parts: Into how many parts of equally many bytes the files are cut; with label_libsvm, of ⌈N/num_parts⌉ rows.
        part_index: Which of them is read.
        round_batch: Whether the last batch of an epoch is filled with the first rows of the next pass, which then begins
            after them; else with the first rows of the epoch. `pad` says how many.
        dtype: "float32" alone, as in MXNet; None is the same.
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        prefetch_buffer: Kept for `explain()`: the budget `memory` bounds what is made ahead.
        ctx: Kept for `explain()`: batches lie in host memory, as MXNet's do.
        device_id: Batches lie in page-locked memory if the process has a context on this GPU already, else in plain
            memory. -1: in plain memory.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: "skip" leaves lines out that cannot be read, and the label of such a line with it.
        max_errors: The most rows that may be left out in an epoch.
        state: What `state()` gave: the iterator goes on with the batch after it.

    Raises:
        DataError: There are not as many labels as lines of data. From `next()`: a line is not of the form
            "label index:value …", or its indices do not ascend or are beyond data_shape.
        GraphError: A parameter is out of its range, or there are fewer rows than batch_size and round_batch is set.
        NotFoundError: A file is not there.
        StateError: The state is of other data or another iterator.
        UnsupportedError: Lines are to be left out of a part with round_batch, so that its rows cannot be counted.
    """

    WORDING = ((_INDEX, _counted_from_1),)

    def __init__(
        self,
        *,
        data_libsvm: Paths,
        data_shape: Sequence[int],
        batch_size: int,
        label_libsvm: Paths | None = None,
        label_shape: Sequence[int] = (1,),
        num_parts: int = 1,
        part_index: int = 0,
        round_batch: bool = True,
        dtype: Literal["float32"] | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        prefetch_buffer: int | None = None,
        ctx: str | Context = "gpu",
        device_id: int = 0,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        max_errors: int = error_policy.MAX_ERRORS,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        of = type(self).__name__
        size = options.whole("batch_size", batch_size, 1, of)
        self._features = _features("data_shape", data_shape, of)
        of_label = _features("label_shape", label_shape, of)
        if dtype is not None:
            options.choice("dtype", dtype_name(dtype), ("float32",), of)
        rounds = flag("round_batch", round_batch, of)
        options.choice("on_error", on_error, ("raise", "skip"), of)
        heading = explained(of, ctx, device_id, None, prefetch_buffer)
        files = _Lines(file_patterns("data_libsvm", data_libsvm, of), memory)
        given = named_files("data_libsvm", data_libsvm)
        chosen = part(part_index, num_parts, of)
        # As MXNet's default.
        self._sparse_labels = label_libsvm is not None and label_libsvm != "NULL"
        if self._sparse_labels:
            if of_label == 1:
                raise GraphError(
                    f"{of}: label_shape is (1,); with label_libsvm it must be the label's number of features"
                )
            labels = _Lines(file_patterns("label_libsvm", label_libsvm, of), memory)
            rows, total = _labelled(files, labels, self._features, of_label, chosen, of)
            pipeline = Pipeline(rows, "value", "id", total, files=given, pad_value=_NO_FEATURE)
        elif of_label != 1:
            raise GraphError(
                f"{of}: label_shape is ({of_label},), and has no effect without label_libsvm; leave it out"
            )
        elif chosen[1] == 1:
            pipeline = Pipeline(numbered(files.rows(self._features)), "value", "id", files=given, pad_value=_NO_FEATURE)
        else:
            to_skip = "round_batch=False" if rounds else ""
            check_skips(on_error, to_skip, of)
            of_part = files.count(chosen) if rounds else None
            rows = files.rows(self._features, "contiguous")
            pipeline = Pipeline(
                rows, "value", None, of_part, chosen, files=given, pad_value=_NO_FEATURE, to_skip=to_skip
            )
        self._label_features = of_label
        super().__init__(
            pipeline,
            Running(0, memory, on_error, max_errors, state, page_locked_of=page_locked_of(device_id)),
            Ending.ROUND if rounds else Ending.PAD,
            DataDesc(data_name, (size, self._features)),
            DataDesc(label_name, (size, of_label) if self._sparse_labels else (size,)),
            heading,
        )

    def _made_of(self, columns: Columns, pad: int, index: np.ndarray | None) -> DataBatch:
        data = _compressed(columns["index"], columns["value"], self._features)
        if self._sparse_labels:
            label: Any = _compressed(columns["label_index"], columns["label_value"], self._label_features)
        else:
            label = columns["label"].view(nd.NDArray)
        return DataBatch([data], [label], pad, index)


class _Lines:
    """LibSVM files."""

    def __init__(self, patterns: list[str], memory: int | str | None) -> None:
        self._patterns = patterns
        self._memory = memory

    def rows(self, features: int | None, sharding: Literal["contiguous"] | None = None) -> Dataset:
        return headrace.LibSvm(self._patterns, features, sharding=sharding)

    def count(self, shard: tuple[int, int] | None = None) -> int:
        """The rows, or those of a part of the bytes, with such as cannot be read. Reads the files once."""
        rows = self.rows(None, None if shard is None else "contiguous").project("label")
        labels = rows.on_error("skip", max_errors=_ANY_NUMBER).batch(65536).options(memory=self._memory)
        with labels.iterate(shard=shard) as batches:
            read = sum(len(batch["label"]) for batch in batches)
            return read + sum(int(each["rows"]) for each in batches.report()["skipped"])


def _features(name: str, given: Any, of: str) -> int:
    try:
        (features,) = [given] if isinstance(given, int) else given
    except (TypeError, ValueError):
        raise GraphError(f"{of}: {name} is {options.shown(given)}; it must be (features,)") from None
    return options.whole(name, features, 1, of)


def _labelled(
    files: _Lines, labels: _Lines, features: int, of_label: int, part: tuple[int, int], of: str
) -> tuple[Dataset, int]:
    """Rows with their labels, of the part of the rows, and how many these are. Reads all files once."""
    total, lines = files.count(), labels.count()
    if total != lines:
        raise DataError(f"{of}: data_libsvm has {total} lines, and label_libsvm has {lines}; they must be equal")
    renamed = labels.rows(of_label).rename({"index": "label_index", "value": "label_value", "label": "unused"})
    rows = numbered(files.rows(features)).zip(renamed.project(["label_index", "label_value"]))
    if part[1] == 1:
        return rows, total
    length = -(-total // part[1])
    first = min(part[0] * length, total)
    return rows.skip(first).take(length), min(length, total - first)


def _compressed(indices: np.ndarray, values: np.ndarray, features: int) -> CSRNDArray:
    """Of rows that are filled with `_NO_FEATURE` after their indices."""
    there = indices != _NO_FEATURE
    ends = np.zeros(len(indices) + 1, np.int64)
    np.cumsum(there.sum(axis=1), out=ends[1:])
    held, named, begins = (each.view(nd.NDArray) for each in (values[there], indices[there], ends))
    return CSRNDArray(held, named, begins, (len(indices), features))
