"""`Runs`: how a dataset is run, epoch by epoch."""

from __future__ import annotations

import itertools
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _engine
from headrace._arguments.doubts import warn_once
from headrace._arguments.options import MOST_AT_ONCE, check_beginning, flag, memory_bytes, shown, whole
from headrace._arguments.options import device as device_name
from headrace._arguments.options import epoch as checked_epoch
from headrace._arguments.source_location import users_location
from headrace._datasets.base import PRODUCER, Base, ordered
from headrace._datasets.overlapping_parts import note_run
from headrace._datasets.run_doubts import warn_of_data, warn_of_far_rows
from headrace._graph import parameters
from headrace._graph.reference import Binding
from headrace._runs.batch_ranges import BatchRanges
from headrace._runs.error_policy import ErrorPolicy
from headrace._runs.explanation import Explanation
from headrace._runs.identity import Identity, identity_of
from headrace._runs.iterator import Iterator, Run, leave
from headrace._runs.iterator import start as start_engine
from headrace._runs.iterator import stop as stop_engine
from headrace._runs.loop_target import refuse_names
from headrace._runs.profile import ProfileFiles
from headrace._runs.run_options import RunOptions, RunParameters
from headrace.errors import GraphError, StateError, UnsupportedError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from headrace._datasets.dataset import Dataset

__all__ = ["Runs"]


# The name of rows that others make, which no reference of a graph has.
_ELSEWHERE = "rows made elsewhere"

_ENDLESS = "this dataset is endless: it repeats without a count; write repeat(count), or take(count) above"
# Operators whose rows end, whatever is below them.
_ENDING = {"take", "take_while"}


def _repeats_on(node: _engine.Node) -> bool:
    return node.op == "repeat" and node.attributes.get("count") is None


def _is_endless(nodes: list[tuple[_engine.Node, list[int]]]) -> bool:
    """Whether the last node's rows have no end, however many of them a filter leaves; each node comes with the numbers of
    its inputs, which come first."""
    endless: list[bool] = []
    for node, inputs in nodes:
        below = [endless[each] for each in inputs]
        endless.append(_repeats_on(node) or (_goes_on(node, below) and node.op not in _ENDING))
    return endless[-1]


def _goes_on(node: _engine.Node, below: list[bool]) -> bool:
    """Whether the rows of a node have no end because of its inputs, of which `below` says it."""
    stop = node.attributes.get("stop")
    if node.op == "choose":
        *inputs, choice = below
        return choice and (any(inputs) if stop == "all" else all(inputs))
    if node.op == "concat" or (node.op == "mix" and stop != "first"):
        return any(below)
    # The first input that ends is their end.
    return bool(below) and all(below)


