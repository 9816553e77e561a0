"""For training loops written for torch: `from headrace.torch import Loader`.

Torch itself is imported when a loop begins whose batches are tensors.
"""

import itertools
import os
import sys
import weakref
from collections.abc import Iterator as TypingIterator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from headrace._arguments import other_libraries
from headrace._arguments.doubts import warn_once
from headrace._arguments.import_statement import imports_from
from headrace._arguments.options import epoch as checked_epoch
from headrace._arguments.options import flag, shown, whole
from headrace._arguments.source_location import users_location
from headrace._arguments.suggestions import did_you_mean
from headrace._datasets.dataset import Dataset
from headrace._datasets.numbered_rows import RowsOfBatch
from headrace._runs.iterator import Iterator, again
from headrace._runs.loop_target import Kept, refuse_names, refuse_names_of_first
from headrace._runs.ragged import counts_rows
from headrace._runs.run_options import RunParameters
from headrace.errors import Error, GraphError, StateError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Loader"]

_STATE_VERSION = 1

Shard = tuple[int, int]

# What DataLoader takes and a Loader does not.
_NOT_TAKEN = {
    "shuffle": "write shuffle=True in the source: hr.from_dataset(dataset, shuffle=True)",
    "batch_sampler": "write batch_size, with sample(…) or shuffle=True in the pipeline",
    "pin_memory": "leave it out: with device=… batches are made where the device copies from",
    "pin_memory_device": "write device=…",
    "generator": "write seed=…",
    "worker_init_fn": "write worker_init=… in from_dataset or map, with processes=…",
    "multiprocessing_context": "leave it out: processes=… of from_dataset and map starts processes anew",
    "timeout": "write stall_warning=…, seconds after which a call that hangs is named",
    "in_order": "leave it out: batches always come in order",
}


def _batch_of(place: Any) -> Any:
    """The batch of a place that `Loader.batch_sampler` gave."""
    if not isinstance(place, _Place):
        raise GraphError("Loader: collate_fn takes what batch_sampler gives; loop over the loader itself")
    return place.batch()


def _instead(dataset: Any, batch_size: Any, options: Mapping[str, Any]) -> str:
    """What to write where a DataLoader's arguments are given."""
    if type(dataset).__module__.startswith("torch.utils.data.dataloader"):
        return (
            'write Loader(headrace.from_dataset(loader.dataset, columns=["image", "label"]), batch_size=…) in its place'
        )
    if not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")):
        return "give a headrace.Dataset, as a source such as headrace.ImageFolder makes"
    of_source = ['columns=["image", "label"]'] + (["shuffle=True"] if options.get("shuffle") is True else [])
    workers = options.get("num_workers")
    if type(workers) is int and workers > 0:
        of_source.append(f"processes={workers}")
    of_loader = "" if batch_size is None else f", batch_size={shown(batch_size)}"
    return f"write Loader(headrace.from_dataset(dataset, {', '.join(of_source)}){of_loader})"


