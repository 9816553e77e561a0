"""Datasets: how pipelines are written and run."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from headrace import _engine, error_policy, options, reference
from headrace.doubts import location_of, warn_once
from headrace.error_policy import ErrorPolicy
from headrace.errors import GraphError, StateError
from headrace.iterator import Iterator, Run, start, stop
from headrace.methods import Methods
from headrace.other_libraries import advise, method_advice
from headrace.parts import note_run
from headrace.profile import ProfileFiles
from headrace.reference import Binding, Bound
from headrace.source_location import users_location
from headrace.system_error import system_error
from headrace.whole_file import write_whole

__all__ = ["ColumnType", "Dataset", "load"]

PRODUCER = "headrace 0.1.0"


class ColumnType(NamedTuple):
    """What is known of a column before anything runs."""

    dtype: str
    """NumPy's name; `bytes` and `string` for variable length, `unknown` for the results of a Python function."""
    shape: tuple[int | None, ...] | None
    """A dimension that may differ from row to row is None; the shape is None if the rank is unknown."""


@advise
class Dataset(Methods):
    """A pipeline: a source of rows and the operators on them. Made by a source such as `headrace.ImageFolder`; every
    method returns a new dataset and leaves its own unchanged. Nothing is read and no mistake is reported before the
    dataset is run or its schema is used: then all mistakes are reported at once, with their lines in the script.

    Attributes:
        epoch: The epoch that `iter(ds)` runs next. The second batch of a loop advances it, so that a loop left early is
            not repeated; it may be set.
    """

    _epoch: int
    _node: _engine.Node
    _inputs: "tuple[Dataset, ...]"
    _bindings: list[Binding | None]
    _seed: int | None
    _on_error: ErrorPolicy | None
    _last_run: Run | None
    _parked: list[_engine.Iteration]
    _built: _engine.Graph | None
    _shelf: _engine.CacheShelf
    # Each take and skip of this dataset that was run, with the first and the last of its epochs.
    _cuts_run: dict[str, tuple[int, int]]
    _warned_of_cuts: bool

    def __init__(self) -> None:
        raise TypeError(
            "a Dataset is made by a source, such as headrace.ImageFolder(…), headrace.Range(…) or headrace.load(…)"
        )

    # ---- running ----

    def __iter__(self) -> Iterator:
        """Runs epoch `ds.epoch` with every option left to the engine."""
        epoch = self.epoch
        engine = self._take_parked()
        # A running engine listed its files earlier.
        if engine is not None and (engine.epoch != epoch or engine.outdated()):
            stop(engine)
            engine = None
        if engine is None:
            given = {"epoch": epoch, "endless": True, "shelf": self._shelf, **self._log_option()}
            engine = start(*self._bound_graph(given))
        engine.ask(epoch)
        note_run(self, epoch)
        return self._running(Iterator(engine, "numpy", 60.0, on_second=self._move_past, on_end=self._park))

    def iterate(
        self,
        *,
        seed: int | None = None,
        epoch: int | None = None,
        shard: tuple[int, int] | None = None,
        even: str | None = None,
        state: bytes | None = None,
        as_: str = "numpy",
        bytes_as: str = "bytes",
        optimize: bool = True,
        executor: str = "threads",
        workers: int | None = None,
        window: int | None = None,
        group: int | None = None,
        memory: int | str = "2GiB",
        cache: str | os.PathLike[str] | None = None,
        disabled_passes: Sequence[str] = (),
        stall_warning: float = 60.0,
        profile: str | os.PathLike[str] | None = None,
        profile_events: int = 65536,
    ) -> Iterator:
        """Runs one epoch with the options given. The rows and their order are functions of the graph, the seed and the
        epoch alone; no other option changes a byte of them (`shard` chooses among them).

        Args:
            seed: Of all random operators without a seed of their own; None: `with_seed`'s, else 0.
            epoch: Which epoch; None: `ds.epoch`, which stays as it is.
            shard: (rank, world): this process's part of the rows.
            even: How all ranks get the same number of rows: "off", they may differ; "drop", without the rows of the
                last round; "pad", with rows from the start, marked in the column `_pad`; None: the state's, else "off".
            state: From `Iterator.state()`: goes on with the row after it, and moves `ds.epoch` past its epoch.
            as_: "numpy", "torch" (tensors), or "dlpack" (objects for any library's `from_dlpack`). Bytes and texts are
                NumPy object arrays under each.
            bytes_as: How byte strings are given: "bytes", or "memoryview": a read-only view of the memory they were
                read into, which saves a copy and keeps that memory alive.
            optimize: Whether passes may rewrite the graph; results are the same.
            executor: "threads", or "pull": every operator runs on this thread.
            workers: The most tasks of a stage at once, up to 1,048,576; None: the engine chooses.
            window: Messages that may wait between stages, up to 1,048,576; None: the engine chooses.
            group: Rows per message, up to 1,048,576, for sources whose rows may travel together; None: the engine
                chooses by the cost of a row.
            memory: The budget: bytes, or a text such as "64MiB".
            cache: A folder for the automatic cache: rows that are slow to make and the same in each epoch, for later
                epochs and runs; None: such rows are kept only in memory, and only if several epochs are run.
            disabled_passes: Names of passes to leave out (`headrace passes` lists them).
            stall_warning: Prints the running tasks on stderr when no row was delivered for so many seconds; 0: never,
                and never with executor="pull".
            profile: Where to write a profile of this run, as `profile()` does; None: no profile.
            profile_events: The most tasks per thread in a profile, of about 60 bytes each.
        """
        options.choice("as_", as_, ("numpy", "torch", "dlpack"))
        stall_warning = options.seconds("stall_warning", stall_warning)
        given: dict[str, Any] = {
            "epoch": self.epoch if epoch is None else options.epoch(epoch, "iterate"),
            "optimize": options.flag("optimize", optimize),
            "lend": as_ != "numpy",
            "view_bytes": options.choice("bytes_as", bytes_as, ("bytes", "memoryview")) == "memoryview",
            "pull": options.choice("executor", executor, ("threads", "pull")) == "pull",
            "memory": options.memory_bytes(memory),
            "disabled_passes": options.texts("disabled_passes", disabled_passes, "iterate"),
            **options.shard_options(shard),
            **self._log_option(),
            "shelf": self._shelf,
        }
        if cache is not None:
            given["cache_folder"] = os.fsencode(options.path("cache", cache, "iterate"))
        if even is not None:
            given["even"] = options.choice("even", even, ("off", "drop", "pad"))
        if seed is not None:
            given["seed"] = options.whole("seed", seed)
        if workers is not None:
            given["workers"] = options.whole("workers", workers, 1, most=options.MOST_AT_ONCE)
        if window is not None:
            given["window"] = options.whole("window", window, 1, most=options.MOST_AT_ONCE)
        if group is not None:
            given["group"] = options.whole("group", group, 1, most=options.MOST_AT_ONCE)
        if state is not None:
            if not isinstance(state, (bytes, bytearray, memoryview)) or not state:
                raise GraphError("iterate: state must be the bytes that Iterator.state() gave")
            given["state"] = bytes(state)
        files = None if profile is None else ProfileFiles(profile)
        if files is not None:
            given["profile"] = options.whole("profile_events", profile_events, 1)
            files.check()
        engine = start(*self._bound_graph(given))
        if state is not None:
            if epoch is not None and epoch != engine.epoch:
                raise StateError(f"the state was taken in epoch {engine.epoch}, not {epoch}; leave the epoch out")
            self._epoch = engine.epoch + 1
        engine.ask(engine.epoch)
        note_run(self, engine.epoch)
        # There is only the loop's own thread.
        watched_s = 0.0 if given["pull"] else stall_warning
        return self._running(Iterator(engine, as_, watched_s, on_second=None, on_end=None, profile=files))

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

    if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

        def __getattr__(self, name: str) -> NoReturn:
            advice = method_advice(name)
            text = f"a Dataset has no {name}" + ("" if advice is None else f"; {advice}")
            raise AttributeError(text, name=name, obj=self)

    def __len__(self) -> int:
        """The number of rows (after `batch`: batches) of an epoch. TypeError if it is known only after a run.

        With `on_error("skip")` it is the most that there can be.
        """
        count = _engine.count(*self._bound_graph())
        if count is None:
            raise TypeError("how many rows this dataset gives shows only in running it")
        if count < 0:
            raise TypeError("this dataset is endless: it repeats without a count")
        return count

    def __bool__(self) -> bool:
        return True

    # ---- looking at it ----

    @property
    def schema(self) -> dict[str, ColumnType]:
        """The columns of the result with their types, known before anything runs."""
        return {name: ColumnType(dtype, shape) for name, dtype, shape in self._graph().schema()}

    def explain(self, passes: bool = False) -> str:
        """The plan: stages, workers, memory. After a run also times, waits, and the bottleneck.

        Args:
            passes: Show the graph before and after every pass of the optimizer instead.
        """
        passes = options.flag("passes", passes, "explain")
        text = None if passes or self._last_run is None else self._last_run.text()
        if text is not None:
            return text
        graph, given, references = self._bound_graph({"epoch": self.epoch, "endless": True})
        return _engine.explain(graph, given, references, passes)

    def to_dot(self) -> str:
        """The graph for Graphviz: `dot -Tsvg`."""
        return self._graph().dot()

    def to_json(self) -> str:
        """The graph as JSON."""
        return self._graph().json()

    def to_text(self) -> str:
        """The graph as protobuf's text form."""
        return self._graph().text()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph to a file for `headrace.load`. Python functions and arrays are not in it, only their names.

        An existing file is replaced once the new one is completely on the disk, and kept if writing fails.
        """
        path = options.path("path", path, "save")
        graph = self._graph()
        graph.validate()
        data = graph.serialize()
        try:
            write_whole(path, data)
        except OSError as error:
            raise system_error(f"cannot save to {path}", error) from error

    def __repr__(self) -> str:
        chain = " → ".join(node.op for node, _ in _ordered(self)[0] if not node.of_attribute)
        return f"<headrace.Dataset {chain}>"

    # ---- making it ----

    def with_seed(self, seed: int) -> "Dataset":
        """The same pipeline with another seed for its random operators; `iterate(seed=)` takes precedence."""
        copy = self._copy()
        copy._seed = options.whole("seed", seed)
        return copy

    def on_error(
        self,
        policy: Literal["raise", "skip"],
        max_errors: int = error_policy.MAX_ERRORS,
        *,
        log: str | os.PathLike[str] | None = None,
    ) -> "Dataset":
        """The same pipeline with another effect of rows that fail. It holds for the whole pipeline, wherever it is set.

        A row fails by a DataError, a NotFoundError or a FunctionError of its own. Errors of resources, types, batches and
        the disk end the iteration under either policy. `explain()` and `Iterator.report()` name the rows left out.

        Args:
            policy: "raise": the first row that fails ends the iteration, after the complete batches before it. "skip":
                such rows are left out, and batches are filled with the rows behind them.
            max_errors: The most rows that may be left out in an epoch, on each rank; one more raises its error.
            log: A file that gets one JSON line for each row left out, at its end: epoch, key, record, file, offset,
                operator, kind and message; None: no file. Not part of the graph.
        """
        copy = self._copy()
        copy._on_error = error_policy.given(policy, max_errors, log)
        return copy

    def _log_option(self) -> dict[str, bytes]:
        log = None if self._on_error is None else self._on_error.log
        return {} if log is None else {"failed_rows_log": os.fsencode(log)}

    def _begin(self, op: str, attributes: dict[str, Any]) -> None:
        """As a source."""
        self._set(op, attributes, (), [], None, None)

    def _append(
        self,
        op: str,
        attributes: dict[str, Any],
        others: "Sequence[Dataset]" = (),
        steps: Sequence[Any] = (),
        step_bindings: Sequence[Binding] = (),
    ) -> "Dataset":
        inputs = (self, *others)
        for other in inputs:
            if not isinstance(other, Dataset):
                raise GraphError(f"{op} takes datasets, not {options.shown(other)}")
        seed = next((dataset._seed for dataset in inputs if dataset._seed is not None), None)
        on_error = error_policy.joined(op, (dataset._on_error for dataset in inputs))
        dataset = object.__new__(Dataset)
        dataset._set(op, attributes, inputs, steps, seed, on_error, step_bindings)
        return dataset

    def _set(
        self,
        op: str,
        attributes: dict[str, Any],
        inputs: "tuple[Dataset, ...]",
        steps: Sequence[Any],
        seed: int | None,
        on_error: ErrorPolicy | None,
        step_bindings: Sequence[Binding] = (),
    ) -> None:
        bound = [value for value in attributes.values() if isinstance(value, Bound)]
        plain = {name: _plain(value) for name, value in attributes.items()}
        node = _engine.Node(op, plain, list(steps), users_location())
        self._fill(node, inputs, [*(value.binding for value in bound), *step_bindings], seed, on_error)

    def _fill(
        self,
        node: _engine.Node,
        inputs: "tuple[Dataset, ...]",
        bindings: "list[Binding | None]",
        seed: int | None,
        on_error: ErrorPolicy | None,
    ) -> None:
        self._node = node
        self._inputs = inputs
        self._bindings = bindings
        self._seed = seed
        self._on_error = on_error
        self._epoch = 0
        self._last_run = None
        self._parked = []
        self._built = None
        # Holds the rows of caches for the next iterator.
        self._shelf = _engine.CacheShelf()
        self._cuts_run = {}
        self._warned_of_cuts = False

    def _copy(self) -> "Dataset":
        copy = object.__new__(Dataset)
        copy._fill(self._node, self._inputs, self._bindings, self._seed, self._on_error)
        return copy

    def __copy__(self) -> "Dataset":
        return self._copy()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Dataset cannot be pickled or copied deeply; save it to a file, or build it again in the other process"
        )

    def _graph(self) -> _engine.Graph:
        if self._built is None:
            policy = self._on_error
            max_errors = policy.max_errors if policy is not None and policy.skips else None
            built = _engine.Graph(_ordered(self)[0], self._seed, PRODUCER, max_errors)
            for location, message in built.doubts():
                warn_once(message, location_of(location))
            self._built = built
        return self._built

    def _bound_graph(self, *given: dict[str, Any]) -> tuple[Any, ...]:
        """The graph, `given`, and the objects of its references."""
        graph = self._graph()
        bindings = [binding for dataset in _ordered(self)[1] for binding in dataset._bindings]
        pairs = list(zip(graph.references, bindings, strict=True))
        missing = [name for name, binding in pairs if binding is None]
        if missing:
            listed = ", ".join(missing)
            raise GraphError(
                f"the graph names Python functions or arrays that are not in the file: {listed}; "
                f"give them: headrace.load(path, references={{{missing[0]!r}: …}})"
            )
        return (graph, *given, dict(pairs))

    # ---- epochs ----

    @property
    def epoch(self) -> int:
        """The epoch that `iter(ds)` runs next. The second batch of a loop advances it; it may be set."""
        return self._epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._epoch = options.epoch(epoch, "Dataset")

    def _move_past(self, epoch: int) -> None:
        # Makes no call in between, where another thread could advance it.
        if self._epoch <= epoch:
            self._epoch = epoch + 1

    def _running(self, iterator: Iterator) -> Iterator:
        self._last_run = iterator._run
        return iterator

    def _park(self, engine: _engine.Iteration) -> None:
        """Keeps the engine of a finished iterator for the next one, as it has run ahead."""
        self._drop_parked()
        self._parked.append(engine)

    def _drop_parked(self) -> None:
        while (engine := self._take_parked()) is not None:
            stop(engine)

    def _take_parked(self) -> _engine.Iteration | None:
        """Hands the kept engine to one caller only, as several threads may loop over one dataset."""
        try:
            return self._parked.pop()
        except IndexError:
            return None


def _plain(value: Any) -> Any:
    if isinstance(value, Bound):
        return value.reference
    return getattr(value, "_bound", value)  # an Expression


def _ordered(last: Dataset) -> tuple[list[tuple[_engine.Node, list[int]]], list[Dataset]]:
    """Nodes with the numbers of their inputs, inputs first, each dataset once; and the datasets, in the same order."""
    node_ids: dict[int, int] = {}
    nodes: list[tuple[_engine.Node, list[int]]] = []
    datasets: list[Dataset] = []
    waiting = [last]
    while waiting:
        dataset = waiting[-1]
        first_open = next((each for each in dataset._inputs if id(each) not in node_ids), None)
        if first_open is not None:
            waiting.append(first_open)
            continue
        waiting.pop()
        if id(dataset) in node_ids:
            continue
        node_ids[id(dataset)] = len(nodes)
        nodes.append((dataset._node, [node_ids[id(each)] for each in dataset._inputs]))
        datasets.append(dataset)
    return nodes, datasets


def load(path: str | os.PathLike[str], references: Mapping[str, Any] | None = None) -> Dataset:
    """Reads a pipeline that `Dataset.save` wrote, or its JSON form.

    Args:
        path: The file.
        references: The Python functions and arrays that the graph names: `{"train.py:augment#0": augment}`.
    """
    path = options.path("path", path, "load")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise system_error(f"no graph at {path}", error) from None
    try:
        graph = _engine.Graph.parse_json(data.decode()) if data[:1] == b"{" else _engine.Graph.parse(data)
        graph.validate()
    except (GraphError, UnicodeDecodeError) as error:
        refused = GraphError(f"{path}: {error}")
        refused.file = path
        raise refused from None
    if references is not None and not isinstance(references, Mapping):
        raise GraphError(f"load: references is {options.shown(references)}; it must be a dict from name to function")
    return _from_graph(graph, dict(references or {}))


def _from_graph(graph: _engine.Graph, given: dict[str, Any]) -> Dataset:
    datasets: list[Dataset] = []
    on_error = None if graph.max_errors is None else ErrorPolicy(True, graph.max_errors)
    known = set(graph.references)
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise GraphError(f"the graph names no {options.shown(name)} (it names: {listed})")
    for node, inputs in graph.nodes:
        dataset = object.__new__(Dataset)
        bindings = [
            reference.given_by_user(node, name, given[name]) if name in given else None for name in node.references
        ]
        dataset._fill(node, tuple(datasets[node_id] for node_id in inputs), bindings, graph.seed, on_error)
        datasets.append(dataset)
    return datasets[-1]
