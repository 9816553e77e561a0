"""`InferenceGraph`: kernels over the columns of one row, called on the values of a request."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from headrace import _engine
from headrace._arguments import options
from headrace._arguments.late_numpy import np
from headrace._arguments.options import shown
from headrace._arguments.suggestions import did_you_mean
from headrace._datasets.adapters.inputs import requests
from headrace._datasets.base import ColumnType
from headrace._datasets.column_types import Columns, column_types
from headrace._files.whole_file import write_whole
from headrace._inference import model_file
from headrace._inference.replacements import Replacements
from headrace._inference.request_values import request_value
from headrace._inference.row_graph import row_graph
from headrace._inference.row_part import row_part
from headrace._inference.self_check import SelfCheck
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import names
from headrace.errors import DataError, Error, GraphError

__all__ = ["InferenceGraph"]

# A kernel, or several that follow each other, of the one input; or such kernels with their columns.
KernelsOfColumns: TypeAlias = (
    "Kernel | Sequence[Kernel | tuple[Any, ...]] | tuple[Any, ...] | Mapping[Any, Kernel | Sequence[Kernel]]"
)
_T = TypeVar("_T")
_OF = "InferenceGraph"
# Dtypes of outputs for which NumPy makes no array to write rows into.
_WITHOUT_SLOTS = ("bytes", "string", "unknown", "bfloat16")


class InferenceGraph:
    """Kernels as a function of one row: what prepares the input of a model. It draws nothing and calls no Python.

    Calls give the bytes that `map` with these kernels gives, and may come from several threads at once. It is a graph
    like that of a dataset: it has a hash, is saved, pickled and compared, and may travel in the file of a model, from
    which C, C++ and Python run it.

        prepare = hr.InferenceGraph([V.Decode(), V.Resize(256), V.CenterCrop(224), V.HWC2CHW()], {"image": "bytes"})
        prepare(jpeg)  # an array of shape (3, 224, 224)

    Args:
        kernels: A kernel, or several that are applied one after the other to the one input. Or, as `map` takes them, a
            tuple (kernels, columns) or (kernels, columns, output), or a list of such tuples, where columns may be
            `hr.mask`, `hr.boxes` and `hr.keypoints`; or a dict from column, or a tuple of columns, to kernels.
        inputs: From each input to its type: "bytes", such as those of an encoded picture, "string", a dtype, or
            (dtype, shape) with None for a dimension that may differ.
        keep: The columns that a call gives, a name or a list of them. None: all there are.
    """

    __slots__ = ("_check", "_data", "_engine", "_graph", "_slots", "__weakref__")

    def __init__(
        self,
        kernels: KernelsOfColumns,
        inputs: Columns,
        keep: str | Sequence[str] | None = None,
    ) -> None:
        # Of bytes and texts one is meant, where no shape is given.
        types = [
            (name, dtype, () if shape is None and dtype in ("bytes", "string") else shape)
            for name, dtype, shape in column_types(inputs, _OF)
        ]
        dataset = requests(types)
        for each, columns, output in _mappings(kernels, [name for name, _, _ in types]):
            _refuse_functions(each)
            dataset = dataset.map(each, columns, output=output)
        kept = [name for name, _, _ in dataset._build_graph().schema()] if keep is None else names(keep, "keep", _OF)
        part = row_part(dataset, kept, Replacements(None, _OF), _OF)
        unread = [name for name, _, _ in types if name not in {each[0] for each in part.types}]
        if unread:
            raise GraphError(f'{_OF}: no column that is kept depends on the input "{unread[0]}"; leave it out')
        self._hold(row_graph(part, kept, _OF, replaces=False))

    @classmethod
    def _of_graph(cls, graph: _engine.Graph) -> InferenceGraph:
        made = cls.__new__(cls)
        made._hold(graph)
        return made

    def _hold(self, graph: _engine.Graph) -> None:
        graph.validate()
        self._graph = graph
        self._data = graph.serialize()
        self._engine = _engine.InferenceGraph(self._data)
        self._check: SelfCheck | None = None
        self._slots = _fixed(self._engine.outputs)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> InferenceGraph:
        """The graph that `to_bytes` gave. GraphError if these are not the bytes of an inference graph.

        Args:
            data: The bytes.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise GraphError(f"{_OF}: data is {shown(data)}; it must be the bytes that to_bytes gave")
        return cls._of_graph(_engine.Graph.parse(bytes(data)))

    def to_bytes(self) -> bytes:
        """The graph, for `from_bytes` and for the C library."""
        return self._data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph to a file, which `hr.inference_of` and the C library read. An existing file is replaced.

        Args:
            path: The file.
        """
        path = options.file_path("path", path, "save")
        write_whole(path, self._data, f"cannot save to {path}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self._data, self._check)

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, InferenceGraph) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._data)

    def __repr__(self) -> str:
        return f"<headrace.InferenceGraph {', '.join(self.inputs)} → {', '.join(self.outputs)}>"

    @property
    def inputs(self) -> dict[str, ColumnType]:
        """The values that a call takes, in their order."""
        return {name: ColumnType(dtype, shape) for name, dtype, shape in self._engine.inputs}

    @property
    def outputs(self) -> dict[str, ColumnType]:
        """The values that a call gives, in their order."""
        return {name: ColumnType(dtype, shape) for name, dtype, shape in self._engine.outputs}

    @property
    def hash(self) -> str:
        """Equal for graphs that do the same by the same versions of their kernels, wherever they were written."""
        return self._engine.hash

    # ---- running it ----

    def __call__(self, /, *values: Any, **named: Any) -> Any:
        """What the graph makes of one row, as a row of a pipeline has it: the value where one column is kept, a dict by
        name where several are.

        Args:
            values: Those of the inputs in their order: bytes, texts, numbers, arrays, PIL images or torch tensors; or
                one dict by name.
            named: The same by name.
        """
        return self._shaped(self._run(self._row(values, named)))

    def batch(self, rows: Iterable[Any], *, errors: Literal["raise", "return"] = "raise") -> Any:
        """What the graph makes of several rows, stacked: an array whose first axis counts them, where one column is kept,
        and a dict of such arrays where several are. A column whose shapes differ, or which holds bytes or texts, is a
        list.

        Args:
            rows: A value each where the graph has one input, else a dict by name or a tuple in the order of the inputs.
            errors: "raise": the first row that fails ends the call, and the error names its number. "return": gives a
                list with what a call gives for each row, and for a row that fails its error.
        """
        options.choice("errors", errors, ("raise", "return"), _OF)
        listed = _rows(rows)
        if errors == "return":
            return [self._or_error(number, row) for number, row in enumerate(listed)]
        if self._slots is not None and listed:
            return self._into_slots(listed, self._slots)
        results = [self._run_numbered(number, row) for number, row in enumerate(listed)]
        return self._shaped([_stacked([row[i] for row in results]) for i in range(len(self._engine.outputs))])

    def trace(self, /, *values: Any, **named: Any) -> list[tuple[str, str, Any]]:
        """What each step makes of one row: the step, the column that it writes, and the value.

        Args:
            values: As for a call.
            named: The same by name.
        """
        given = self._row(values, named)
        return list(self._usable(lambda: self._engine.trace(given)))

    def _run(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._usable(lambda: self._engine.run(values))

    def _usable(self, run: Callable[[], _T]) -> _T:
        """What `run` gives. Objects that no column holds are errors of the request."""
        try:
            return run()
        except (TypeError, ValueError) as error:
            if isinstance(error, Error):
                raise
            listed = ", ".join(f'"{name}"' for name, _, _ in self._engine.inputs)
            of = "the input" if len(self._engine.inputs) == 1 else "one of the inputs"
            raise DataError(f"{of} {listed} cannot be used: {error}") from None

    def _into_slots(self, rows: Sequence[Any], slots: Sequence[tuple[str, tuple[int, ...]]]) -> Any:
        """Each row straight into the arrays."""
        made = [np.empty((len(rows), *shape), dtype) for dtype, shape in slots]
        for number, row in enumerate(rows):
            try:
                self._run_into(self._values(row), tuple(column[number] for column in made))
            except Error as error:
                raise _of_number(error, number) from None
        return self._shaped(made)

    def _run_into(self, values: tuple[Any, ...], slots: tuple[Any, ...]) -> None:
        self._usable(lambda: self._engine.run_into(values, slots))

    def _run_numbered(self, number: int, row: Any) -> tuple[Any, ...]:
        try:
            return self._run(self._values(row))
        except Error as error:
            raise _of_number(error, number) from None

    def _or_error(self, number: int, row: Any) -> Any:
        try:
            return self._shaped(self._run_numbered(number, row))
        except Error as error:
            return error

    def _shaped(self, results: Sequence[Any]) -> Any:
        """As a call gives them."""
        return results[0] if len(results) == 1 else dict(zip(self.outputs, results, strict=True))

    def _values(self, row: Any) -> tuple[Any, ...]:
        """Those of a row of a batch."""
        return self._row((row,), {}) if len(self._engine.inputs) == 1 else self._row(*_of_row(row))

    def _row(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values in the order of the inputs."""
        wanted = [name for name, _, _ in self._engine.inputs]
        if len(values) == 1 and not named and isinstance(values[0], Mapping):
            named = values[0]
            values = ()
        if len(values) > len(wanted):
            raise GraphError(f"takes {_counted_inputs(wanted)}, and got {len(values)} values")
        given = dict(zip(wanted, values, strict=False))
        for name, value in named.items():
            if name not in wanted:
                raise GraphError(f"has no input {shown(name)}{did_you_mean(str(name), wanted)} ({_listed(wanted)})")
            if name in given:
                raise GraphError(f'got two values for the input "{name}"')
            given[name] = value
        missing = [name for name in wanted if name not in given]
        if missing:
            raise GraphError(f'got no value for the input "{missing[0]}"; takes {_counted_inputs(wanted)}')
        return tuple(request_value(name, dtype, given[name]) for name, dtype, _ in self._engine.inputs)

    # ---- in the file of a model ----

    def entries(self, example: Any = None) -> dict[str, str]:
        """What `attach` writes, for a model that is written by its own library:
        `torch.jit.save(model, path, _extra_files=graph.entries())`.

        Args:
            example: As for `attach`.
        """
        return model_file.entries_of(self._data, self.hash, SelfCheck.made(self, example))

    def attach(self, path: str | os.PathLike[str], example: Any = None) -> None:
        """Puts the graph into the file of a model, in place of one that is there: of ONNX and safetensors into its
        metadata, and of another format into a file beside it, with `.hrg` after its name. Weights and other metadata stay
        as they are. An archive of torch is written by torch itself, as `entries` says; an OpenVINO model has the graph of
        the ONNX model that it is converted from.

        With it go an example and the checksum of what each step makes of it here, which `verify` compares.

        Args:
            path: The model, or a file `MODEL.hrg` to be written.
            example: The values of the inputs for the check: one value, or a dict by name. None: a small picture that is
                made for it.
        """
        path = options.file_path("path", path, "attach")
        model_file.write_entries(path, self.entries(example))

    def verify(self) -> None:
        """Runs the example that came with the graph, and compares what each step makes of it with what it made where
        the graph was attached. UnsupportedError that names the first step that differs, and the libraries whose versions do.
        GraphError if the graph came from no model.
        """
        if self._check is None:
            raise GraphError("verify: the graph was not read from the file of a model, so there is no example to run")
        self._check.verify(self)

    # ---- looking at it ----

    def explain(self) -> str:
        """The inputs, the steps in their order, and what comes out, as text."""
        lines = [f"inference graph {self.hash[:12]}"]
        lines += [f"  input   {name}: {_type_text(each)}" for name, each in self.inputs.items()]
        number = 0
        for node, _ in self._graph.nodes:
            for step, (_, reads, writes) in zip(node.steps, node.columns_of_steps, strict=True):
                number += 1
                lines.append(f"  {number:5d}   {step}  {', '.join(reads)} → {', '.join(writes)}")
            mapping = node.attributes.get("mapping") or {}
            lines += [f"          {old} is called {new}" for old, new in mapping.items()]
        lines += [f"  output  {name}: {_type_text(each)}" for name, each in self.outputs.items()]
        return "\n".join(lines)

    def to_json(self) -> str:
        """The graph as JSON."""
        return self._graph.json()