class Loader:
    """A dataset in place of a `torch.utils.data.DataLoader`: in a loop, for `len`, `set_epoch` and `state_dict`.

        loader = Loader(train, device="cuda:0")
        for epoch in range(10):
            for batch in loader:  # a dict from column to tensor
                ...

    With `as_tuple=True` a batch is a tuple of tensors, in the order of the columns: `for images, labels in loader`.

    Each loop runs the next epoch, in an order of its own; `set_epoch` names another one. A loop begins when it asks for
    its first batch, so that `set_epoch` and `load_state_dict` hold for it until then.

    In a program of several processes each rank gets its part of the rows, as with DistributedSampler: rank and
    world are those of torch.distributed where it is initialized, else of the environment variables WORLD_SIZE and RANK,
    or NODE_RANK and LOCAL_RANK. `shard=(rank, world)` names them instead.
    Where the number of rows is known, `even` is "pad", so that all ranks have the same number of batches: rows from the
    start fill the last round, and a column `_pad` marks them. Otherwise ranks may differ.
    """

    def __init__(
        self,
        dataset: Dataset,
        device: Any = None,
        *,
        batch_size: int | None = None,
        drop_last: bool = False,
        **options: Any,
    ) -> None:
        """
        Args:
            dataset: The pipeline. Its own options hold, where none is given here.
            device: Where batches end, as `Dataset.to_device` says: a text such as "cuda:0", or a torch.device. "cuda" is
                torch's current GPU when a loop begins; "cpu": host memory, without a queue in between; None: as the
                dataset says, by default there too.
            batch_size: Joins so many rows into a batch; None: the dataset gives batches already.
            drop_last: With batch_size: without the rows at the end that do not fill a batch.
            options: Those of `Dataset.iterate`, except epoch and state. `as_` is "torch" unless given.
        """
        if not isinstance(dataset, Dataset):
            raise GraphError(f"Loader: the dataset is {shown(dataset)}; {_instead(dataset, batch_size, options)}")
        for name in options.keys() - RunParameters.__annotations__.keys():
            if name in _NOT_TAKEN:
                raise TypeError(f"Loader() has no parameter {name}; {_NOT_TAKEN[name]}")
            known = ("dataset", "device", "batch_size", "drop_last", *RunParameters.__annotations__)
            raise other_libraries.unknown_keyword("Loader", name, known)
        self._given = dataset
        self._batch_size = None if batch_size is None else whole("batch_size", batch_size, 1, "Loader")
        drop_last = flag("drop_last", drop_last, "Loader")
        if batch_size is not None:
            if dataset._joins_rows():
                warn_once(
                    f"Loader: batch_size={batch_size} joins batches, as the dataset gives batches already: leave out one of "
                    "the two",
                    users_location(),
                )
            dataset = dataset.batch(batch_size, drop_remainder=drop_last)
        elif drop_last:
            raise GraphError("Loader: drop_last is given, and batch_size is not; write batch(…, drop_remainder=True)")
        if "as_" not in dataset._options:
            options = {"as_": "torch"} | options
        if device is not None:
            options["device"] = _device_name(device)
        # Where "cuda" is given, a loop asks torch which GPU that is.
        self._follows_torch = str(device) == "cuda"
        self._whole = dataset.options(**options)
        # The part of this rank, and the rank and the GPU that it is for.
        self._part: tuple[tuple[Shard | None, str | None], Dataset] | None = None
        # What set_epoch or load_state_dict named for the next loop; None: the epoch after the latest loop's.
        self._epoch: int | None = None
        # A position for the next loop; None: the start of its epoch.
        self._state: bytes | None = None
        # The loop that began last; not kept, so that its run ends when a loop is left.
        self._latest: weakref.ref[_Loop] | None = None
        # Where that loop stood when it was left.
        self._left: dict[str, Any] | Error | None = None

    # ---- as a DataLoader ----

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Loader cannot be pickled: pickle its dataset, and make the Loader in the other process")

    def __iter__(self) -> "_Loop":
        loop = _Loop(self)
        if loop._gives_dicts:
            loop._kept = refuse_names()
        return loop

    if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

        def __getattr__(self, name: str) -> NoReturn:
            advice = None if name.startswith("_") else _NOT_TAKEN.get(name) or other_libraries.loader_advice(name)
            raise AttributeError(f"a Loader has no {name}{f'; {advice}' if advice else ''}", name=name)

    def _begun_loop(self) -> "tuple[_Loop, Iterator]":
        loop = _Loop(self)
        return loop, loop._begin()

    def _gives_dicts(self) -> bool:
        return not self._whole._options["as_tuple"] and self._whole._options["as_"] != "arrow"

    def __len__(self) -> int:
        """The batches of an epoch on this rank; TypeError where they are known only after a run."""
        return len(self._dataset())

    def __bool__(self) -> bool:
        return True

    def set_epoch(self, epoch: int) -> None:
        """The next loop runs this epoch: from its start, or from the state loaded, if that was taken in it.

        A loop that has given a batch goes on as it was, with a PipelineWarning if that is another epoch. So is there one
        if a state was loaded in a later epoch, which is then not used.
        """
        epoch = checked_epoch(epoch, "set_epoch")
        loop = self._running_loop()
        if loop is not None and loop.epoch != epoch:
            loop.passed_by = f"set_epoch({epoch})"
        if self._state is not None and epoch < self.epoch:
            warn_once(
                f"Loader: set_epoch({epoch}) leaves the state that was loaded, which is in epoch {self.epoch}: the next "
                "loop starts anew; count epochs from the loader's `epoch`",
                users_location(),
            )
        if epoch != self.epoch:
            self._move_to(epoch, None)

    @property
    def epoch(self) -> int:
        """The epoch of the next loop."""
        if self._epoch is not None:
            return self._epoch
        return 0 if self._part is None else self._part[1].epoch

    @property
    def pad(self) -> Any:
        """With `as_tuple`, in a loop whose ranks `even` makes equal: the column `_pad` of its last batch, which is True where
        a row fills up the last round; else None. Batches that are dicts have it themselves."""
        loop = None if self._latest is None else self._latest()
        return None if loop is None or loop._running is None else loop._running.pad

    @property
    def dataset(self) -> Dataset:
        """The one given."""
        return self._given

    @property
    def batch_size(self) -> int | None:
        """The rows of a batch; None where batches may differ."""
        if self._batch_size is not None:
            return self._batch_size
        schema = self._whole.schema
        shapes = [column.shape for name, column in schema.items() if counts_rows(name, schema)]
        rows = {None if not shape else shape[0] for shape in shapes}
        return rows.pop() if self._whole._joins_rows() and len(rows) == 1 else None

    @property
    def sampler(self) -> "_Order":
        """For loops that call `loader.sampler.set_epoch(epoch)`, such as Lightning's."""
        return _Order(self)

    @property
    def batch_sampler(self) -> "_Batches":
        """The numbers of an epoch's batches, for Accelerate's `skip_first_batches`: a DataLoader over `dataset` with these,
        or the later ones alone, and with `collate_fn` gives the loader's batches."""
        return _Batches(self)

    # What such a DataLoader is made with.
    collate_fn = staticmethod(_batch_of)
    prefetch_factor = None

    # ---- positions ----

    def state_dict(self) -> dict[str, Any]:
        """The position after the last batch that the latest loop was given: a small dict that torch.save accepts.

        Raises StateError, with the reason, where the pipeline cannot be restored.
        """
        loop = self._running_loop()
        if loop is not None:
            return loop.position()
        if isinstance(self._left, Error):
            raise again(self._left)
        return self._left or _position(self.epoch, self._state)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next loop goes on with the very next batch, in the epoch of the state. A loop that has given a batch goes
        on as it was, with a PipelineWarning.

        Raises StateError if it is no state of a Loader; the next loop does if it belongs to another pipeline.
        """
        if not isinstance(state, Mapping) or not {"version", "epoch", "state"} <= state.keys():
            raise StateError(f"load_state_dict: {shown(state)} is not what Loader.state_dict() gave")
        if state["version"] != _STATE_VERSION:
            raise StateError(f"load_state_dict: the state has version {shown(state['version'])}; this is 1")
        position = state["state"]
        if position is not None and not isinstance(position, bytes):
            raise StateError(f"load_state_dict: the state is {shown(position)}; it must be bytes, or None")
        epoch = checked_epoch(state["epoch"], "load_state_dict")
        loop = self._running_loop()
        if loop is not None:
            loop.passed_by = "load_state_dict"
        self._latest = None
        self._move_to(epoch, position)

    # ---- reports ----

    def explain(self) -> str:
        """As `Dataset.explain()`, for the latest loop."""
        return self._dataset().explain()

    def __repr__(self) -> str:
        return f"<headrace.torch.Loader of {self._whole!r}>"

    def _move_to(self, epoch: int, state: bytes | None) -> None:
        self._epoch, self._state, self._left = epoch, state, None

    def _running_loop(self) -> "_Loop | None":
        """The latest loop, if it may give further batches and something still holds it."""
        loop = None if self._latest is None else self._latest()
        return None if loop is None or loop.ended else loop

    def _dataset(self) -> Dataset:
        """The part of this rank. It is made again only if the rank or torch's GPU has changed, for it keeps caches and
        what was read ahead from one epoch to the next."""
        shard = rank_and_world() if "shard" not in self._whole._options else _several(self._whole._options["shard"])
        gpu = _current_gpu() if self._follows_torch else None
        if self._part is None or self._part[0] != (shard, gpu):
            part = self._whole if gpu is None else self._whole.options(device=gpu)
            part = part if shard is None else _of_rank(part, shard)
            part.epoch = self.epoch
            self._part = ((shard, gpu), part)
        return self._part[1]

    def _begin(self, loop: "_Loop") -> tuple[Iterator, Dataset]:
        """The run of the next loop, and a dataset that counts its batches."""
        dataset = self._dataset()
        dataset.epoch = self.epoch
        even = None
        if self._state is not None:
            running, even = self._going_on(dataset, self._state)
            if loop.start > 0:
                running._without_first(loop.start)
        elif loop.start > 0:
            running = dataset.iterate(epoch=dataset.epoch, start=loop.start)
            dataset.epoch += 1
        else:
            running = iter(dataset)
        # From here on the dataset knows the next epoch.
        self._epoch = self._state = self._left = None
        self._latest = loop.reference
        # A copy, for the epoch of the loader's own moves on.
        counted = dataset.options() if even is None else dataset.options(even=even)
        counted.epoch = running.epoch
        return running, counted

    def _going_on(self, dataset: Dataset, state: bytes) -> tuple[Iterator, Literal["off"] | None]:
        """Also how ranks are made even, if not as the dataset says."""
        try:
            return dataset.iterate(state=state), None
        except StateError:
            if "even" in self._whole._options or "even" not in dataset._options:
                raise
        # The Loader's own `even` gives way to the state's.
        running = dataset.iterate(state=state, even="off")
        warn_once(
            'Loader: the state was taken in one process, or with even="off", which holds for the rest of its epoch: there '
            "ranks may differ by a batch, and wait for each other at its end; end that epoch where the first rank does, or "
            "take states to go on from with several processes at the end of an epoch",
            users_location(),
        )
        return running, "off"


class _Loop:
    """One loop over a Loader. It begins with the first `next`, at batch `start` of its epoch."""

    def __init__(self, loader: Loader, start: int = 0) -> None:
        # Until it begins the loop keeps the loader; later neither keeps the other.
        self._loader: Loader | None = loader
        self._owner = weakref.ref(loader)
        self.reference = weakref.ref(self)
        self._gives_dicts = loader._gives_dicts()
        self.start = start
        self._counted: Dataset | None = None
        self._running: Iterator | None = None
        # Where the one who began it keeps it.
        self._kept: Kept | None = None
        self.ended = False
        # The call that named another position after the first batch.
        self.passed_by: str | None = None

    def __iter__(self) -> "Self":
        if self._gives_dicts:
            self._kept = refuse_names()
        return self

    def __next__(self) -> Any:
        if self._running is None and self._gives_dicts:
            refuse_names_of_first(self._kept)
        running = self._running or self._begin()
        try:
            batch = next(running)
        except StopIteration:
            self.ended = True
            if self._counted is not None and self._counted._count() == 0:
                warn_once(
                    "Loader: an epoch has no batch, as there are no rows, or fewer than fill one and drop_last leaves them "
                    "out: give a smaller batch_size, or more rows",
                    users_location(),
                )
            raise
        if self.passed_by is not None:
            self._warn(self.passed_by)
        return batch

    def __len__(self) -> int:
        """The batches of the loop's epoch; before it begins, those of the next one."""
        return len(self._counted if self._loader is None else self._loader)  # type: ignore[arg-type]

    def __del__(self) -> None:
        loader = self._owner()
        if loader is None or self._running is None or loader._latest is not self.reference:
            return
        try:
            loader._left = None if self.ended else self.position()
        except Error as error:
            loader._left = again(error)

    @property
    def epoch(self) -> int:
        """Of a loop that has begun."""
        assert self._running is not None
        return self._running.epoch

    def position(self) -> dict[str, Any]:
        """After the last batch given, in the form of state_dict."""
        assert self._running is not None
        return _position(self._running.epoch, self._running.state())

    def _begin(self) -> Iterator:
        assert self._loader is not None
        self._running, self._counted = self._loader._begin(self)
        self._loader = None
        return self._running

    def _warn(self, call: str) -> None:
        warn_once(
            f"Loader: {call} was called after the first batch of a loop, which goes on in epoch {self.epoch}: it holds for "
            "the next loop; call it before the first batch, or leave the loop",
            users_location(),
        )


