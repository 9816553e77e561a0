"""`Base`: what a dataset is in a graph, an operator with its inputs and the objects that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from headrace import _engine
from headrace._arguments.doubts import location_of, warn_once
from headrace._arguments.markup import markup
from headrace._arguments.options import shown
from headrace._arguments.source_location import SourceLocation, users_location
from headrace._arguments.storage import Storage, within
from headrace._graph import parameters, reference
from headrace._graph.reference import Binding, Bound
from headrace._runs import error_policy
from headrace._runs.error_policy import ErrorPolicy
from headrace._runs.run_options import RunOptions
from headrace._runs.stage_limits import NO_LIMITS
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["Base", "ColumnType", "Schema", "ordered", "shape_text", "source", "table"]

PRODUCER = "headrace 0.1.0"


class ColumnType(NamedTuple):
    """What is known of a column before anything runs."""

    dtype: str
    """NumPy's name; `bytes` and `string` for variable length, `unknown` for the results of a Python function."""
    shape: tuple[int | None, ...] | None
    """A dimension that may differ from row to row is None; the shape is None if the rank is unknown."""


class Schema(dict[str, ColumnType]):
    """From the names of columns to their types, in order; a notebook shows a table of them."""

    def _repr_html_(self) -> str:
        return table(self)


def table(columns: Mapping[str, ColumnType]) -> str:
    """Columns and their types as HTML."""
    cells = "".join(
        f"<tr><td>{markup(_engine.printable(name))}</td><td>{markup(column.dtype)}</td>"
        f"<td>{markup(shape_text(column))}</td></tr>"
        for name, column in columns.items()
    )
    return f"<table><thead><tr><th>column</th><th>type</th><th>shape</th></tr></thead><tbody>{cells}</tbody></table>"


def shape_text(column: ColumnType) -> str:
    return "of any shape" if column.shape is None else str(column.shape)