class Runs(Base):
    """The part of a Dataset that runs it: loops, epochs and their options."""

    _epoch: int
    _last_run: Run | None
    _parked: list[_engine.Iteration]
    _shelf: _engine.CacheShelf
    _listings: _engine.FarListings
    _parked_storage: _engine.StorageTable | None
    # Each take and skip of this dataset that was run, with the first and the last of its epochs.
    _cuts_run: dict[str, tuple[int, int]]
    _warned_of_cuts: bool
    _repeated: _Repeated
    # Whether warnings about the data were given.
    _data_seen: bool
    _endings_seen: bool

    def _fill(
        self,
        node: _engine.Node,
        inputs: tuple[Dataset, ...],
        bindings: list[Binding | None],
        seed: int | None,
        on_error: ErrorPolicy | None,
    ) -> None:
        super()._fill(node, inputs, bindings, seed, on_error)
        self._epoch = 0
        self._last_run = None
        self._parked = []
        # Holds the rows of caches for the next iterator.
        self._shelf = _engine.CacheShelf()
        # What far stores said of folders and files, which are listed once.
        self._listings = _engine.FarListings()
        self._parked_storage = None
        self._cuts_run = {}
        self._warned_of_cuts = False
        self._repeated = _Repeated()
        self._data_seen = self._endings_seen = False

    def __iter__(self) -> Iterator:
        """Runs epoch `ds.epoch`, with the dataset's options."""
        gives_dicts = not self._options["as_tuple"] and self._options["as_"] != "arrow"
        kept = refuse_names() if gives_dicts else None
        epoch = self.epoch
        engine = self._take_parked()
        storage = _engine.storage_variable.get(None)
        # A running engine listed its files earlier.
        if engine is not None and (engine.epoch != epoch or self._parked_storage != storage or engine.outdated()):
            stop_engine(engine)
            engine = None
        files = self._profile_files(self._options)
        if engine is None:
            given: dict[str, Any] = {"epoch": epoch, "endless": files is None, "shelf": self._shelf}
            given["listings"] = self._listings
            given |= self._log_option() | _profiling(self._options)
            engine = start_engine(*self._bound_graph(self._options.for_engine() | given))
        self._parked_storage = storage
        _ask(engine, epoch)
        note_run(self, epoch)
        self._warn_of_data(epoch, self._options["shard"])
        # A profile is written when its engine ends.
        on_end = self._park if files is None else stop_engine
        running = self._running(engine, self._options, files, self._move_past, on_end)
        running._kept = kept
        return running

    def iterate(
        self,
        *,
        epoch: int | None = None,
        start: int | None = None,
        stop: int | None = None,
        state: bytes | None = None,
        **options: Unpack[RunParameters],
    ) -> Iterator:
        """Runs one epoch with the options given. The rows and their order are functions of the graph, the seed and the
        epoch alone; no other option changes a byte of them (`shard` chooses among them). An option that is not given, or
        None, is that of the dataset (`options`), or has its default.

        Args:
            seed: Of all random operators without a seed of their own; the default is `with_seed`'s, else 0.
            epoch: Which epoch; None: `ds.epoch`, which stays as it is. So a loop over epochs passes it, or loops over the
                dataset itself, which takes the next epoch each time.
            start: How many batches (without `batch`, rows) of the epoch to leave out: it goes on with batch `start`,
                counted from 0, as a run from the epoch's start would. Where a batch's number says which rows it has, they
                are not made; else they are, before this returns. Not with `state`.
            stop: The number of the batch (without `batch`, of the row) before which it ends, where the epoch has so many:
                `start=a, stop=b` gives batches a to b - 1 as a run of the whole epoch does, and makes no others.
                UnsupportedError, naming the operator, where a batch's number does not say which rows it has. Not with
                `state`.
            shard: (rank, world): this process's part of the rows; the default is all of them.
            even: How all ranks get the same number of rows: "off", they may differ; "drop", without the rows of the
                last round; "pad", with rows from the start, marked in the column `_pad`; the default is the state's,
                else "off".
            state: From `Iterator.state()`: goes on with the row after it, and moves `ds.epoch` past its epoch.
            as_: "numpy" (the default), "torch" (tensors), or "dlpack" (objects for any library's `from_dlpack`). Bytes
                and texts are NumPy object arrays under each of these. Or "arrow": each batch is a `pyarrow.RecordBatch`,
                or, where pyarrow is not installed, an object with `__arrow_c_array__` for any library of columns.
            as_tuple: Rows and batches as tuples of their columns, for `for images, labels in …`: True gives all in the order
                of the schema, without `_pad`, which stays at the iterator's `pad`; or a list of names. By default dicts.
            bytes_as: How byte strings are given: "bytes" (the default), or "memoryview": a read-only view of the memory
                they were read into, which saves a copy and keeps that memory alive.
            optimize: Whether passes may rewrite the graph, by default True; results are the same.
            executor: "threads" (the default), or "pull": every operator runs on this thread.
            workers: The most tasks of a stage at once, up to 1,048,576; by default the engine chooses.
            window: Messages that may wait between stages, up to 1,048,576; by default the engine chooses.
            group: Rows per message, up to 1,048,576, for sources whose rows may travel together; by default the engine
                chooses by the cost of a row.
            memory: The budget: bytes, or a text such as "64MiB"; the default is "2GiB".
            cache: A folder for the automatic cache: rows that are slow to make and the same in each epoch, for later
                epochs and runs; by default such rows are kept only in memory, and only if several epochs are run.
            device: Where batches end, such as "cpu:0", as `to_device` says; by default in host memory.
            device_depth: Batches that may be on the device ahead of the loop, by default 3.
            device_memory: What batches may take of the device's memory: bytes, or a text such as "4GiB".
            disabled_passes: Names of passes to leave out (`headrace passes` lists them).
            stall_warning: Prints the running tasks on stderr when no row was delivered for so many seconds, by default
                60; 0: never, and never with executor="pull".
            profile: Where to write a profile of this run, as `profile()` does; by default none is made.
            profile_events: The most tasks per thread in a profile, of about 60 bytes each, by default 65,536.
            callbacks: Objects of `headrace.Callback`, called on this thread where the loop's epoch and batches begin and
                end; by default none. They change no row.
            storage: How far stores are reached, by scheme or the beginning of URLs, as `headrace.storage` describes it:
                {"s3": {"endpoint": "https://minio.lan:9000"}}; its settings hold over those of a `with hr.storage(…)`.
        """
        given = {name: value for name, value in options.items() if value is not None}
        chosen = self._options.changed(given, "iterate")
        if stop is not None:
            return self._range(start, stop, self.epoch if epoch is None else epoch, state, chosen)
        if start is not None:
            return self._from_batch(start, self.epoch if epoch is None else epoch, state, chosen)
        return self._iterate(epoch, state, chosen, given)

    def _warn_of_data(self, epoch: int, shard: tuple[int, int] | None) -> None:
        warn_of_far_rows(self, (shard or (0, 1))[1])
        # At the first run, as the data are seldom others at the next.
        if not self._data_seen:
            self._data_seen = True
            warn_of_data(self, epoch)

    def _from_batch(self, start: Any, epoch: Any, state: bytes | None, chosen: RunOptions) -> Iterator:
        check_beginning(start, state, "iterate")
        batches, epoch = whole("start", start), checked_epoch(epoch, "iterate")
        if batches == 0:
            return self._iterate(epoch, None, chosen, None)
        try:
            return self._iterate(epoch, None, chosen, None, batches)
        except StateError:
            return self._iterate(epoch, None, chosen, None)._without_first(batches)

    def _range(self, start: Any, stop: Any, epoch: Any, state: bytes | None, chosen: RunOptions) -> Iterator:
        if state is not None:
            raise GraphError(
                "iterate: give stop or state, not both: leave the loop where it has as many batches as wanted"
            )
        first = 0 if start is None else whole("start", start, of="iterate")
        end = whole("stop", stop, of="iterate")
        return self._iterate(checked_epoch(epoch, "iterate"), None, chosen, None, first, end)

    def _batch_ranges(self, *, epoch: int | None = None, **options: Unpack[RunParameters]) -> BatchRanges:
        """Makes ranges of the batches of an epoch in one run, which opens and lists its data once. The options are those of
        `iterate`, except for those of a loop (callbacks, profile) and of a device. Errors as those of `iterate(stop=)`."""
        given = {name: value for name, value in options.items() if value is not None}
        chosen = self._options.changed({"callbacks": None, "profile": None, "device": None} | given, "iterate")
        for name in ("callbacks", "profile", "device"):
            if name in chosen:
                raise UnsupportedError(f"{name} is of a loop over batches, not of ranges that are made for one")
        asked: dict[str, Any] = {"ranges": True, "shelf": self._shelf, "listings": self._listings}
        asked["epoch"] = self.epoch if epoch is None else checked_epoch(epoch, "iterate")
        asked |= self._log_option()
        engine = start_engine(*self._bound_graph(chosen.for_engine() | asked))
        try:
            parameters.freeze(engine, engine.epoch)
            self._warn_of_data(engine.epoch, chosen["shard"])
            note_run(self, engine.epoch)
            identity = identity_of(engine, PRODUCER)
            run = Run(engine, chosen.text())

            def begin() -> Iterator:
                return self._running(engine, chosen, None, None, leave, run)

            return BatchRanges(engine, identity, run, begin)
        except BaseException:
            stop_engine(engine)
            raise

    def _identity(self) -> Identity:
        """Of its runs with its options, in whatever epoch. It opens the data, and makes no row."""
        engine = self._at_rest({})
        try:
            return identity_of(engine, PRODUCER)
        finally:
            stop_engine(engine)

    def _barrier(self, refused: UnsupportedError | None = None) -> Barrier:
        """Where batches end to be found by their numbers. UnsupportedError where there are no numbers at all. It opens the
        data, and makes no row. `refused`: why there are none, where that is known.

        With on_error("skip") batches have no numbers, but rows below them have, those that fail among them: the parts end
        at an error."""
        refused = refused or self._without_ranges()
        numbered: Dataset = self._copy()
        error = refused
        if self._skips:
            numbered._on_error = None
            error = numbered._without_ranges()
        below = numbered
        while error is not None:
            refused = refused or error
            if len(below._inputs) != 1:
                raise refused from None
            below = numbered._as_here(below._inputs[0])
            error = below._without_ranges()
        rows = below
        while rows._joins_rows() is not False:
            rows = numbered._as_here(rows._inputs[0])
        return Barrier(below, rows, refused)

    @property
    def _skips(self) -> bool:
        return self._on_error is not None and self._on_error.skips

    def _without_ranges(self) -> UnsupportedError | None:
        """Why its batches, or rows, are not found by their numbers; None: they are."""
        try:
            stop_engine(self._at_rest({"ranges": True}))
        except UnsupportedError as error:
            return error
        return None

    def _iterate_over(
        self,
        rows: Any,
        *,
        barrier: Barrier | None = None,
        epoch: int | None = None,
        state: bytes | None = None,
        **options: Unpack[RunParameters],
    ) -> Iterator:
        """As `iterate`, where others make the rows of `_barrier().rows` of this epoch, and what stands above them runs here:
        the bytes, the states and their identities are those of `iterate`. `rows` is asked for them in the order of their
        positions in the epoch of all ranks, by `rows.__getitems__(positions, epoch)`, and gives each as a dict: one at a
        time, but several where a batch that is delivered only when complete joins them. It has their number as its
        length. If it raises for several, they are asked for one by one. An `Error` that it raises for one is that of the
        row, which on_error("skip") leaves out; another exception is the cause of a FunctionError.

        `epoch` is that of the rows: below `repeat` and `cache` it may be another than the run's. With even="pad" the
        positions after the last one are of rows that are given again, with draws of their own.

        `barrier` is that of this dataset, which opens its data, if the caller has it."""
        given = {name: value for name, value in options.items() if value is not None} | {"optimize": False}
        chosen = self._options.changed(given, "iterate")
        made = ("rows made elsewhere", rows, list((barrier or self._barrier()).rows.schema))
        return self._iterate(epoch, state, chosen, None, made=made)

    def _as_here(self, part: Dataset) -> Dataset:
        """A dataset below, with the seed, the options and what is to be done with errors that hold here."""
        copy = part._copy()
        copy._seed, copy._on_error, copy._options = self._seed, self._on_error, self._options
        return copy

    def _at_rest(self, asked: dict[str, Any]) -> _engine.Iteration:
        """An engine that has opened its data, and makes rows only on the thread that asks for them."""
        options = self._options.changed({"device": None}, "options").for_engine()
        asked = {"epoch": self.epoch, "listings": self._listings} | asked
        return start_engine(*self._bound_graph(options | asked | {"pull": True}))

    def _first_rows(self, count: int) -> list[dict[str, Any]]:
        """Of the dataset's epoch, as dicts."""
        plain = {"callbacks": None, "profile": None, "device": None, "as_tuple": None, "executor": "pull"}
        kept = {} if self._options["as_"] != "arrow" else {"as_": None}
        return self._given_rows(self._options.changed(plain | kept, "head"), None, count)

    def _run_from(self, first: int, count: int) -> list[Any]:
        """So many rows of the dataset's epoch; StateError, with the reason, where those before would have to be made."""
        return self._given_rows(self._options.changed({"callbacks": None, "profile": None}, "options"), first, count)

    def _given_rows(self, chosen: RunOptions, first: int | None, count: int) -> list[Any]:
        # Of the loop before, which reports are about.
        last_run = self._last_run
        try:
            with self._iterate(self.epoch, None, chosen, None, first) as running:
                return list(itertools.islice(running, count))
        finally:
            self._last_run = last_run

    def _iterate(
        self,
        epoch: int | None,
        state: bytes | None,
        chosen: RunOptions,
        given: Mapping[str, Any] | None,
        start_at: int | None = None,
        end_at: int | None = None,
        made: Binding | None = None,
    ) -> Iterator:
        """`given`: to note that the same run is made again and again; None: it is not noted, nor is `ds.epoch` moved.
        `start_at`: the first row; StateError where those before it would have to be made. `end_at`: the row after the
        last; UnsupportedError where rows are not found by their numbers. `made`: rows that others make."""
        asked: dict[str, Any] = {"epoch": self.epoch if epoch is None else checked_epoch(epoch, "iterate")}
        if start_at is not None:
            asked["start"] = start_at
        if end_at is not None:
            asked["stop"] = end_at
        held: dict[str, str] = {}
        if state is not None:
            if not isinstance(state, (bytes, bytearray, memoryview)):
                raise GraphError("iterate: state must be the bytes that Iterator.state() gave")
            # To the engine, empty bytes mean that there is no state.
            if not state:
                raise StateError("this is not a state that Headrace took, or it is damaged (0 bytes)")
            asked["state"], held = parameters.opened(bytes(state))
        files = self._profile_files(chosen)
        asked |= {"shelf": self._shelf, "listings": self._listings} | self._log_option() | _profiling(chosen)
        if made is not None:
            asked["rows_elsewhere"] = _ELSEWHERE
        graph, given_options, references = self._bound_graph(chosen.for_engine() | asked)
        if made is not None:
            references[_ELSEWHERE] = made
        with parameters.restored(held, parameters.of_bindings(references.values()), chosen["shard"] or (0, 1)):
            engine = start_engine(graph, given_options, references)
            if state is not None and epoch is not None and epoch != engine.epoch:
                stop_engine(engine)
                raise StateError(f"the state was taken in epoch {engine.epoch}, not {epoch}; leave the epoch out")
            _ask(engine, engine.epoch)
        self._warn_of_data(engine.epoch, chosen["shard"])
        if state is not None and given is not None:
            self._epoch = engine.epoch + 1
        note_run(self, engine.epoch)
        on_end = None
        if epoch is None and state is None and given is not None:
            on_end = self._repeated.at_end(engine.epoch, given, self._graph().draws)
        return self._running(engine, chosen, files, None, on_end)

    def options(self, **options: Unpack[RunParameters]) -> Dataset:
        """The same pipeline with options for its runs: those of `iterate`, which describes them, but epoch and state.

        They hold for `for batch in ds`, which advances the epoch and keeps caches from one epoch to the next, for
        `iterate`, whose own arguments win, and for datasets made of this one. Given again, the later value holds; None
        gives an option back its default. They belong to the process, not to the graph: `save` leaves them out. Datasets
        that are joined must not have different values of one option.

            train = train.options(as_="torch", shard=(rank, world))
            for epoch in range(10):
                for batch in train:
                    ...

        With `profile`, the profile of each epoch replaces the one before.
        """
        copy = self._copy()
        copy._options = self._options.changed(options, "options", users_location())
        return copy

    def to_device(self, device: str, depth: int = 3, memory: int | str | None = None) -> Dataset:
        """The same pipeline, whose batches are on a device when the loop takes them: short for
        `options(device=…, device_depth=…, device_memory=…)`, which the graph does not hold either.

        A thread of its own copies batches to the device while the loop works on those before, and keeps `depth` of them
        ahead. Columns of numbers go to the device; bytes and texts stay NumPy object arrays. The memory of a batch is used
        again once nothing holds its tensors. Order, epochs, errors and `state()` are those of the loop.

            for batch in train.to_device("cpu:0", depth=3):
                ...

        Args:
            device: "cuda:0", and so on: an NVIDIA GPU, with as_="torch" or as_="dlpack". "cpu:0" is host memory:
                every part of this works with it on any machine.
            depth: Batches that are on the device, or on their way, ahead of the loop.
            memory: The most that batches may take there, those that the loop keeps included: bytes, or a text such as
                "4GiB"; the default is a quarter of what a GPU has free, "2GiB" on the host. If the loop keeps so many
                that the next one does not fit, it is a ResourceError.
        """
        name = device_name("device", device, "to_device")
        whole("depth", depth, 1, "to_device", MOST_AT_ONCE)
        if memory is not None:
            memory_bytes(memory, "to_device")
        return self.options(device=name, device_depth=depth, device_memory=memory)

    def profile(self, path: str | os.PathLike[str], **options: Any) -> Iterator:
        """Runs one epoch as `iterate(**options)` does and records where its time goes.

        When the iterator ends or is closed, there is a trace for https://ui.perfetto.dev or chrome://tracing (a track
        for each thread and each connector), and a page with the tree, times, waits, queues over time and advice.

            with ds.profile("out") as batches:
                for batch in batches:
                    ...

        Args:
            path: A folder, for `trace.json` and `report.html`; or a name that ends in .json or .html, for both files.
            options: Those of `iterate`. `profile_events` bounds the memory: further tasks of a thread are counted, but
                missing from the trace.
        """
        return self.iterate(profile=path, **options)

    def __len__(self) -> int:
        """The number of rows (after `batch`: batches) of an epoch, with the dataset's options: under `shard`, those of
        its rank. TypeError if it is known only after a run. Where a sampler of yours gives epochs of different sizes, the
        number is that of `ds.epoch`.

        With `on_error("skip")` it is the most that there can be.
        """
        count = self._count()
        if count is None:
            raise TypeError(
                f"how many rows this dataset gives shows only in running it, because of {self._without_count()}; count "
                "them in a loop, sum(1 for _ in dataset), or take the length of the dataset below that"
            )
        if count < 0:
            raise TypeError(_ENDLESS)
        if count > sys.maxsize:
            raise UnsupportedError(f"len: an epoch has {count} rows, more than Python's len() can give")
        return count

    def _finite_count(self, of: str) -> int | None:
        """For what reads all rows, by its name; None: not known without a run."""
        count = self._count()
        if count is not None and count < 0:
            raise GraphError(f"{of}: {_ENDLESS}")
        return count

    def _refuse_endless(self, of: str) -> None:
        """For what would read rows until the disk is full, by its name. Counts only what repeats without a count."""
        nodes, _ = ordered(self)
        if not any(_repeats_on(node) for node, _ in nodes):
            return
        if self._finite_count(of) is None and _is_endless(nodes):
            raise GraphError(f"{of}: {_ENDLESS}")

    def _count(self) -> int | None:
        """As `len`; None: known only after a run; negative: endless."""
        options = self._options.for_engine() | {"epoch": self.epoch, "listings": self._listings}
        return _engine.count(*self._bound_graph(options))

    def _without_count(self) -> str:
        """The operator because of which `len` is not known, with its line, where the numbers of rows below are."""
        options = self._options.for_engine() | {"epoch": self.epoch, "listings": self._listings}
        culprit: Base = self
        while True:
            below = next((each for each in culprit._inputs if _engine.count(*each._bound_graph(options)) is None), None)
            if below is None:
                return culprit._node.op
            culprit = below

    def __bool__(self) -> bool:
        return True

    def explain(self, passes: bool = False) -> str:
        """The plan: stages, workers, memory. After a run also times, waits, and the bottleneck.

        Args:
            passes: Show the graph before and after every pass of the optimizer instead.
        """
        passes = flag("passes", passes, "explain")
        text = None if passes or self._last_run is None else self._last_run.text()
        if text is not None:
            return Explanation(text)
        given = self._options.for_engine() | {"epoch": self.epoch, "endless": True, "listings": self._listings}
        graph, given, references = self._bound_graph(given)
        return Explanation(self._options.text() + _engine.explain(graph, given, references, passes))

    # ---- epochs ----

    @property
    def epoch(self) -> int:
        """The epoch that `iter(ds)` runs next. The second batch of a loop advances it; it may be set."""
        return self._epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._epoch = checked_epoch(epoch, "Dataset")

    def _move_past(self, epoch: int) -> None:
        # Makes no call in between, where another thread could advance it.
        if self._epoch <= epoch:
            self._epoch = epoch + 1

    # ---- runs ----

    def _running(
        self,
        engine: _engine.Iteration,
        chosen: RunOptions,
        files: ProfileFiles | None,
        on_second: Callable[[int], None] | None,
        on_end: Callable[[_engine.Iteration], None] | None,
        run: Run | None = None,
    ) -> Iterator:
        """`run`: of which the iterator is a part, and with it the report."""
        # With executor="pull" there is only the loop's own thread.
        watched_s = 0.0 if chosen["executor"] == "pull" else chosen["stall_warning"]
        heading, callbacks = chosen.text(), chosen["callbacks"]
        joined, shard = self._joins_rows(), chosen["shard"]
        iterator = Iterator(
            engine,
            chosen["as_"],
            watched_s,
            on_second,
            on_end,
            files,
            heading,
            callbacks,
            joined,
            shard,
            chosen["as_tuple"],
        )
        iterator._run = run or iterator._run
        self._last_run = iterator._run
        return iterator

    def _joins_rows(self) -> bool | None:
        """Whether its rows are batches; None: not known, as steps above a batch may change its axes."""
        dataset, changed = self, False
        while not (dataset._node.joins_rows or dataset._node.splits_rows):
            if not dataset._inputs:
                return False
            changed = changed or bool(dataset._node.steps)
            dataset = dataset._inputs[0]
        return None if changed and dataset._node.joins_rows else dataset._node.joins_rows

    @staticmethod
    def _profile_files(chosen: RunOptions) -> ProfileFiles | None:
        if chosen["profile"] is None:
            return None
        files = ProfileFiles(chosen["profile"], chosen["storage"])
        files.check()
        return files

    def _park(self, engine: _engine.Iteration) -> None:
        """Keeps the engine of a finished iterator for the next one, as it has run ahead."""
        self._drop_parked()
        # What was set belongs to the iterator that ended.
        engine.reset_workers()
        self._parked.append(engine)

    def _drop_parked(self) -> None:
        while (engine := self._take_parked()) is not None:
            stop_engine(engine)

    def _take_parked(self) -> _engine.Iteration | None:
        """Hands the kept engine to one caller only, as several threads may loop over one dataset."""
        try:
            return self._parked.pop()
        except IndexError:
            return None

    def _log_option(self) -> dict[str, bytes]:
        log = None if self._on_error is None else self._on_error.log
        return {} if log is None else {"failed_rows_log": os.fsencode(log)}