def _position(epoch: int, state: bytes | None) -> dict[str, Any]:
    return {"version": _STATE_VERSION, "epoch": epoch, "state": state}


class _Place(RowsOfBatch):
    """Batch `number` of a loop of DataLoader's."""

    def __init__(self, loop: "_BatchesTaken", number: int) -> None:
        self._loop = loop
        self._number = number

    def batch(self) -> Any:
        return self._loop.batch(self._number)


class _BatchesTaken:
    """A loop of which the first batches may be left out."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._loop: _Loop | None = None

    def batch(self, number: int) -> Any:
        if self._loop is None:
            self._loop = _Loop(self._loader, number)
        return next(self._loop)


class _Batches:
    """The places of the batches of the loader's next epoch, in order."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self.set_epoch = loader.set_epoch

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> "TypingIterator[_Place]":
        taken = _BatchesTaken(self._loader)
        # Their number may not be known: the loop ends where there is no further batch.
        return (_Place(taken, number) for number in itertools.count())


class _Order:
    """What stands for a sampler."""

    def __init__(self, loader: Loader) -> None:
        self.set_epoch = loader.set_epoch


def _several(shard: Shard) -> Shard | None:
    """None for the only one of a world."""
    return None if shard[1] == 1 else shard


def rank_and_world() -> Shard | None:
    """This process's rank and the number of processes; None: it is the only one."""
    # A program that has not imported torch has not initialized it.
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        rank, world = distributed.get_rank(), distributed.get_world_size()
    else:
        rank, world = _of_environment()
    return _several((rank, world))


