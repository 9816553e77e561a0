"""Datasets: how pipelines are written and run."""

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Unpack

from headrace import _engine
from headrace._arguments import options
from headrace._arguments.doubts import location_of, warn_once
from headrace._arguments.other_libraries import advise, advise_init, method_advice
from headrace._arguments.source_location import users_location
from headrace._datasets.methods import Methods
from headrace._datasets.parts import note_run
from headrace._datasets.sampler import Sampler, applied
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole, write_whole
from headrace._graph import parameter_uses, parameters, reference
from headrace._graph.reference import Binding, Bound
from headrace._runs import error_policy
from headrace._runs.callback import Callback
from headrace._runs.error_policy import ErrorPolicy
from headrace._runs.iterator import Iterator, Run, start, stop
from headrace._runs.profile import ProfileFiles
from headrace._runs.run_options import RunOptions, RunParameters
from headrace._runs.stage_limits import NO_LIMITS
from headrace.errors import GraphError, StateError

if TYPE_CHECKING:
    from headrace._records.dataset_records import Written
    from headrace.sheet.contact_sheet import ContactSheet

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
    _options: RunOptions
    _repeated: "_Repeated"

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        advise_init(cls)

    def __init__(self) -> None:
        raise TypeError(
            "a Dataset is made by a source, such as headrace.ImageFolder(…), headrace.Range(…) or headrace.load(…)"
        )

    # ---- running ----

    def __iter__(self) -> Iterator:
        """Runs epoch `ds.epoch`, with the dataset's options."""
        epoch = self.epoch
        engine = self._take_parked()
        # A running engine listed its files earlier.
        if engine is not None and (engine.epoch != epoch or engine.outdated()):
            stop(engine)
            engine = None
        files = self._profile_files(self._options)
        if engine is None:
            given: dict[str, Any] = {"epoch": epoch, "endless": files is None, "shelf": self._shelf}
            given |= self._log_option() | _profiling(self._options)
            engine = start(*self._bound_graph(self._options.for_engine() | given))
        _ask(engine, epoch)
        note_run(self, epoch)
        # A profile is written when its engine ends.
        on_end = self._park if files is None else stop
        return self._running(engine, self._options, files, self._move_past, on_end)

    def iterate(
        self,
        *,
        seed: int | None = None,
        epoch: int | None = None,
        shard: tuple[int, int] | None = None,
        even: Literal["off", "drop", "pad"] | None = None,
        state: bytes | None = None,
        as_: Literal["numpy", "torch", "dlpack"] | None = None,
        bytes_as: Literal["bytes", "memoryview"] | None = None,
        optimize: bool | None = None,
        executor: Literal["threads", "pull"] | None = None,
        workers: int | None = None,
        window: int | None = None,
        group: int | None = None,
        memory: int | str | None = None,
        cache: str | os.PathLike[str] | None = None,
        device: str | None = None,
        device_depth: int | None = None,
        device_memory: int | str | None = None,
        disabled_passes: str | Sequence[str] | None = None,
        stall_warning: float | None = None,
        profile: str | os.PathLike[str] | None = None,
        profile_events: int | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> Iterator:
        """Runs one epoch with the options given. The rows and their order are functions of the graph, the seed and the
        epoch alone; no other option changes a byte of them (`shard` chooses among them). An option that is not given, or
        None, is that of the dataset (`options`), or has its default.

        Args:
            seed: Of all random operators without a seed of their own; the default is `with_seed`'s, else 0.
            epoch: Which epoch; None: `ds.epoch`, which stays as it is. So a loop over epochs passes it, or loops over the
                dataset itself, which takes the next epoch each time.
            shard: (rank, world): this process's part of the rows; the default is all of them.
            even: How all ranks get the same number of rows: "off", they may differ; "drop", without the rows of the
                last round; "pad", with rows from the start, marked in the column `_pad`; the default is the state's,
                else "off".
            state: From `Iterator.state()`: goes on with the row after it, and moves `ds.epoch` past its epoch.
            as_: "numpy" (the default), "torch" (tensors), or "dlpack" (objects for any library's `from_dlpack`). Bytes
                and texts are NumPy object arrays under each.
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
        """
        given = {
            "seed": seed,
            "shard": shard,
            "even": even,
            "as_": as_,
            "bytes_as": bytes_as,
            "optimize": optimize,
            "executor": executor,
            "workers": workers,
            "window": window,
            "group": group,
            "memory": memory,
            "cache": cache,
            "device": device,
            "device_depth": device_depth,
            "device_memory": device_memory,
            "disabled_passes": disabled_passes,
            "stall_warning": stall_warning,
            "profile": profile,
            "profile_events": profile_events,
            "callbacks": callbacks,
        }
        given = {name: value for name, value in given.items() if value is not None}
        chosen = self._options.changed(given, "iterate")
        asked: dict[str, Any] = {"epoch": self.epoch if epoch is None else options.epoch(epoch, "iterate")}
        held: dict[str, str] = {}
        if state is not None:
            if not isinstance(state, (bytes, bytearray, memoryview)):
                raise GraphError("iterate: state must be the bytes that Iterator.state() gave")
            # To the engine, empty bytes mean that there is no state.
            if not state:
                raise StateError("this is not a state that Headrace took, or it is damaged (0 bytes)")
            asked["state"], held = parameters.opened(bytes(state))
        files = self._profile_files(chosen)
        asked |= {"shelf": self._shelf} | self._log_option() | _profiling(chosen)
        graph, given_options, references = self._bound_graph(chosen.for_engine() | asked)
        with parameters.restored(held, parameters.of_bindings(references.values()), chosen["shard"] or (0, 1)):
            engine = start(graph, given_options, references)
            if state is not None and epoch is not None and epoch != engine.epoch:
                stop(engine)
                raise StateError(f"the state was taken in epoch {engine.epoch}, not {epoch}; leave the epoch out")
            _ask(engine, engine.epoch)
        if state is not None:
            self._epoch = engine.epoch + 1
        note_run(self, engine.epoch)
        on_end = None
        if epoch is None and state is None:
            on_end = self._repeated.at_end(engine.epoch, given, self._graph().draws)
        return self._running(engine, chosen, files, None, on_end)

    def options(self, **options: Unpack[RunParameters]) -> "Dataset":
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

    def to_device(self, device: str, depth: int = 3, memory: int | str | None = None) -> "Dataset":
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
                "4GiB"; the default is a quarter of what a GPU has free, "2GiB" on the host. If the loop keeps so many that the next one does not fit, it is a
                ResourceError.
        """
        name = options.device("device", device, "to_device")
        options.whole("depth", depth, 1, "to_device", options.MOST_AT_ONCE)
        if memory is not None:
            options.memory_bytes(memory, "to_device")
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

    if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_"):
                from headrace._operators.late_classes import method_of

                method = method_of(name)
                if method is not None:
                    return method.__get__(self)
            advice = method_advice(name)
            text = f"a Dataset has no {name}" + ("" if advice is None else f"; {advice}")
            raise AttributeError(text, name=name, obj=self)

    def __len__(self) -> int:
        """The number of rows (after `batch`: batches) of an epoch, with the dataset's options: under `shard`, those of
        its rank. TypeError if it is known only after a run. Where a sampler of yours gives epochs of different sizes, the
        number is that of `ds.epoch`.

        With `on_error("skip")` it is the most that there can be.
        """
        count = self._count()
        if count is None:
            raise TypeError("how many rows this dataset gives shows only in running it")
        if count < 0:
            raise TypeError("this dataset is endless: it repeats without a count")
        return count

    def _count(self) -> int | None:
        """As `len`; None: known only after a run; negative: endless."""
        return _engine.count(*self._bound_graph(self._options.for_engine() | {"epoch": self.epoch}))

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
        given = self._options.for_engine() | {"epoch": self.epoch, "endless": True}
        graph, given, references = self._bound_graph(given)
        return self._options.text() + _engine.explain(graph, given, references, passes)

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
        path = options.local_path("path", path, "save")
        graph = self._graph()
        graph.validate()
        data = graph.serialize()
        try:
            write_whole(path, data)
        except OSError as error:
            raise system_error(f"cannot save to {path}", error) from error

    def write_records(self, path: str | os.PathLike[str], **options: Unpack[RunParameters]) -> "Written":
        """Writes the rows of epoch `ds.epoch`, in their order, to a RecordIO file and its index.

        With the columns `image` (encoded bytes) and `label`, and perhaps `id`, each row becomes an image record, which
        MXNet and `hr.ImageRecord` read: a number as label is the header's, an array is packed behind it as float32; the
        key is the id, else the row's number. With one column of bytes each row becomes a record of those bytes.

            ds.map([V.Decode(), V.Resize(256), V.EncodeJpeg()], "image").write_records("train.rec")

        The files take their names when they are complete, in place of older ones: an error leaves those as they were.
        Raises GraphError for other columns, UnsupportedError while another process writes the file, ResourceError if the
        disk is full, and the errors of the pipeline.

        Args:
            path: The file to write, `.rec`; the index gets its name with `.idx`.
            options: Those of `iterate`.
        """
        from headrace._records.dataset_records import write_records

        return write_records(self, path, dict(options))

    def show(
        self,
        n: int = 16,
        *,
        columns: str | Sequence[str] | None = None,
        image: str | None = None,
        mask: str | None = None,
        boxes: str | None = None,
        box_format: Literal["xyxy", "xywh", "cxcywh"] = "xyxy",
        keypoints: str | None = None,
        side: int = 160,
    ) -> "ContactSheet":
        """The pictures of the first n rows of epoch 0 in a grid, with labels, ids and texts under them: a notebook shows
        it, and `.save("sheet.png")` writes it. The rows of batches are taken apart. `ds.epoch` stays as it is.

        Pictures are uint8, uint16 or floats of shape (H, W, C) or (C, H, W) with 1, 3 or 4 channels, the fourth opacity,
        or encoded bytes. Floats of 0 … 1 are shown from black to white; a picture with others is shown from its own least
        value, black, to its greatest, white, and both are written under it. Large pictures are shrunk, small ones enlarged
        by a whole number. Bytes that cannot be decoded are a grey square with the reason.

        Raises GraphError, with all columns and their types, if none holds pictures, and for a column that is not what it
        is named as; DataError if there are no rows, or a mask and its picture differ in size; and the errors of the
        pipeline.

            ds.show(boxes="boxes", box_format="xywh").save("sheet.png")

        Args:
            n: How many rows, also of batches, 1 to 4,096.
            columns: The columns to show; None: all, without captions of large ones.
            image: The column of pictures, which then may be of shape (H, W); None: the first that holds some.
            mask: The column of integers or bool, of shape (H, W) or (H, W, 1), that is drawn over them, half transparent,
                a colour for each value but 0; None: the first of the picture's own (H, W), if there is one.
            boxes: The column of boxes, floats or integers of shape (n, 4) in pixels of the picture; None: none.
            box_format: What the four are: two corners; or a corner or the middle, with width and height.
            keypoints: The column of points, x and y, floats or integers of shape (n, 2), or (n, k, 2) for n groups, in
                pixels of the picture; None: none. Points and boxes with the same number have the same colour.
            side: The longest side of a picture on the sheet, 16 to 1,024 pixels.
        """
        from headrace.sheet.showing import show

        return show(self, n, columns, image, mask, boxes, box_format, keypoints, side)

    def __repr__(self) -> str:
        nodes, datasets = _ordered(self)
        values = {id(each) for dataset in datasets for each in _values_of(dataset)}
        shown = (node for (node, _), each in zip(nodes, datasets, strict=True) if id(each) not in values)
        chain = " → ".join(node.op for node in shown if not node.of_attribute)
        return f"<headrace.Dataset {chain}>"

    # ---- making it ----

    def sample(self, sampler: Sampler) -> "Dataset":
        """The rows in the order that a sampler gives, such as `headrace.Weighted`, `ClassBalanced` or `Repeated`.

        It acts on the numbers of rows, over sources with random access (with take, skip, concat and zip of them, and
        parts): only rows that come are read, and rows are sharded above it. Order, seed and epoch determine it; each
        epoch has another one where the sampler draws.

        Numbers of rows are those that the source has without shuffling, also below maps. Calls may follow each other:
        above a sampler, a mixture, or take, skip, concat and zip of shuffled sources, numbers are places in the epoch's
        order there. Weights and labels that are a list or an array have one value for each of these places; those that
        are a column follow their rows.

        Args:
            sampler: The order.

        Example:
            ds.sample(hr.ClassBalanced("label"))
        """
        return applied(self, sampler)

    def with_seed(self, seed: int) -> "Dataset":
        """The same pipeline with another seed for its random operators; `iterate(seed=)` takes precedence."""
        copy = self._copy()
        copy._seed = options.whole("seed", seed, of="with_seed")
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

    def _become(self, other: "Dataset") -> None:
        """For a source that stands for itself and operators on it."""
        self._fill(other._node, other._inputs, other._bindings, other._seed, other._on_error)

    def _append(
        self,
        op: str,
        attributes: dict[str, Any],
        others: "Sequence[Dataset]" = (),
        steps: Sequence[Any] = (),
        step_bindings: Sequence[Binding] = (),
        limits: tuple[int, int, bool] = NO_LIMITS,
    ) -> "Dataset":
        inputs = (self, *others)
        for other in inputs:
            if not isinstance(other, Dataset):
                raise GraphError(f"{op} takes datasets, not {options.shown(other)}")
        seed = next((dataset._seed for dataset in inputs if dataset._seed is not None), None)
        on_error = error_policy.joined(op, (dataset._on_error for dataset in inputs))
        joined = RunOptions.joined([dataset._options for dataset in inputs], op)
        dataset = object.__new__(Dataset)
        dataset._set(op, attributes, inputs, steps, seed, on_error, step_bindings, limits)
        dataset._options = joined
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
        limits: tuple[int, int, bool] = NO_LIMITS,
    ) -> None:
        bound = [value for value in attributes.values() if isinstance(value, Bound)]
        plain = {name: _plain(value) for name, value in attributes.items()}
        node = _engine.Node(op, plain, list(steps), users_location(), *limits)
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
        self._options = RunOptions()
        self._repeated = _Repeated()

    def _copy(self) -> "Dataset":
        copy = object.__new__(Dataset)
        copy._fill(self._node, self._inputs, self._bindings, self._seed, self._on_error)
        copy._options = self._options
        return copy

    def __copy__(self) -> "Dataset":
        return self._copy()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Dataset cannot be pickled or copied deeply; save it to a file, or build it again in the other process"
        )

    def _graph(self) -> _engine.Graph:
        if self._built is None:
            built = self._build_graph()
            for location, message in built.doubts():
                warn_once(message, location_of(location))
            self._built = built
        return self._built

    def _build_graph(self) -> _engine.Graph:
        """Warns of nothing."""
        policy = self._on_error
        max_errors = policy.max_errors if policy is not None and policy.skips else None
        nodes, datasets = _ordered(self)
        objects = [
            reference.object_of(binding, name)
            for dataset in datasets
            for binding, name in zip(dataset._bindings, dataset._node.references, strict=True)
        ]
        return _engine.Graph(nodes, objects, self._seed, PRODUCER, max_errors)

    def _bound_graph(self, *given: dict[str, Any]) -> tuple[Any, ...]:
        """The graph, `given`, and the objects of its references."""
        graph = self._graph()
        bindings = [binding for dataset in _ordered(self)[1] for binding in dataset._bindings]
        missing = [name for name, binding in zip(graph.references, bindings, strict=True) if binding is None]
        if missing:
            listed = ", ".join(missing)
            raise GraphError(
                f"the graph names Python functions or arrays that are not in the file: {listed}; "
                f"give them: headrace.load(path, references={{{missing[0]!r}: …}})"
            )
        held = [binding for binding in bindings if binding is not None]
        parameters.of_bindings(held)
        return (graph, *given, reference.by_name(graph.references, held))

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

    # ---- runs ----

    def _running(
        self,
        engine: _engine.Iteration,
        chosen: RunOptions,
        files: ProfileFiles | None,
        on_second: Callable[[int], None] | None,
        on_end: Callable[[_engine.Iteration], None] | None,
    ) -> Iterator:
        # With executor="pull" there is only the loop's own thread.
        watched_s = 0.0 if chosen["executor"] == "pull" else chosen["stall_warning"]
        heading, callbacks = chosen.text(), chosen["callbacks"]
        joined, shard = self._joins_rows(), chosen["shard"]
        iterator = Iterator(
            engine, chosen["as_"], watched_s, on_second, on_end, files, heading, callbacks, joined, shard
        )
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
        files = ProfileFiles(chosen["profile"])
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
            stop(engine)

    def _take_parked(self) -> _engine.Iteration | None:
        """Hands the kept engine to one caller only, as several threads may loop over one dataset."""
        try:
            return self._parked.pop()
        except IndexError:
            return None


class _Repeated:
    """Counts runs of `iterate` to the end of the same epoch with the same arguments: a loop over epochs that does not pass
    them on. It warns once for a dataset, at the third: a test of equal results runs an epoch twice."""

    MOST = 3

    def __init__(self) -> None:
        self._run: tuple[Any, ...] = ()
        self._count = 0
        self._said = False

    def at_end(self, epoch: int, given: Mapping[str, Any], draws: bool) -> Callable[[_engine.Iteration], None]:
        run = (epoch, tuple((name, options.shown(value)) for name, value in given.items()))
        # The iterator must not keep the dataset alive.
        counted = weakref.ref(self)

        def end(engine: _engine.Iteration) -> None:
            stop(engine)
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


def _values_of(sampled: Dataset) -> list[Dataset]:
    """What gives a sampler its values."""
    further = sampled._inputs[1:] if sampled._node.by_number else ()
    return [each for values in further for each in _ordered(values)[1]]


def load(path: str | os.PathLike[str], references: Mapping[str, Any] | None = None) -> Dataset:
    """Reads a pipeline that `Dataset.save` wrote, or its JSON form.

    Args:
        path: The file.
        references: The Python functions and arrays that the graph names: `{"train.py:augment#0": augment}`.
    """
    path = options.local_path("path", path, "load")
    try:
        data = read_whole(path)
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


def _ask(engine: _engine.Iteration, epoch: int) -> None:
    """Asks for an epoch with the values that parameters have in it. If one cannot be made, the run ends."""
    try:
        parameters.freeze(engine, epoch)
        engine.ask(epoch)
    except BaseException:
        stop(engine)
        raise


def _from_graph(graph: _engine.Graph, given: dict[str, Any]) -> Dataset:
    datasets: list[Dataset] = []
    on_error = None if graph.max_errors is None else ErrorPolicy(True, graph.max_errors)
    known = set(graph.references)
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise GraphError(f"the graph names no {options.shown(name)} (it names: {listed})")
    bound: dict[str, Binding] = {}
    for node, inputs in graph.nodes:
        dataset = object.__new__(Dataset)
        for name in node.references:
            if name in given and name not in bound:
                bound[name] = reference.given_by_user(node, name, given[name])
        bindings = [bound.get(name) for name in node.references]
        dataset._fill(node, tuple(datasets[node_id] for node_id in inputs), bindings, graph.seed, on_error)
        datasets.append(dataset)
    named = {name: binding[1] for name, binding in bound.items() if binding[0] == "parameter"}
    if named:
        parameter_uses.note_uses(parameter_uses.uses_in(graph.json(), named))
    return datasets[-1]
