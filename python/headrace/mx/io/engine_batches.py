"""`EngineBatches`: the base of iterators whose batches come whole from a pipeline, MXNet's built-in ones."""

import copy
from typing import Any, ClassVar

import numpy as np

from headrace._runs.iterator import Iterator
from headrace.errors import DataError, Error, GraphError
from headrace.mx import nd
from headrace.mx.io.data_batch import DataBatch
from headrace.mx.io.engine_epochs import EngineEpochs
from headrace.mx.io.filled_batch import Columns, filled
from headrace.mx.io.pipeline import Ending

__all__ = ["EngineBatches"]


class EngineBatches(EngineEpochs):
    """Gives the batches of a pipeline with the column `label` and one of data."""

    SHAPE_ADVICE: ClassVar[str] = ""
    """What is said of batches that have not the shape that they should have."""

    def getdata(self) -> Any:
        """The data of the batch: one array, as MXNet's built-in iterators give it."""
        return super().getdata()[0]

    def getlabel(self) -> Any:
        """The labels of the batch: one array."""
        return super().getlabel()[0]

    def _make(self) -> DataBatch | None:
        if self._over:
            return None
        if self._failure is not None:
            raise copy.copy(self._failure)
        try:
            return self._of_all_passes() if self._ending.endless else self._of_one_epoch()
        except Error as error:
            error._reword(self._worded(str(error)))
            # Without its traceback, which keeps arrays alive.
            self._failure = copy.copy(error)
            raise

    def _of_all_passes(self) -> DataBatch | None:
        before = b""
        if self._ahead is not None:
            (columns, _), self._ahead = self._ahead, None
        else:
            run = self._running()
            before = run.state() if self._may_hold() else b""
            columns = self._next_of_all_passes(run)
        numbers = self._numbers(columns)
        begins = self._begins(numbers)
        if self._is_of_next_epoch(begins):
            self._hold(columns, before)
            return None
        if len(begins) > 1 or (len(begins) == 1 and self._last is None):
            self._refuse_few(int(begins[0]))
        self._last = int(numbers[-1])
        if self._ending is Ending.ROUND:
            self._over = len(begins) > 0
            if self._last + 1 == self._pipeline.total:
                self._over = True
                self._last = None
        # A batch that begins with its pass has no rows of another one.
        behind = self.batch_size - int(begins[0]) if begins.any() else 0
        return self._batch_of(columns, behind)

    def _next_of_all_passes(self, run: Iterator) -> Columns:
        try:
            columns: Columns = next(run)
        except GraphError as error:
            # The only one of that operator in a run: there are no rows to repeat.
            if (error.operator or "").startswith("repeat["):
                self._refuse_few(0)
            raise
        return columns

    def _of_one_epoch(self) -> DataBatch | None:
        columns = next(self._running(), None)
        if columns is None:
            if self._ending is Ending.DISCARD and self._given == 0:
                self._refuse_few(None)
            self._over = True
            return None
        rows = len(columns["label"])
        if self._given == 0:
            self._keep_head(columns)
        if rows < self.batch_size:
            # Ends the run, so that its memory is free for the first rows, where a state took the place of them.
            self._end_run()
            self._over = True
            columns = filled(columns, self._first_rows(), self.batch_size, self._pipeline.pad_value)
        return self._batch_of(columns, self.batch_size - rows)

    def _keep_head(self, columns: Columns) -> None:
        total, count = self._pipeline.total, self.batch_size
        if total is not None:
            count = -total % self.batch_size
        if self._ending is Ending.PAD and count > 0:
            self._head = {name: values[:count].copy() for name, values in columns.items()}

    def _first_rows(self) -> Columns:
        if self._head is None:
            with self._batches.iterate(epoch=self._epoch) as again:
                self._keep_head(next(again))
        assert self._head is not None
        return self._head

    def _batch_of(self, columns: Columns, pad: int) -> DataBatch:
        numbers = self._pipeline.numbers
        index = None if numbers is None else columns[numbers].astype(np.uint64)
        batch = self._made_of(columns, pad, index)
        if self._skips and self._ending.endless:
            self._count_removed()
        self._given += 1
        return batch

    def _made_of(self, columns: Columns, pad: int, index: np.ndarray | None) -> DataBatch:
        data, label = columns[self._pipeline.data], columns["label"]
        for array, described in ((data, self.provide_data[0]), (label, self.provide_label[0])):
            if array.shape != described.shape:
                raise DataError(
                    f"{type(self).__name__}: {described.name} of a batch has shape {array.shape}, and should have "
                    f"{described.shape}{self.SHAPE_ADVICE}"
                )
        return DataBatch([data.view(nd.NDArray)], [label.view(nd.NDArray)], pad, index)

    def _count_removed(self) -> None:
        """Checks the limit, which the engine checks where epochs are its own."""
        assert self._run is not None
        skipped = self._run.report()["skipped"]
        so_far = sum(each["rows"] for each in skipped)
        self._removed += so_far - self._removed_by_run
        self._removed_by_run = so_far
        if self._removed <= self._max_errors:
            return
        named = "; ".join(name for each in skipped for name in each["first"])
        raise DataError(
            f"{self._removed} rows of this epoch failed, more than max_errors={self._max_errors}; raise max_errors if "
            f"that many may be left out: {named}"
        )
