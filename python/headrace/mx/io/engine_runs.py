"""`EngineRuns`: the run of the engine behind an iterator, and its states."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias

from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._runs.iterator import Iterator
from headrace.errors import Error, GraphError, StateError
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.data_iter import GivenBatches
from headrace.mx.io.device_batches import DeviceBatches
from headrace.mx.io.filled_batch import Columns
from headrace.mx.io.given_values import check_state
from headrace.mx.io.pipeline import Ending, Pipeline, Running, check_skips, numbered

__all__ = ["ROW", "EngineRuns"]

Wording: TypeAlias = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

ROW = "_row"
"""The column of a row's number in its pass, where the number of rows is not known."""
# Of an endless run, in which epochs are not the engine's, so that their rows are counted here.
_UNLIMITED = 1 << 62
# What a state has, besides what names the iterator.
_STATE: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("epoch", "given", "before", "removed"), (int,)),
    "last": (int, type(None)),
    "over": (bool,),
    "run": (bytes,),
}

# Why there must be as many rows as a batch has, and what to give instead.
_WHY_MANY = {
    Ending.ROUND: "round_batch=True fills a batch with rows of the next pass alone; give round_batch=False",
    Ending.ROLL_OVER: 'last_batch_handle="roll_over" fills a batch with rows of two passes; give "pad"',
    Ending.DISCARD: "rows that fill no batch are left out; give more rows",
}


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


class EngineRuns(GivenBatches):
    """Holds the dataset that gives the batches and the run over it. What a run gives is for the classes made of this."""

    WORDING: ClassVar[Sequence[Wording]] = ()
    """What the engine's messages say in other words here: patterns, and what takes the place of what they match."""

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
        """Batches given in the user's epoch."""
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

    def make_on_host(self) -> DataBatch | None:
        """The next batch, for a queue to a device."""
        return self._make()

    def interrupt(self) -> None:
        """Ends the run, and with it the making of a batch on another thread."""
        if self._run is not None:
            self._run.close()

    def explain(self) -> str:
        """How the engine runs the iterator, and which rows were left out since it was made."""
        text = self._batches.explain() if self._run is None else self._run.explain()
        lines = [*self._heading, *self._left_out]
        lines.append(self._worded(text.replace(f" (at most {_UNLIMITED} an epoch)", "")))
        return "\n".join(lines if self._sent is None else [*lines, self._sent.explain()])

    def _worded(self, text: str) -> str:
        for pattern, words in self.WORDING:
            text = pattern.sub(words, text)
        return text

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

    def _dataset(self, rows: Dataset, running: Running) -> Dataset:
        pipeline, endless = self._pipeline, self._ending.endless
        if endless and pipeline.total is None:
            # Above the maps, so that rows have the same random numbers with and without it.
            rows = numbered(rows, ROW)
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

    def state(self) -> dict[str, Any]:
        """Where the iterator is, for `state=`: after the batch given last. Raises StateError if it cannot be restored."""
        of_loop = None if self._sent is None else self._sent.state()
        return self.state_on_host() if of_loop is None else of_loop

    def state_on_host(self) -> dict[str, Any]:
        """As `state()`, after the batch made last, which may be ahead of the loop."""
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
