"""The base of iterators whose batches come whole from a pipeline: MXNet's built-in ones.

Epochs follow from the rows alone. With `Ending.ROUND` and `Ending.ROLL_OVER` one run of the engine goes through all passes
of the data without a stop, and an epoch ends with, or before, the batch in which the next pass begins. Where the number of
rows is known, the batch's number tells which one that is; otherwise a further column has each row's number in its pass.
With the others each epoch is an epoch of the engine."""

import copy
import enum
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn, TypeAlias

import numpy as np

import headrace
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._runs import error_policy
from headrace._runs.iterator import Iterator
from headrace.errors import DataError, Error, GraphError, StateError, UnsupportedError
from headrace.mx import nd
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.data_iter import GivenBatches
from headrace.mx.io.device_batches import DeviceBatches
from headrace.mx.io.filled_batch import Columns, filled
from headrace.mx.io.given_values import check_state

__all__ = ["Ending", "EngineBatches", "Pipeline", "Running", "check_skips", "numbered"]

Wording: TypeAlias = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_ROW = "_row"
# Of an endless run, in which epochs are not the engine's, so that their rows are counted here.
_UNLIMITED = 1 << 62
# What a state has, besides what names the iterator.
_STATE: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("epoch", "given", "before", "removed"), (int,)),
    "last": (int, type(None)),
    "over": (bool,),
    "run": (bytes,),
}


def numbered(rows: Dataset, name: str = "id") -> Dataset:
    """`rows` with a column of their numbers in the epoch."""
    return rows.zip(headrace.Range(1 << 62).rename({"value": name}))


class Ending(enum.Enum):
    """What becomes of the rows left at an epoch's end."""

    ROUND = "round"
    """The batch is filled with the first rows of the next pass, which then begins behind them."""
    ROLL_OVER = "roll_over"
    """They are the first rows of the next epoch, whose first batch is filled with the first rows of its pass."""
    PAD = "pad"
    """The batch is filled with the first rows of the epoch."""
    DISCARD = "discard"
    """They are left out."""

    @property
    def endless(self) -> bool:
        """Whether one run goes through all passes."""
        return self in (Ending.ROUND, Ending.ROLL_OVER)


# Why there must be as many rows as a batch has, and what to give instead.
_WHY_MANY = {
    Ending.ROUND: "round_batch=True fills a batch with rows of the next pass alone; give round_batch=False",
    Ending.ROLL_OVER: 'last_batch_handle="roll_over" fills a batch with rows of two passes; give "pad"',
    Ending.DISCARD: "rows that fill no batch are left out; give more rows",
}


class Pipeline(NamedTuple):
    """What gives the rows."""

    rows: Dataset
    data: str
    """The column of the data."""
    numbers: str | None = None
    """The column of the rows' numbers; None: there is none."""
    total: int | None = None
    """Rows in an epoch, where that is known and none is left out."""
    shard: tuple[int, int] | None = None
    finish: Callable[[Dataset], Dataset] | None = None
    """What is done to the rows when all arguments are found good, as it may take long."""
    files: str = ""
    """What was given to name the rows, for messages."""
    pad_value: float | None = None
    """What rows that are vectors of unequal length are filled with in a batch; None: all rows of a column are alike."""
    to_skip: str = ""
    """What must be given for rows to be left out; empty: nothing."""


class Running(NamedTuple):
    """What every built-in iterator takes besides MXNet's parameters."""

    seed: int
    memory: int | str | None = None
    on_error: Literal["raise", "skip"] = "raise"
    max_errors: int = error_policy.MAX_ERRORS
    state: Mapping[str, Any] | None = None
    workers: int | None = None
    device: str | None = None
    page_locked_of: int | None = None
    """The GPU from whose page-locked memory batches may be copied; None: batches lie in plain memory."""
    otherwise: bool = False
    """Whether on_error was given to an iterator around this one, so that states say it."""


def check_skips(on_error: Literal["raise", "skip"] | None, to_skip: str, of: str) -> None:
    """Raises UnsupportedError if rows are to be left out and, as `Pipeline.to_skip` says, cannot be."""
    if on_error == "skip" and to_skip:
        raise UnsupportedError(
            f'{of}: on_error="skip" with num_parts and round_batch needs the number of rows, which cannot be counted by '
            f"bytes; give {to_skip}"
        )


def _as_in_state(running: Running) -> Running:
    """With the on_error that was given to an iterator around the one of which the state was taken, as states go on under
    the on_error that they were taken under."""
    state = running.state if isinstance(running.state, Mapping) else {}
    if (given := state.get("on_error")) not in ("raise", "skip"):
        return running
    return running._replace(on_error=given, otherwise=True)


def _look_for_files(rows: Dataset, memory: int | str | None) -> None:
    """Raises the error of a source whose files are not there, which else the first batch has. Reads no row."""
    with rows.take(0).options(memory=memory).iterate(executor="pull") as nothing:
        next(nothing, None)