class Barrier(NamedTuple):
    """Where batches of a dataset end to be found by their numbers."""

    below: Dataset
    """The largest part of it with such numbers, of batches or of rows, if each error ended the run; the dataset itself, if
    it has them."""
    rows: Dataset
    """The largest part of that which has rows, not batches: others may make them for `_iterate_over`."""
    refused: UnsupportedError | None
    """Why the dataset has none: it names the operator that stands in the way. None: it has them."""


class _Repeated:
    """Counts runs of `iterate` to the end of the same epoch with the same arguments: a loop over epochs that does not pass
    them on. It warns once for a dataset, at the third: a test of equal results runs an epoch twice."""

    MOST = 3

    def __init__(self) -> None:
        self._run: tuple[Any, ...] = ()
        self._count = 0
        self._said = False

    def at_end(self, epoch: int, given: Mapping[str, Any], draws: bool) -> Callable[[_engine.Iteration], None]:
        run = (epoch, tuple((name, shown(value)) for name, value in given.items()))
        # The iterator must not keep the dataset alive.
        counted = weakref.ref(self)

        def end(engine: _engine.Iteration) -> None:
            stop_engine(engine)
            repeated = counted()
            if repeated is not None and draws:
                repeated._note(run)

        return end

    def _note(self, run: tuple[Any, ...]) -> None:
        if run != self._run:
            self._run, self._count = run, 0
        self._count += 1
        if self._count < self.MOST or self._said:
            return
        self._said = True
        text = (
            f"iterate() has given epoch {run[0]} {self.MOST} times, in the same order and with the same draws: pass the "
            "epoch, iterate(epoch=epoch), or keep the options with the dataset, ds = ds.options(…), and write "
            "`for batch in ds`, which takes the next epoch each time"
        )
        warn_once(text, users_location())


def _profiling(chosen: RunOptions) -> dict[str, int]:
    return {} if chosen["profile"] is None else {"profile": chosen["profile_events"]}


def _ask(engine: _engine.Iteration, epoch: int) -> None:
    """Asks for an epoch with the values that parameters have in it. If one cannot be made, the run ends."""
    try:
        parameters.freeze(engine, epoch)
        engine.ask(epoch)
    except BaseException:
        stop_engine(engine)
        raise