def _remade(data: bytes, check: SelfCheck | None) -> InferenceGraph:
    made = InferenceGraph.from_bytes(data)
    made._check = check
    return made


def _mappings(kernels: Any, inputs: Sequence[str]) -> list[tuple[Any, Any, Any]]:
    """Kernels, columns and output of each map."""
    if isinstance(kernels, Mapping):
        return [(each, list(key) if isinstance(key, tuple) else key, None) for key, each in kernels.items()]
    if isinstance(kernels, tuple) and len(kernels) in (2, 3) and not isinstance(kernels[1], Kernel):
        return [_mapping(kernels)]
    listed = list(kernels) if isinstance(kernels, (list, tuple)) else [kernels]
    if listed and all(isinstance(each, tuple) for each in listed):
        return [_mapping(each) for each in listed]
    if len(inputs) != 1 and listed:
        raise GraphError(
            f"{_OF}: there are {len(inputs)} inputs ({', '.join(inputs)}); say which columns the kernels take: "
            f'(kernels, "{inputs[0]}"), or a list of such'
        )
    return [(listed, inputs[0], None)] if listed else []


def _mapping(given: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    if len(given) not in (2, 3):
        raise GraphError(f"{_OF}: {shown(given)} must be (kernels, columns), or (kernels, columns, output)")
    return given[0], given[1], given[2] if len(given) == 3 else None


def _refuse_functions(kernels: Any) -> None:
    for each in kernels if isinstance(kernels, (list, tuple)) else [kernels]:
        if not isinstance(each, Kernel) and not (isinstance(each, type) and issubclass(each, Kernel)):
            advice = (
                "call a function on the result instead"
                if callable(each)
                else "give kernels alone, or (kernels, columns) for all of them"
            )
            raise GraphError(f"{_OF}: {shown(each)} is not a kernel; {advice}")


def _rows(rows: Any) -> list[Any]:
    if isinstance(rows, (bytes, bytearray, memoryview, str, Mapping)) or not isinstance(rows, Iterable):
        raise GraphError(f"{_OF}: rows is {shown(rows)}; it must be a list of rows; a call takes one of them")
    return list(rows)


def _of_row(row: Any) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    if isinstance(row, Mapping):
        return (), row
    if isinstance(row, (list, tuple)):
        return tuple(row), {}
    raise GraphError(f"a row of several inputs is a dict by name, or a tuple in their order, not {shown(row)}")


def _of_number(error: Error, number: int) -> Error:
    """The error, naming the row of a batch."""
    error._reword(f"row {number}: {error}")
    error.row = f"row {number}"
    return error


def _fixed(
    outputs: Iterable[tuple[str, str, tuple[int | None, ...] | None]],
) -> list[tuple[str, tuple[int, ...]]] | None:
    """Dtypes and shapes of outputs that are the same for all rows; None: one of them is not."""
    found = []
    for _, dtype, shape in outputs:
        if dtype in _WITHOUT_SLOTS or shape is None or None in shape or not shape:
            return None
        found.append((dtype, tuple(length for length in shape if length is not None)))
    return found


def _stacked(values: list[Any]) -> Any:
    if not values or any(isinstance(each, (bytes, str)) for each in values):
        return values
    kinds = {(np.shape(each), np.asarray(each).dtype) for each in values}
    return np.stack(values) if len(kinds) == 1 else values


def _type_text(column: ColumnType) -> str:
    if column.shape is None:
        return f"{column.dtype} of any shape"
    dimensions = ", ".join("?" if length is None else str(length) for length in column.shape)
    return f"{column.dtype} ({dimensions})" if column.shape else column.dtype


def _listed(inputs: Sequence[str]) -> str:
    return "inputs: " + ", ".join(inputs)


def _counted_inputs(inputs: Sequence[str]) -> str:
    return f"{len(inputs)} value{'s' if len(inputs) != 1 else ''} ({', '.join(inputs)})"
