"""`EngineEpochs`: where an iterator's epochs begin and end in its runs.

Epochs follow from the rows alone. With `Ending.ROUND` and `Ending.ROLL_OVER` one run of the engine goes through all passes
of the data without a stop, and an epoch ends with, or before, the batch in which the next pass begins. Where the number of
rows is known, the batch's number tells which one that is; otherwise a further column has each row's number in its pass.
With the others each epoch is an epoch of the engine."""

import numpy as np

from headrace.errors import Error
from headrace.mx.io.engine_runs import ROW, EngineRuns
from headrace.mx.io.filled_batch import Columns
from headrace.mx.io.pipeline import Ending

__all__ = ["EngineEpochs"]


class EngineEpochs(EngineRuns):
    """Ends epochs and begins them. Which batches they have is for the classes made of this."""

    def reset(self) -> None:
        """Begins the next epoch: where the one before ended, or in mid-epoch at row 0. Before the first batch of an epoch
        it does nothing."""
        if self._given == 0 and not self._over and self._failure is None:
            return
        # Before the rest is looked at, which may be ahead of the loop.
        over = None if self._sent is None else self._sent.end()
        if over is None:
            over = self._is_over()
        if self._failure is None and over:
            self._go_on()
        else:
            self._start_over()
        self._begin()

    def _start_over_at_row_0(self) -> None:
        if self._sent is not None:
            self._sent.end()
        self._start_over()
        self._begin()

    def _begin(self) -> None:
        self._begun = True
        self._over = False
        self._given = 0
        self._removed = 0
        self._failure = None

    def _is_over(self) -> bool:
        """Whether the epoch has no further batch; may fetch one to see."""
        if self._over:
            return True
        total = self._pipeline.total
        if self._may_hold():
            return self._shows_to_be_over()
        assert total is not None
        if self._ending is Ending.DISCARD:
            return self._given == total // self.batch_size
        return self._ending is Ending.PAD and self._given == -(-total // self.batch_size)

    def _shows_to_be_over(self) -> bool:
        """Fetches the next batch. One of this epoch is dropped, as the caller then closes the run."""
        run = self._running()
        try:
            before = run.state()
            columns = next(run, None)
        except Error:
            return False
        if columns is None:
            return True
        if not self._ending.endless or not self._is_of_next_epoch(self._begins(self._numbers(columns))):
            return False
        self._hold(columns, before)
        return True

    def _is_of_next_epoch(self, begins: np.ndarray) -> bool:
        """Whether a batch is, in which passes begin at these places, and which is not the first of its epoch."""
        if self._ending is Ending.ROLL_OVER:
            return self._given > 0 and len(begins) > 0
        return len(begins) > 0 and bool(begins[0] == 0)

    def _hold(self, columns: Columns, before: bytes) -> None:
        """Ends the epoch, and keeps a batch for the next one. `before`: the run's state ahead of that batch."""
        self._ahead = columns, before
        self._over = True
        if self._ending is Ending.ROUND:
            self._last = None

    def _go_on(self) -> None:
        if self._ending.endless:
            self._before += self._given
            return
        self._end_run()
        self._epoch += 1
        self._run = None
        self._head = None

    def _start_over(self) -> None:
        if self._run is not None:
            self._note_left_out()
            self._run.close()
        self._epoch += 1
        self._run = None
        self._ahead = None
        self._head = None
        self._last = None
        self._before = 0

    def _may_hold(self) -> bool:
        """Whether only the next batch shows that the epoch is over."""
        return self._pipeline.total is None or self._ending is Ending.ROLL_OVER

    def _numbers(self, columns: Columns) -> np.ndarray:
        """Those of the rows in their passes."""
        total = self._pipeline.total
        if total is None:
            return columns[ROW]
        first = (self._before + self._given) * self.batch_size
        return np.arange(first, first + self.batch_size) % total

    def _begins(self, numbers: np.ndarray) -> np.ndarray:
        """Where passes begin, but for the one with which the epoch begins."""
        before = -1 if self._last is None else self._last
        return np.flatnonzero(np.diff(numbers, prepend=before) <= 0)
