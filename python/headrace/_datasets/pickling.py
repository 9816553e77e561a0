"""`pickled` gives a dataset in the form that `pickle` takes to other processes, and `made_again` makes it there.

Operators travel as in a saved graph, with what they name by value: functions, objects, tables and arrays. Sources of files
travel as paths. Settings of far stores stay in their process."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace import _engine
from headrace._arguments.doubts import warn_once
from headrace._arguments.import_folder import import_late
from headrace._arguments.source_location import SourceLocation, users_location
from headrace._datasets.base import Base, ordered
from headrace._datasets.fields.arrow_data import HeldArrow, arrow_again
from headrace._datasets.fields.table_file import remade
from headrace._datasets.strided_array import sent_array
from headrace._graph.reference import Binding
from headrace._graph.set_calls import call_of
from headrace._graph.set_calls import made_again as set_made_again
from headrace._runs.error_policy import ErrorPolicy
from headrace._runs.run_options import RunOptions
from headrace.errors import GraphError, ResourceError

__all__ = ["made_again", "pickled"]

# More would be copied to each process: files are read by all of them.
MOST_BYTES = 64 << 20
_VERSION = 1


class _Part(NamedTuple):
    """A dataset of a pipeline."""

    node: _engine.Node
    inputs: list[int]
    bindings: list[Binding | None]
    seed: int | None
    on_error: ErrorPolicy | None
    options: RunOptions
    location: SourceLocation
    mapping: tuple[Any, Any, Any] | None


def pickled(dataset: Base, epoch: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """As `__reduce__` gives it. GraphError, naming the culprit, for what cannot be pickled, and for what is too large."""
    if "storage" in dataset._options:
        warn_once(
            "a pickled Dataset leaves out storage=, whose settings may be secret: in the other process write "
            "`with hr.storage(…):` around what runs it",
            users_location(),
        )
    nodes, datasets = ordered(dataset)
    arrays: dict[int, Binding] = {}
    parts = [_part(each, inputs, arrays) for each, (_, inputs) in zip(datasets, nodes, strict=True)]
    try:
        return made_again, (_VERSION, *_dumped(parts), epoch)
    except _TooLarge as error:
        raise GraphError(
            f"a Dataset is pickled with its arrays, tables and objects, which have more than {MOST_BYTES >> 20} MiB "
            f"({_largest(parts, error)}): write them to files, as by numpy.save for hr.Npy, or by ds.write_parquet, for a "
            "dataset of files is pickled as their paths"
        ) from None
    except MemoryError as error:
        raise ResourceError(f"no memory to pickle a Dataset: {error}") from error
    except Exception as error:
        raise GraphError(_unpicklable(parts, error)) from error


def made_again(version: int, data: bytes, buffers: list[bytearray], epoch: int) -> Base:
    """The dataset in this process."""
    if version != _VERSION:
        raise GraphError(f"the pickled Dataset has version {version}; this headrace reads {_VERSION}: pickle it anew")
    datasets: list[Any] = []
    for part in pickle.loads(data, buffers=buffers):
        dataset = object.__new__(Base._made)
        inputs = tuple(datasets[number] for number in part.inputs)
        dataset._fill(part.node, inputs, _bindings_here(part), part.seed, part.on_error)
        dataset._options, dataset._location, dataset._mapping = part.options, part.location, part.mapping
        datasets.append(dataset)
    datasets[-1].epoch = epoch
    last: Base = datasets[-1]
    return last


# ---- what is sent ----


def _part(dataset: Base, inputs: list[int], arrays: dict[int, Binding]) -> _Part:
    return _Part(
        dataset._node,
        inputs,
        [_sent(dataset._node, binding, arrays) for binding in dataset._bindings],
        dataset._seed,
        dataset._on_error,
        dataset._options.changed({"storage": None}, "Dataset"),
        dataset._location,
        dataset._mapping,
    )


def _sent(node: _engine.Node, binding: Binding | None, arrays: dict[int, Binding]) -> Binding | None:
    """None: it is made again of files that the node names, or was not there. `arrays`: what is sent of arrays, by the
    identity of their binding, for sources that share a binding share it there, too."""
    if binding is None or _of_files(node):
        return None
    if binding[0] == "arrow":
        return ("arrow", _Table(binding[1]))
    if binding[0] == "arrays":
        if id(binding) not in arrays:
            columns = {name: sent_array(array) for name, array in binding[1].items()}
            arrays[id(binding)] = ("arrays", columns, *binding[2:])
        return arrays[id(binding)]
    return binding


def _of_files(node: _engine.Node) -> bool:
    attributes = node.attributes
    return bool(attributes.get("table_file")) or call_of(attributes) is not None


class _Table:
    """A table of another library, which pickles it."""

    def __init__(self, data: _engine.ArrowData) -> None:
        self._data = data

    def __reduce__(self) -> tuple[Any, ...]:
        given = self._data.given() if isinstance(self._data, HeldArrow) else None
        if given is None:
            raise TypeError(
                "Arrow: the rows of a stream come once, and the table of pandas or another one that was let go of is gone; "
                "give a table that lives as long as the dataset"
            )
        return _same, (given,)


def _same(given: Any) -> Any:
    return given


# ---- what is made of it ----


def _bindings_here(part: _Part) -> list[Binding | None]:
    return [
        _binding_here(part.node, name, binding)
        for name, binding in zip(part.node.references, part.bindings, strict=True)
    ]


def _binding_here(node: _engine.Node, name: str, binding: Binding | None) -> Binding | None:
    if binding is not None:
        if binding[0] == "arrow":
            return ("arrow", arrow_again(binding[1], node.attributes, node.columns))
        return binding
    if node.attributes.get("table_file"):
        return ("late", remade(node.attributes, name))
    call = call_of(node.attributes)
    return None if call is None else ("late", set_made_again(call, name))


# ---- pickles of limited size ----


class _TooLarge(Exception):
    pass


class _Limit:
    """Counts the bytes of a pickle, and ends it where there are too many."""

    def __init__(self) -> None:
        self.file = io.BytesIO()
        self.buffers: list[bytearray] = []
        self._bytes = 0

    def write(self, data: Any) -> int:
        self._count(memoryview(data).nbytes)
        return self.file.write(data)

    def take(self, buffer: pickle.PickleBuffer) -> None:
        raw = buffer.raw()
        self._count(raw.nbytes)
        # Not of bytes, so that functions may write to their arrays.
        self.buffers.append(bytearray(raw))

    def _count(self, count: int) -> None:
        self._bytes += count
        if self._bytes > MOST_BYTES:
            raise _TooLarge


def _cloudpickle() -> Any:
    """It sends functions of the script and lambdas by their code. Ray has one, which serves where Ray is used. None: it is
    not installed."""
    try:
        return import_late("cloudpickle")
    except ImportError:
        return sys.modules.get("ray.cloudpickle")


def _dumped(value: Any) -> tuple[bytes, list[bytearray]]:
    limit = _Limit()
    by_code = _cloudpickle()
    pickler: Any = pickle.Pickler if by_code is None else by_code.Pickler
    pickler(limit, protocol=5, buffer_callback=limit.take).dump(value)
    return limit.file.getvalue(), limit.buffers


# ---- culprits ----


def _named(parts: list[_Part]) -> list[tuple[str, Any]]:
    """What was given by the user, each with the operator that names it."""
    return [
        (f"{part.node.op}: {reference.partition('#')[0]}", binding)
        for part in parts
        for reference, binding in zip(part.node.references, part.bindings, strict=True)
        if binding is not None
    ]


def _largest(parts: list[_Part], error: _TooLarge) -> str:
    """The first one that is too large by itself."""
    for name, binding in _named(parts):
        try:
            _dumped(binding)
        except _TooLarge:
            return name
    return "together"


def _unpicklable(parts: list[_Part], error: Exception) -> str:
    culprit, found = "a Dataset", error
    for name, binding in _named(parts):
        try:
            _dumped(binding)
        except Exception as raised:
            culprit, found = name, raised
            break
    advice = ""
    if _cloudpickle() is None:
        advice = "; pip install cloudpickle, which sends functions by their code, or move the function to a module"
    return f"{culprit} cannot be pickled: {found}{advice}"
