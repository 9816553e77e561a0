"""A running pipeline: an iterator of rows, and its state."""

import atexit
import copy

# Imported here, not first in a function of the user: `threading` takes the thread that first imports it for the main
# thread, which the interpreter waits for at exit.
import threading  # noqa: F401
import time
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from headrace import _engine
from headrace._arguments import options
from headrace._arguments.doubts import warn_once
from headrace._arguments.import_folder import import_late
from headrace._arguments.other_libraries import iterator_advice
from headrace._graph.parameters import state_of
from headrace._runs.array_hints import hint_at_arrays
from headrace._runs.arrow_batches import ArrowBatches
from headrace._runs.callback import Callback, Calls
from headrace._runs.device_batch import CUDA, DeviceBatch, DeviceTuple
from headrace._runs.explanation import Explanation
from headrace._runs.foreign_files import name_foreign_file
from headrace._runs.loop_target import Kept, refuse_names, refuse_names_of_first
from headrace._runs.profile import ProfileFiles
from headrace._runs.ragged import rows_in
from headrace._runs.run_log import log_end
from headrace._runs.stall_watch import stall_watch
from headrace._runs.tuple_batches import TupleMaking
from headrace.errors import ClosedError, Error, UnsupportedError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Iterator"]

Batch = dict[str, Any]

# DLPack's number of the stream that torch names 0.
_LEGACY_STREAM = 1

_live: "weakref.WeakSet[_engine.Iteration]" = weakref.WeakSet()
_exiting = False
# How long the exit of the interpreter waits for functions of the user, in total.
_EXIT_PATIENCE_S = 0.75


@atexit.register
def _close_all() -> None:
    """Ends every pipeline while the interpreter still works, because their threads may be about to call Python."""
    global _exiting
    _exiting = True
    stall_watch.stop()
    until = time.monotonic() + _EXIT_PATIENCE_S
    engines = list(_live)
    for engine in engines:
        engine.stop()
    for engine in engines:
        engine.close(max(0.0, until - time.monotonic()))
    _engine.stop_threads(max(0.0, until - time.monotonic()))


def start(graph: _engine.Graph, options: dict[str, Any], references: dict[str, Any]) -> _engine.Iteration:
    if _exiting:
        raise ClosedError("the interpreter is exiting; no pipeline can start any more")
    # On this thread, not on one of the engine's: threads and locks that NumPy creates on import belong to the program.
    import_late("numpy")
    try:
        engine = _engine.Iteration(graph, options, references)
    except Error as error:  # Such as that of a header.
        name_foreign_file(error)
        raise
    _live.add(engine)
    return engine


def stop(engine: _engine.Iteration) -> None:
    stall_watch.remove(engine)
    engine.close()
    _live.discard(engine)


def leave(engine: _engine.Iteration) -> None:
    """Leaves it running, and what it has to say unsaid, at the end of an iterator after which others go on."""


def torch_or_error() -> Any:
    try:
        import torch
    except ImportError:
        raise UnsupportedError("as_='torch' needs PyTorch, which is not installed here: pip install torch") from None
    return torch