class EngineBatches(GivenBatches):
    """Gives the batches of a pipeline with the column `label` and one of data."""

    WORDING: ClassVar[Sequence[Wording]] = ()
    """What the engine's messages say in other words here: patterns, and what takes the place of what they match."""
    SHAPE_ADVICE: ClassVar[str] = ""
    """What is said of batches that have not the shape that they should have."""

    def __init__(
        self,
        pipeline: Pipeline,
        running: Running,
        ending: Ending,
        provide_data: DataDesc,
        provide_label: DataDesc,
        heading: Sequence[str] = (),
    ) -> None:
        super().__init__(provide_data.shape[DataDesc.get_batch_axis(provide_data.layout)])
        self.provide_data = [provide_data]
        self.provide_label = [provide_label]
        of = type(self).__name__
        options.choice("on_error", running.on_error, ("raise", "skip"), of)
        self._runs = _as_in_state(running)
        self._given_pipeline = pipeline
        self._ending = ending
        self._seed = running.seed
        self._max_errors = options.whole("max_errors", running.max_errors, of=of)
        self._heading = [*heading]
        if running.memory is not None:
            options.memory_bytes(running.memory, of)
        if running.state is not None:
            self._check_state(running.state)
        if ending is not Ending.PAD and pipeline.total is not None and pipeline.total < self.batch_size:
            self._refuse_few(pipeline.total)
        if pipeline.total is None:
            _look_for_files(pipeline.rows, running.memory)
        self._rows = pipeline.rows if pipeline.finish is None else pipeline.finish(pipeline.rows)
        self._plan()
        self._run: Iterator | None = None
        self._restored = False
        """Whether the run began from a state: the engine of such a one ends with its epoch."""
        self._epoch = 0
        """Of the engine."""
        self._given = 0
        """Batches given in this epoch of the user's."""
        self._before = 0
        """Batches that the run gave before this epoch."""
        self._last: int | None = None
        """The number of the row given last in its pass; None: the next row begins a pass."""
        self._over = False
        self._ahead: tuple[Columns, bytes] | None = None
        """The first batch of the next epoch, if it was fetched to see that this one is over; and the state before it."""
        self._head: Columns | None = None
        """The first rows of the epoch, which fill its last batch."""
        self._removed = 0
        """Rows left out in this epoch."""
        self._removed_by_run = 0
        self._left_out: list[str] = []
        """What earlier runs left out."""
        self._failure: Error | None = None
        if running.state is not None:
            self._restore(running.state)

    def check_runs_otherwise(self, on_error: Literal["raise", "skip"] | None, name: str, of: str) -> None:
        super().check_runs_otherwise(on_error, name, of)
        runs = self._runs
        if runs.state is not None and on_error not in (None, runs.on_error):
            raise StateError(
                f'{of}: on_error is "{on_error}", and {name}, a {type(self).__name__}, goes on from a state that was taken '
                f'with "{runs.on_error}"; give that, or leave out the state'
            )
        check_skips(on_error, self._given_pipeline.to_skip, f"{of}: {name}, a {type(self).__name__}")

    def run_otherwise(self, memory: int | str | None, on_error: Literal["raise", "skip"] | None) -> None:
        if memory is not None:
            self._runs = self._runs._replace(memory=memory)
        if on_error is not None:
            self._runs = self._runs._replace(on_error=on_error, otherwise=True)
        self._plan()
        if self._run is not None:
            self._run.close()
            self._run = None
        if self._runs.state is not None:
            self._restore(self._runs.state)

    def _plan(self) -> None:
        """What runs, as `_runs` says."""
        pipeline, runs = self._given_pipeline, self._runs
        self._skips = runs.on_error == "skip"
        # Rows that are left out are among the total.
        self._pipeline = pipeline._replace(total=None) if self._skips else pipeline
        self._batches = self._dataset(self._rows, runs)
        if runs.device is not None:
            self._sent = DeviceBatches(self, 2, runs.device, runs.memory, type(self).__name__)

    # ---- epochs ----

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

    def getdata(self) -> Any:
        """The data of the batch: one array, as MXNet's built-in iterators give it."""
        return super().getdata()[0]

    def getlabel(self) -> Any:
        """The labels of the batch: one array."""
        return super().getlabel()[0]

    def state(self) -> dict[str, Any]:
        """Where the iterator is, for `state=`: behind the batch given last. Raises StateError if it cannot be restored."""
        of_loop = None if self._sent is None else self._sent.state()
        return self.state_on_host() if of_loop is None else of_loop

    def make_on_host(self) -> DataBatch | None:
        """The next batch, for a queue to a device."""
        return self._make()

    def interrupt(self) -> None:
        """Ends the run, and with it the making of a batch on another thread."""
        if self._run is not None:
            self._run.close()

    def state_on_host(self) -> dict[str, Any]:
        """As `state()`, behind the batch made last, which may be ahead of the loop."""
        run = self._running().state() if self._ahead is None else self._ahead[1]
        given = {"on_error": self._runs.on_error} if self._runs.otherwise else {}
        return (
            self._identity()
            | given
            | {
                "epoch": self._epoch,
                "given": self._given,
                "before": self._before,
                "last": self._last,
                "over": self._over,
                "removed": self._removed,
                "run": run,
            }
        )

    def explain(self) -> str:
        """How the engine runs the iterator, and which rows were left out since it was made."""
        text = self._batches.explain() if self._run is None else self._run.explain()
        lines = [*self._heading, *self._left_out]
        lines.append(self._worded(text.replace(f" (at most {_UNLIMITED} an epoch)", "")))
        return "\n".join(lines if self._sent is None else [*lines, self._sent.explain()])

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

    # ---- batches ----

    def _make(self) -> DataBatch | None:
        if self._over:
            return None
        if self._failure is not None:
            raise copy.copy(self._failure)
        try:
            return self._of_all_passes() if self._ending.endless else self._of_one_epoch()
        except Error as error:
            error.args = (self._worded(str(error)),)
            # Without its traceback, which keeps arrays alive.
            self._failure = copy.copy(error)
            raise

    def _worded(self, text: str) -> str:
        for pattern, words in self.WORDING:
            text = pattern.sub(words, text)
        return text

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

    def _may_hold(self) -> bool:
        """Whether only the next batch shows that the epoch is over."""
        return self._pipeline.total is None or self._ending is Ending.ROLL_OVER

    def _numbers(self, columns: Columns) -> np.ndarray:
        """Those of the rows in their passes."""
        total = self._pipeline.total
        if total is None:
            return columns[_ROW]
        first = (self._before + self._given) * self.batch_size
        return np.arange(first, first + self.batch_size) % total

    def _begins(self, numbers: np.ndarray) -> np.ndarray:
        """Where passes begin, but for the one with which the epoch begins."""
        before = -1 if self._last is None else self._last
        return np.flatnonzero(np.diff(numbers, prepend=before) <= 0)

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

    def _refuse_few(self, rows: int | None) -> NoReturn:
        """`rows`: None where they were not counted."""
        why = _WHY_MANY[self._ending]
        of, files = type(self).__name__, self._given_pipeline.files
        if rows == 0:
            raise GraphError(f"{of}: {files} gives no rows, and {why}, or other files")
        number = "fewer rows" if rows is None else f"{rows} rows, fewer"
        raise GraphError(
            f"{of}: {files} gives {number} than batch_size={self.batch_size}, and {why} or a smaller batch_size"
        )

    # ---- runs ----

    def _dataset(self, rows: Dataset, running: Running) -> Dataset:
        pipeline, endless = self._pipeline, self._ending.endless
        if endless and pipeline.total is None:
            # Above the maps, so that rows have the same random numbers with and without it.
            rows = numbered(rows, _ROW)
        if self._skips:
            rows = rows.on_error("skip", max_errors=_UNLIMITED if endless else self._max_errors)
        if endless:
            rows = rows.repeat()
        discards, fill = self._ending is Ending.DISCARD, pipeline.pad_value
        batches = rows.batch(self.batch_size, discards, fill is not None, 0.0 if fill is None else fill)
        batches = batches.with_seed(self._seed).options(
            memory=running.memory, workers=running.workers, shard=pipeline.shard
        )
        gpu = running.page_locked_of if running.device is None else self._gpu_of(running.device)
        if gpu is not None:
            batches._options = batches._options.in_page_locked(gpu)
        return batches

    def _gpu_of(self, device: str) -> int | None:
        kind, _, number = options.device("device", device, type(self).__name__).partition(":")
        return int(number) if kind == "cuda" else None

    def _running(self) -> Iterator:
        if self._run is None:
            self._batches.epoch = self._epoch
            self._restored = False
            self._removed_by_run = 0
            self._run = iter(self._batches)
        return self._run

    def _end_run(self) -> None:
        """Takes the end of the engine's epoch, so that the engine goes on with the next one."""
        if self._run is None:
            return
        next(self._run, None)
        if self._restored:
            self._note_left_out()
            self._restored = False

    def _note_left_out(self) -> None:
        assert self._run is not None
        for each in self._run.report().get("skipped", []):
            rows = each["rows"]
            self._left_out.append(f"{each['name']}: {rows} row{'s' if rows != 1 else ''} left out by an earlier run:")
            self._left_out += [f"  {name}" for name in each["first"]]

    # ---- states ----

    def _identity(self) -> dict[str, Any]:
        """What an iterator must be like for the state to fit, besides its pipeline."""
        return {
            "iterator": type(self).__name__,
            "batch_size": self.batch_size,
            "last_batch": self._ending.value,
            "seed": self._seed,
        }

    def _check_state(self, state: Mapping[str, Any]) -> None:
        """All of it but the engine's."""
        check_state(state, _STATE, type(self).__name__)
        for name, here in self._identity().items():
            if name == "iterator" and isinstance(state.get(name), str) and state[name] != here:
                raise StateError(f"{here}: the state was taken of a {state[name]}; give what state() of a {here} gave")
            if state.get(name) != here:
                raise StateError(
                    f"{type(self).__name__}: the state was taken with {name}={state.get(name)!r}, and this iterator has "
                    f"{name}={here!r}"
                )

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._run = self._batches.iterate(state=state["run"])
        self._restored = True
        self._epoch, self._given, self._before, self._removed = (
            state[name] for name in ("epoch", "given", "before", "removed")
        )
        self._last = state["last"]
        self._over = state["over"]
