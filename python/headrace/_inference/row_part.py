"""`row_part` finds what makes some columns of a row: the steps of maps between a pipeline's source and its result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from headrace import _engine
from headrace._arguments.suggestions import did_you_mean
from headrace._datasets.base import Base
from headrace._graph.declared import reads_files
from headrace._inference.graph_nodes import Node, Step, map_of, node_of, place_of, references_in
from headrace._inference.refusals import name_in_replace
from headrace._inference.replacements import Replacements
from headrace._kernels.chooser import flattened
from headrace._kernels.mapping import StepWriter, Types, kernel_list
from headrace._workers.process_options import ProcessOptions
from headrace.errors import GraphError

__all__ = ["RowPart", "row_part"]

# The parts above a place of the pipeline, the one next to it first: steps, and nodes that rename.
_Chain: TypeAlias = "tuple[Step | Node, _Chain] | None"


class RowPart(NamedTuple):
    types: Types
    """The columns of the source that it needs."""
    parts: list[Step | Node]
    """Steps, and nodes that rename columns, in order."""


class _Place(NamedTuple):
    """Where the walk is, going from the result to the sources."""

    dataset: Base
    needed: frozenset[str]
    chain: _Chain
    # Columns that steps read from files: a request gives what the files would hold.
    read: frozenset[str] = frozenset()


def row_part(
    result: Base, keep: Sequence[str], replacements: Replacements, of: str, gives_files: bool = False
) -> RowPart:
    """`gives_files`: whether what steps read from files is an input."""
    return _Walk(replacements, of, gives_files).from_result(result, keep)


class _Walk:
    """Follows the columns that are needed downwards. All that ends in a source must be prepared alike."""

    def __init__(self, replacements: Replacements, of: str, gives_files: bool) -> None:
        self._replacements = replacements
        self._of = of
        self._gives_files = gives_files
        self._found: list[tuple[Base, RowPart]] = []
        # Maps that hold what was put in the place of others.
        self._replaced: set[int] = set()
        # Made on the way, and kept as their ids are.
        self._made: list[Base] = []
        self._chains: dict[tuple[str, int], _Chain] = {}

    def from_result(self, result: Base, keep: Sequence[str]) -> RowPart:
        known = _columns_of(result)
        for name in keep:
            if name not in known:
                near = did_you_mean(name, known)
                listed = ", ".join(f'"{each}"' for each in known)
                raise GraphError(f'{self._of}: keep names "{name}", not a column{near or f" (columns: {listed})"}')
        waiting = [_Place(result, frozenset(keep), None)]
        seen: set[tuple[int, frozenset[str], int, frozenset[str]]] = set()
        while waiting:
            place = waiting.pop()
            key = (id(place.dataset), place.needed, id(place.chain), place.read)
            if key not in seen:
                seen.add(key)
                waiting += reversed(list(self._below(place)))
        return self._one()

    def _one(self) -> RowPart:
        (_, first), *others = self._found
        wanted = _signature(first)
        for source, other in others:
            if _signature(other) != wanted:
                raise GraphError(
                    f"{self._of}: the pipeline joins rows that are prepared in different ways, those of "
                    f"{_named(self._found[0][0])} and those of {_named(source)}; give it the part of one of them"
                )
        return first

    def _below(self, place: _Place) -> Iterator[_Place]:
        """Where the columns come from."""
        dataset, node = place.dataset, place.dataset._node
        if not dataset._inputs:
            self._found.append((dataset, self._at_source(place)))
        elif node.stands_for_attribute or node.by_number or (not self._is_map(dataset) and self._is_removed(dataset)):
            yield place._replace(dataset=dataset._inputs[0])
        elif self._is_map(dataset):
            yield self._below_map(place)
        elif node.row_by_row:
            yield self._below_names(place)
        elif node.side_by_side:
            yield self._below_zip(place)
        elif len(dataset._inputs) > 1:
            yield from self._below_joined(place)
        else:
            yield self._below_other(place)

    def _at_source(self, place: _Place) -> RowPart:
        types = [each for each in place.dataset._build_graph().schema() if each[0] in place.needed]
        missing = sorted(place.needed - {name for name, _, _ in types})
        if missing:
            raise GraphError(f'{self._of}: "{missing[0]}" comes from no column of {_named(place.dataset)}')
        for name in sorted(place.read):
            if name in place.needed:
                raise GraphError(
                    f'{self._of}: "{name}" is a column of {_named(place.dataset)}, and also what a step reads from a file; '
                    "give the step another output"
                )
            types.append((name, "bytes", ()))
        parts = []
        chain = place.chain
        while chain is not None:
            parts.append(chain[0])
            chain = chain[1]
        return RowPart(types, parts)

    def _prepended(self, part: Step | Node, chain: _Chain) -> _Chain:
        """One object for all chains of the same steps, so that ways which meet again are walked once."""
        return self._chains.setdefault((json.dumps(part), id(chain)), (part, chain))

    # ---- maps ----

    @staticmethod
    def _is_map(dataset: Base) -> bool:
        return dataset._mapping is not None or bool(dataset._node.columns_of_steps)

    def _is_removed(self, dataset: Base) -> bool:
        return self._replacements.removes(dataset._node.op)

    def _below_map(self, place: _Place) -> _Place:
        changed = None if id(place.dataset) in self._replaced else self._with_replacements(place.dataset)
        if changed is not None:
            return place._replace(dataset=changed)
        chain, needed, read = place.chain, place.needed, place.read
        for step in reversed(self._steps(place.dataset)):
            outputs = step.get("outputs", ())
            if needed.isdisjoint(outputs):
                continue
            needed = needed.difference(outputs)
            if self._gives_files and reads_files(step["kernel"]):
                read = read.union(outputs)
                continue
            chain = self._prepended(step, chain)
            needed = needed.union(step.get("inputs", ()))
        return _Place(place.dataset._inputs[0], needed, chain, read)

    def _with_replacements(self, dataset: Base) -> Base | None:
        """The map with other kernels in the place of some of its own; None: it stays, or is of a saved graph."""
        if dataset._mapping is None:
            return None
        kernels, columns, output = dataset._mapping
        listed = list(flattened(kernel_list(kernels)))
        instead = [self._replacements.of_kernel(kernel) for kernel in listed]
        if all(each is None for each in instead):
            return None
        left = [
            kernel
            for own, others in zip(listed, instead, strict=True)
            for kernel in ([own] if others is None else others)
        ]
        (below,) = dataset._inputs
        if not left:
            if output is not None and output != columns:
                raise GraphError(
                    f"{self._of}: nothing is left of {_named(dataset)}, which writes {', '.join(output)}; put a kernel in "
                    "its place"
                )
            return below
        made = below.map(left, columns, output=None if output == columns else output)
        self._made.append(made)
        mapped: Base = made if made._mapping is not None else made._inputs[0]
        self._replaced.add(id(mapped))
        return made

    def _steps(self, dataset: Base) -> list[Step]:
        steps = map_of(dataset)
        if dataset._mapping is not None:
            return steps
        replaced: list[Step] = []
        for step in steps:
            function = next((name for _, name in references_in(step)), None)
            instead = self._replacements.of_step(step["kernel"], function)
            replaced += [step] if instead is None else self._in_place(step, instead)
        return replaced

    def _in_place(self, step: Step, kernels: Sequence[Any]) -> list[Step]:
        """Of a saved graph, whose kernels are not objects: those of the step's columns."""
        inputs, outputs = list(step.get("inputs", ())), list(step.get("outputs", ()))
        if not kernels and inputs == outputs:
            return []
        if not kernels:
            raise GraphError(
                f"{self._of}: nothing is left of {step['kernel']}, which writes {', '.join(outputs)}; put a kernel in its "
                "place"
            )
        return _written(kernels, inputs, outputs)

    # ---- other operators ----

    def _below_names(self, place: _Place) -> _Place:
        """`rename` and `project`."""
        node = place.dataset._node
        mapping = node.attributes.get("mapping")
        if mapping is None:
            return place._replace(dataset=place.dataset._inputs[0])
        old = {new: name for name, new in mapping.items()}
        changes = {old[name]: name for name in sorted(place.needed) if old.get(name, name) != name}
        below = frozenset(old.get(name, name) for name in place.needed)
        if not changes:
            return place._replace(dataset=place.dataset._inputs[0])
        made = node_of(_engine.Node(node.op, {"mapping": changes}, [], place.dataset._location))
        return place._replace(dataset=place.dataset._inputs[0], needed=below, chain=self._prepended(made, place.chain))

    def _below_zip(self, place: _Place) -> _Place:
        for each in place.dataset._inputs:
            if place.needed.issubset(_columns_of(each)):
                return place._replace(dataset=each)
        listed = ", ".join(f'"{name}"' for name in sorted(place.needed))
        raise GraphError(
            f"{self._of}: the columns {listed} come from several inputs of {_named(place.dataset)}; keep those of one, or "
            "write the graph with hr.InferenceGraph"
        )

    def _below_joined(self, place: _Place) -> Iterator[_Place]:
        """Of several datasets, those that have the columns: one without them gives numbers of the others."""
        for each in place.dataset._inputs:
            if place.needed.issubset(_columns_of(each)):
                yield place._replace(dataset=each)

    def _below_other(self, place: _Place) -> _Place:
        """An operator of one input. What it makes of other rows may not be needed."""
        dataset, node = place.dataset, place.dataset._node
        attributes = node_of(node).get("attributes", ())
        calls = any("reference" in each["value"] for each in attributes)
        values = node.attributes
        touched = values.get("output") or values.get("columns")
        within = place.needed if touched is None else place.needed.intersection(touched)
        if node.joins_rows:
            self._refuse_whole_batches(place)
            if calls and within:
                raise self._refusal(dataset, within, "calls a Python function for rows together")
        elif node.splits_rows:
            if within:
                raise self._refusal(dataset, within, "makes several rows of one")
        elif "output" in values:
            if within:
                raise self._refusal(dataset, within, "calls a Python function with the rows before")
        elif "predicate" in (each["name"] for each in attributes):
            read = _columns_in(attributes) if not calls else within
            if read & place.needed:
                raise self._refusal(dataset, read & place.needed, "leaves rows out by what is kept")
        return place._replace(dataset=dataset._inputs[0])

    def _refuse_whole_batches(self, place: _Place) -> None:
        """Steps above a batch get the rows of a batch at once, but for those that were put there for one row."""
        chain = place.chain
        while chain is not None:
            part, chain = chain
            if "kernel" not in part or self._is_put_in(part):
                continue
            name, at = name_in_replace(part), place_of(part)
            raise GraphError(
                f"{self._of}: {name}{f' ({at})' if at else ''} gets whole batches, as it stands after "
                f"{_named(place.dataset)}, and a request is one row: leave it out, "
                f'replace={{"{name}": []}}, or write kernels that do the same for a row, replace={{"{name}": […]}}'
            )

    def _is_put_in(self, step: Step) -> bool:
        location = step.get("location", {})
        return self._replacements.is_replacement(step["kernel"], (location.get("file", ""), location.get("line", 0)))

    def _refusal(self, dataset: Base, columns: Iterable[str], what: str) -> GraphError:
        listed = ", ".join(f'"{name}"' for name in sorted(columns))
        return GraphError(
            f"{self._of}: {_named(dataset)} {what} ({listed}), and a request is one row: leave it out, "
            f'replace={{"{dataset._node.op}": []}}, or take the part before it'
        )


def _written(kernels: Sequence[Any], inputs: list[str], outputs: list[str]) -> list[Step]:
    writer = StepWriter(None, None, ProcessOptions("map", 0, None, None))
    writer.write(list(kernels), inputs, outputs)
    return list(node_of(_engine.Node("map", {}, writer.steps, ("", 0))).get("steps", ()))


def _columns_of(dataset: Base) -> list[str]:
    """Without the warnings that the schema of a dataset gives."""
    return [name for name, _, _ in dataset._build_graph().schema()]


def _columns_in(attributes: Iterable[Any]) -> set[str]:
    """Those that the expressions among the attributes read."""
    found = set()
    waiting: list[Any] = [each["value"].get("expression", {}) for each in attributes]
    while waiting:
        each = waiting.pop()
        if "column" in each:
            found.add(each["column"])
        waiting += each.get("call", {}).get("arguments", ())
    return found


def _named(dataset: Base) -> str:
    file, line = dataset._location
    return f"{dataset._node.op} ({file}:{line})" if file else dataset._node.op


def _signature(part: RowPart) -> str:
    """Whatever decides what a row becomes."""
    return json.dumps([part.types, [{**each, "location": None} for each in part.parts]])