class Base:
    """The part of a Dataset that operators are made with: all that makes a dataset of another stands on it."""

    # Dataset, which is made of this class: it sets itself here.
    _made: ClassVar[type[Dataset]]

    _node: _engine.Node
    _inputs: tuple[Dataset, ...]
    _bindings: list[Binding | None]
    _seed: int | None
    _on_error: ErrorPolicy | None
    _built: _engine.Graph | None
    _options: RunOptions
    # Where it was written; of a loaded graph not known.
    _location: SourceLocation = ("", 0)
    # Of a map: the kernels, columns and output that it was given; of a loaded graph not known.
    _mapping: tuple[Any, Any, Any] | None = None

    def __init__(self) -> None:
        raise TypeError(
            "a Dataset is made by a source, such as headrace.ImageFolder(…), headrace.Range(…) or headrace.load(…)"
        )

    def _begin(self, op: str, attributes: dict[str, Any]) -> None:
        """As a source."""
        self._set(op, attributes, (), [], None, None)

    def _reading(self, storage: Storage | None) -> AbstractContextManager[None]:
        """For a source that is being made: what it reads within is reached so, and so are its runs."""
        kept = RunOptions().changed({"storage": storage}, type(self).__name__, users_location())
        return self._made_within(kept)

    @contextmanager
    def _made_within(self, kept: RunOptions) -> Iterator[None]:
        with within(kept["storage"]):
            yield
        self._options = RunOptions.joined([self._options, kept], type(self).__name__)

    def _become(self, other: Dataset) -> None:
        """For a source that stands for itself and operators on it."""
        self._fill(other._node, other._inputs, other._bindings, other._seed, other._on_error)

    def _append(
        self,
        op: str,
        attributes: dict[str, Any],
        others: Sequence[Dataset] = (),
        steps: Sequence[Any] = (),
        step_bindings: Sequence[Binding] = (),
        limits: tuple[int, int, bool] = NO_LIMITS,
    ) -> Dataset:
        inputs = cast("tuple[Dataset, ...]", (self, *others))
        for other in inputs:
            if not isinstance(other, Base):
                several = f"; write {op}(*datasets)" if isinstance(other, (list, tuple)) else ""
                raise GraphError(f"{op} takes datasets, not {shown(other)}{several}")
        seed = next((dataset._seed for dataset in inputs if dataset._seed is not None), None)
        on_error = error_policy.joined(op, (dataset._on_error for dataset in inputs))
        joined = RunOptions.joined([dataset._options for dataset in inputs], op)
        dataset = object.__new__(self._made)
        dataset._set(op, attributes, inputs, steps, seed, on_error, step_bindings, limits)
        dataset._options = joined
        return dataset

    def _set(
        self,
        op: str,
        attributes: dict[str, Any],
        inputs: tuple[Dataset, ...],
        steps: Sequence[Any],
        seed: int | None,
        on_error: ErrorPolicy | None,
        step_bindings: Sequence[Binding] = (),
        limits: tuple[int, int, bool] = NO_LIMITS,
    ) -> None:
        bound = [value for value in attributes.values() if isinstance(value, Bound)]
        plain = {name: _plain(value) for name, value in attributes.items()}
        self._location = users_location()
        node = _engine.Node(op, plain, list(steps), self._location, *limits)
        self._fill(node, inputs, [*(value.binding for value in bound), *step_bindings], seed, on_error)

    def _fill(
        self,
        node: _engine.Node,
        inputs: tuple[Dataset, ...],
        bindings: list[Binding | None],
        seed: int | None,
        on_error: ErrorPolicy | None,
    ) -> None:
        self._node = node
        self._inputs = inputs
        self._bindings = bindings
        self._seed = seed
        self._on_error = on_error
        self._built = None
        self._options = RunOptions()

    def _copy(self) -> Dataset:
        copy = object.__new__(self._made)
        copy._fill(self._node, self._inputs, self._bindings, self._seed, self._on_error)
        copy._options = self._options
        copy._location = self._location
        copy._mapping = self._mapping
        return copy

    def __copy__(self) -> Dataset:
        return self._copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Dataset:
        # Nothing in it changes; its functions and arrays are the user's.
        return self._copy()

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
        nodes, datasets = ordered(self)
        objects = [
            reference.object_of(binding, name)
            for dataset in datasets
            for binding, name in zip(dataset._bindings, dataset._node.references, strict=True)
        ]
        return _engine.Graph(nodes, objects, self._seed, PRODUCER, max_errors)

    def _bound_graph(self, *given: dict[str, Any]) -> tuple[Any, ...]:
        """The graph, `given`, and the objects of its references."""
        graph = self._graph()
        missing = self._unbound()
        if missing:
            listed = ", ".join(missing)
            raise GraphError(
                f"the graph names Python functions or arrays that are not in the file: {listed}; "
                f"give them: headrace.load(path, references={{{missing[0]!r}: …}})"
            )
        held = [reference.resolved(binding) for _, binding in self._references() if binding is not None]
        parameters.of_bindings(held)
        return (graph, *given, reference.by_name(graph.references, held))

    def _references(self) -> list[tuple[str, Binding | None]]:
        """The names of the graph's references, each with its object, as far as it is here."""
        bindings = [binding for dataset in ordered(self)[1] for binding in dataset._bindings]
        return list(zip(self._graph().references, bindings, strict=True))

    def _unbound(self) -> list[str]:
        return [name for name, binding in self._references() if binding is None]

    @property
    def schema(self) -> dict[str, ColumnType]:
        """The columns of the result with their types, known before anything runs."""
        return Schema((name, ColumnType(dtype, shape)) for name, dtype, shape in self._graph().schema())


def _plain(value: Any) -> Any:
    if isinstance(value, Bound):
        return value.reference
    return getattr(value, "_bound", value)  # an Expression


def ordered(last: Base) -> tuple[list[tuple[_engine.Node, list[int]]], list[Base]]:
    """Nodes with the numbers of their inputs, inputs first, each dataset once; and the datasets, in the same order."""
    node_ids: dict[int, int] = {}
    nodes: list[tuple[_engine.Node, list[int]]] = []
    datasets: list[Base] = []
    waiting: list[Base] = [last]
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


def source(op: str, attributes: dict[str, Any]) -> Dataset:
    """The dataset of a source, which may be one that the user did not write."""
    dataset = object.__new__(Base._made)
    dataset._begin(op, attributes)
    return dataset