class _ToTorch:
    """Makes tensors of one row: torch takes longer to find its stream than to make a tensor, so it finds it once."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._streams: dict[int, int] = {}

    def row(self, row: Batch) -> Batch:
        return {name: self._value(value) for name, value in row.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, _engine.LentTensor):
            kind, number = value.__dlpack_device__()
            if kind != CUDA:
                return self._torch.from_dlpack(value)
            return self._torch.from_dlpack(value.__dlpack__(stream=self._stream(number)))
        if isinstance(value, list):
            return [self._value(each) for each in value]
        return value  # bytes and texts have no tensors

    def _stream(self, number: int) -> int:
        if number not in self._streams:
            self._streams[number] = self._torch.cuda.current_stream(number).cuda_stream or _LEGACY_STREAM
        return self._streams[number]


def again(error: BaseException) -> Error:
    """The error to raise again, without traceback and cause: their frames would keep alive all objects of the functions
    and the loop that failed, including this iterator."""
    if not isinstance(error, Error):  # Ctrl-C and sys.exit() in a function
        return ClosedError(f"the iterator ended with {type(error).__name__}; make a new one with iter(ds)")
    return error._remade(error.args, error.__dict__)


class Run:
    """The report of one run, during the run and after its end."""

    def __init__(self, engine: _engine.Iteration, heading: str) -> None:
        self._engine = weakref.ref(engine)
        self._heading = heading
        self._text: str | None = None
        self._report: dict[str, Any] | None = None

    def end(self, engine: _engine.Iteration) -> None:
        """Keeps the last report of `engine`, which is a parameter because a garbage collection that ends a run clears the
        weak reference first."""
        if self._report is None:
            self._text, self._report = engine.explain(), engine.report()

    def warn(self) -> None:
        """Says what the user should know of the far stores that it used, and logs what it left out and kept. Not from a
        finalizer, which may interrupt a handler of logging."""
        if self._report is not None:
            log_end(self._text or "", self._report)
        for store in (self._report or {}).get("stores", ()):
            if "warning" in store:
                warn_once(f"{store['name']}: {store['warning']}", ("", 0))

    def text(self) -> str | None:
        engine = self._engine() if self._text is None else None
        text = self._text if engine is None else engine.explain()
        return None if text is None else self._heading + text

    def report(self) -> dict[str, Any] | None:
        engine = self._engine() if self._report is None else None
        return self._report if engine is None else engine.report()


class Iterator:
    """Iterates over the rows of one epoch, usually batches: dicts from column to array.

    Made by `iter(ds)` and `ds.iterate(…)`. It ends with its epoch, or earlier by `close()`, by the end of a `with` block
    or when it is no longer referenced. Its arrays stay valid after its end.
    """

    def __init__(
        self,
        engine: _engine.Iteration,
        as_: str,
        stall_warning: float,
        on_second: Callable[[int], None] | None,
        on_end: Callable[[_engine.Iteration], None] | None,
        profile: ProfileFiles | None = None,
        heading: str = "",
        callbacks: Sequence[Callback] = (),
        joined: bool | None = False,
        shard: tuple[int, int] | None = None,
        as_tuple: bool | tuple[str, ...] = False,
    ) -> None:
        if not isinstance(engine, _engine.Iteration):
            raise TypeError("an Iterator is made by iter(ds) or ds.iterate(…)")
        self._run = Run(engine, heading)
        self._torch = torch_or_error() if as_ == "torch" else None
        self._arrow = ArrowBatches() if as_ == "arrow" else None
        self._tuples = TupleMaking(as_tuple, [name for name, _, _ in engine.schema()]) if as_tuple else None
        self._on_second = on_second
        self._calls: Calls | None = None
        if callbacks:
            self._calls = Calls(callbacks, engine.epoch, [name for name, _, _ in engine.schema()])
        # Whether each row joins several along the first axis of its columns; None: not known.
        self._joined = joined
        self._on_device = engine.on_device
        # Whether rows are returned as the engine makes them; and, from here on, with no call, which `__next__` checks.
        self._gives_dicts = self._tuples is None and as_ != "arrow"
        self._as_given = self._gives_dicts and self._torch is None and not self._on_device
        # The first row is looked at.
        self._plain = False
        self._on_end = on_end
        self._profile = profile
        self._epoch = engine.epoch
        self._shard = shard or (0, 1)
        self._given = 0
        self._closed = False
        self._final_state: bytes | Error | None = None
        self._error: Error | None = None
        if stall_warning > 0:
            stall_watch.add(engine, stall_warning)
        # Where the one who made it keeps it.
        self._kept: Kept | None = None
        # Last: after an earlier exception there is nothing for __del__ to end.
        self._engine: _engine.Iteration | None = engine

    @property
    def epoch(self) -> int:
        """The epoch that it runs."""
        return self._epoch

    @property
    def pad(self) -> Any:
        """With `as_tuple`, and ranks made even by `even="pad"`: the column `_pad` of the last batch given, which is True
        where a row fills the last round up. Elsewhere None: batches that are dicts have it themselves."""
        return None if self._tuples is None else self._tuples.pad

    def __iter__(self) -> "Self":
        if self._gives_dicts:
            self._kept = refuse_names()
        return self

    __next__ = _engine.give_next

    if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

        def __getattr__(self, name: str) -> NoReturn:
            advice = None if name.startswith("_") else iterator_advice(name)
            # Without `obj`: else Python adds a suggestion of its own, perhaps of a private name.
            raise AttributeError(f"an Iterator has no {name}{f'; {advice}' if advice else ''}", name=name)

    def _ask(self, engine: _engine.Iteration) -> None:
        """The loop asks for a row."""
        if self._calls is not None:
            self._calls.ask(engine.delivered)

    def _finish(self, engine: _engine.Iteration, row: Batch) -> Any:
        """The row in the form in which it is returned. Until then it stays in the engine: an exception here loses no row."""
        if engine.given == 0 and self._gives_dicts:
            refuse_names_of_first(self._kept)
        if engine.given == 1 and self._on_second is not None:
            self._on_second(self._epoch)
        self._plain = self._as_given and (engine.given > 0 or self._on_second is None) and self._calls is None
        made: Any = row
        if self._torch is not None:
            made = _ToTorch(self._torch).row(row)
        if self._arrow is not None:
            made = self._arrow.made(made)
        if self._on_device:
            made = DeviceBatch(made, row)
        if self._tuples is not None:
            columns = self._tuples.made(made)
            made = DeviceTuple(columns, made) if self._on_device else columns
        if self._calls is not None:
            self._calls.give()
        return made

    def _rows_of(self, batch: Any) -> int | None:
        """How many rows the last batch given joins; None where no column says."""
        return rows_in(batch) if self._tuples is None else self._tuples.rows

    def _raise_why_over(self) -> NoReturn:
        if self._closed:
            raise ClosedError("the iterator was closed; make a new one with iter(ds) or ds.iterate(…)")
        if self._error is not None:
            raise again(self._error)
        raise StopIteration

    def _without_first(self, count: int) -> "Self":
        """After so many rows, which it takes and drops before callbacks see any."""
        calls, self._calls = self._calls, None
        try:
            for _ in range(count):
                if next(self, None) is None:
                    break
        finally:
            self._calls = calls
            self._plain = self._plain and calls is None
        return self

    def state(self) -> bytes:
        """The position after the last batch given: `ds.iterate(state=…)` goes on with the next one.

        Small, and valid in another process. Raises StateError with the reason if the pipeline cannot be restored.
        """
        if self._engine is not None:
            return state_of(self._engine, self._shard)
        if isinstance(self._final_state, bytes):
            return self._final_state
        if self._final_state is not None:
            raise again(self._final_state)
        raise ClosedError("the iterator was closed; take its state before")

    def set_workers(self, operator: str, workers: int) -> None:
        """Fixes how many tasks of an operator's stage may run at once, for those that begin from now on. Rows and their
        order stay the same. It may be called from any thread, while the loop waits for a row, too; it holds until the
        iterator ends. Under executor="pull" there is one task at a time whatever is set.

        A source that reads files takes the number of reads outstanding at once, at most 64, of far files 512.

        Raises GraphError, with the names that there are, for an operator that does not run; UnsupportedError for one that
        takes its rows in order, or that calls Python in order or in processes fixed before; ClosedError after the end.

            it = iter(ds)
            it.set_workers("map[1]", 4)

        Args:
            operator: Its name in `explain()`, such as "map[1]". An operator that was fused with another still has its
                name: the number is that of their stage.
            workers: 1 or more; threads are added where there are fewer.
        """
        name = options.text("operator", operator, "set_workers")
        number = options.at_once("workers", workers, "set_workers")
        engine = self._engine
        if engine is None:
            raise ClosedError("set_workers: the iterator has ended; make a new one with iter(ds) or ds.iterate(…)")
        engine.set_workers(name, number)

    def explain(self) -> str:
        """As `Dataset.explain()`, for this run."""
        return Explanation(self._run.text() or "")

    def report(self) -> dict[str, Any]:
        """The figures behind `explain()`: the current ones, or the last ones after the end."""
        return copy.deepcopy(self._run.report()) or {}

    def close(self) -> None:
        """Ends the run: its threads stop and its memory is returned. Closing again does nothing.

        A function of yours that does not return within a second is left behind, with a warning that names it: its thread
        ends when it returns. Within such a function, `close()` does not wait for others that wait for it.
        """
        engine, self._engine = self._engine, None
        self._closed = self._closed or engine is not None or self._error is not None
        if engine is not None:
            self._given = engine.given
            self._let_go(engine, stop)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an Iterator cannot be copied or pickled, for it is one run; ds.iterate(state=it.state()) makes another that "
            "goes on from the same position"
        )

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Missing if __init__ raised.
        if getattr(self, "_engine", None) is not None:
            self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "failed" if self._error is not None else "ended"
        state = state if self._engine is None else "open"
        given = self._given if self._engine is None else self._engine.given
        return f"<headrace.Iterator of epoch {self._epoch}: {given} given, {state}>"

    def _fail(self, engine: _engine.Iteration, error: BaseException) -> None:
        """Ends the run and stays failed. Releases the engine, because the error's traceback may keep this iterator alive."""
        name_foreign_file(error)
        hint_at_arrays(error)
        self._error = again(error)
        self._keep_state(engine)
        self._engine = None
        self._let_go(engine, stop)

    def _keep_state(self, engine: _engine.Iteration) -> None:
        self._given = engine.given
        try:
            self._final_state = state_of(engine, self._shard)
        except Error as error:
            self._final_state = again(error)

    def _end(self, engine: _engine.Iteration) -> Callable[[_engine.Iteration], None] | None:
        """Returns what is to become of the engine once this thread has left it; None: it has been stopped."""
        self._keep_state(engine)
        if self._on_second is not None:
            self._on_second(self._epoch)
        # First, as others may take the engine as soon as it is let go. If it raises, the next call of next goes on here.
        if self._calls is not None:
            self._calls.end()
        if self._engine is None:  # closed by a callback
            return None
        self._engine = None
        given_on = None if self._profile is not None or engine.inherited else self._on_end
        if given_on is leave:
            return given_on
        if given_on is None:
            self._let_go(engine, self._on_end or stop)
        else:
            self._run.end(engine)
        self._run.warn()
        return given_on

    def _let_go(self, engine: _engine.Iteration, give: Callable[[_engine.Iteration], None]) -> None:
        if engine.inherited:  # In a forked child: the run, its report and its profile belong to the parent.
            stop(engine)
            return
        try:
            self._run.end(engine)
        finally:
            give(engine)
        if self._profile is not None:
            self._profile.write(engine, joined=bool(self._joined))