def _of_environment() -> Shard:
    names = ("RANK", "WORLD_SIZE", "NODE_RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    given = {name: os.environ[name] for name in names if name in os.environ}
    if given.get("WORLD_SIZE") in (None, "1"):
        return 0, 1
    try:
        numbers = {name: int(text) for name, text in given.items()}
        rank, world = _rank_of(numbers), numbers["WORLD_SIZE"]
        if not 0 <= rank < world:
            raise ValueError
    except (KeyError, ValueError):
        listed = " and ".join(f"{name}={shown(text)}" for name, text in given.items())
        raise GraphError(
            f"Loader: the environment has {listed}, which names no rank: initialize torch.distributed first, or give "
            "shard=(rank, world)"
        ) from None
    return rank, world


def _rank_of(numbers: dict[str, int]) -> int:
    """RANK, as torchrun sets it; else that of a node and a process of it, as Lightning sets them. KeyError: neither."""
    if "RANK" in numbers:
        return numbers["RANK"]
    node, local = numbers["NODE_RANK"], numbers["LOCAL_RANK"]
    # How many processes a node has matters on the second node first.
    return local if node == 0 else node * numbers["LOCAL_WORLD_SIZE"] + local


def _of_rank(dataset: Dataset, shard: Shard) -> Dataset:
    if "even" in dataset._options:
        return dataset.options(shard=shard)
    padded = dataset.options(shard=shard, even="pad")
    count = padded._count()
    if count is not None and count >= 0:
        return padded
    if count is None:
        warn_once(
            "Loader: how many rows the dataset gives shows only in running it, so ranks may differ in their numbers of "
            "batches, and steps that all ranks take together then wait without end: end an epoch by a number of batches "
            'that each rank has; even="off" says that you know',
            users_location(),
        )
    return dataset.options(shard=shard)


def _device_name(device: Any) -> str | None:
    """As the engine names it; None: batches stay where they are."""
    if isinstance(device, int):
        raise GraphError(f'Loader: device is {device!r}; write a text or a torch.device, such as "cuda:{int(device)}"')
    name = str(device)
    if name == "cuda":
        return "cuda:0"
    return None if name == "cpu" else name


def _current_gpu() -> str:
    torch = sys.modules.get("torch")
    # A program that has not imported torch has not chosen another one.
    number = torch.cuda.current_device() if torch is not None and torch.cuda.is_available() else 0
    return f"cuda:{number}"


if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> Any:
        elsewhere = other_libraries.source_advice(name)
        advice = did_you_mean(name, __all__) if elsewhere is None else f"; {elsewhere}"
        if name.endswith("DataLoader"):
            advice = "; write Loader(dataset, batch_size=…)"
        said = f"module 'headrace.torch' has no attribute {name!r}{advice}"
        raise ImportError(said, name="headrace.torch") if imports_from(1) else AttributeError(said, name=name)
