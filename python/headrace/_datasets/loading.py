"""Saved graphs as datasets: `headrace.load`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from headrace import _engine
from headrace._arguments.options import file_path, flag, shown
from headrace._datasets import batches, user_sampler
from headrace._datasets.dataset import Dataset
from headrace._datasets.fields.arrow_data import arrow_again
from headrace._datasets.fields.ragged_column import bound_columns
from headrace._datasets.fields.table_file import remade
from headrace._datasets.row_objects import rows_of
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole
from headrace._graph import parameter_uses
from headrace._graph.declared import operator
from headrace._graph.parameter_lists import ParameterList, holds_parameter
from headrace._graph.parameters import Parameter
from headrace._graph.reference import Binding, function, iterator, rows
from headrace._graph.set_calls import call_of, made_again, made_at
from headrace._runs.error_policy import ErrorPolicy
from headrace.errors import Error, GraphError

__all__ = ["load"]


def load(path: str | os.PathLike[str], references: Mapping[str, Any] | None = None, *, writes: bool = True) -> Dataset:
    """Reads a pipeline that `Dataset.save` wrote, or its JSON form.

    Args:
        path: The file.
        references: The Python functions and arrays that the graph names: `{"train.py:augment#0": augment}`; for those of a
            set of `headrace.datasets` also the folder where its files lie here.
        writes: Whether a run of the graph may write: rows of `cache(directory=)`, the listing of `ImageFolder(listing=)`,
            the indices of `index="build"`. False refuses a graph that would, with a GraphError that names the operator and
            the folder or file.
    """
    path = file_path("path", path, "load")
    writes = flag("writes", writes, "load")
    try:
        data = read_whole(path)
    except OSError as error:
        raise system_error(f"no graph at {path}", error) from None
    try:
        graph = _engine.Graph.parse_json(data.decode()) if data[:1] == b"{" else _engine.Graph.parse(data)
        graph.validate()
        refused_writes = [] if writes else graph.writes()
    except (GraphError, UnicodeDecodeError) as error:
        said = _ADVICE_FOR_MODELS if data[:1] != b"{" and _is_model(path) else str(error)
        refused = GraphError(*f"{_engine.printable(path)}: {said}".split("\n"))
        refused.file = path
        raise refused from None
    if refused_writes:
        listed = "; ".join(f"{op} may write {what}" for op, what in refused_writes)
        raise GraphError(
            f"{path}: {listed}; load was given writes=False: leave it out if you trust the graph, or have one made "
            "without that"
        )
    if references is not None and not isinstance(references, Mapping):
        raise GraphError(f"load: references is {shown(references)}; it must be a dict from name to function")
    return _from_graph(graph, dict(references or {}))


_ADVICE_FOR_MODELS = "this is a model, not a saved pipeline; hr.inference_of(path) gives the graph that travels with it"


def _is_model(path: str) -> bool:
    try:
        _engine.read_model_entries(os.fsencode(path))
    except Error:
        return False
    return True


def _from_graph(graph: _engine.Graph, given: dict[str, Any]) -> Dataset:
    datasets: list[Dataset] = []
    on_error = None if graph.max_errors is None else ErrorPolicy(True, graph.max_errors)
    known = set(graph.references)
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise GraphError(f"the graph names no {shown(name)} (it names: {listed})")
    bound: dict[str, Binding] = {}
    roots = _moved_roots(graph, given)
    for node, inputs in graph.nodes:
        dataset = object.__new__(Dataset)
        if (moved := _moved_set(node, given)) is not None:
            dataset._fill(moved[0], (), [moved[1]], graph.seed, on_error)
            datasets.append(dataset)
            continue
        node = _beside_moved(node, roots)
        for name in node.references:
            if name in given and name not in bound:
                bound[name] = _given_by_user(node, name, given[name])
            elif name not in bound and node.attributes.get("table_file"):
                bound[name] = ("late", remade(node.attributes, name))
            elif name not in bound and (call := call_of(node.attributes)) is not None:
                bound[name] = ("late", made_again(call, name))
        bindings = [bound.get(name) for name in node.references]
        dataset._fill(node, tuple(datasets[node_id] for node_id in inputs), bindings, graph.seed, on_error)
        datasets.append(dataset)
    named = {name: binding[1] for name, binding in bound.items() if binding[0] == "parameter"}
    if named:
        parameter_uses.note_uses(parameter_uses.uses_in(graph.json(), named))
    return datasets[-1]


def _moved_roots(graph: _engine.Graph, given: dict[str, Any]) -> dict[str, str]:
    """From the folders of the graph's sets to those that the user gives in their place."""
    found: dict[str, str] = {}
    for node, _ in graph.nodes:
        call = call_of(node.attributes)
        for name in node.references if call is not None and call.root else ():
            if isinstance(given.get(name), (str, bytes, os.PathLike)):
                assert call is not None
                found[call.root] = file_path(name, given[name], "load")
    return found


def _beside_moved(node: _engine.Node, roots: Mapping[str, str]) -> _engine.Node:
    """A source of a file in the folder of a set, such as its entries, where the set lies now; other nodes as they are."""
    declared = operator(node.op) if roots else None
    if declared is None or declared["role"] != "source" or node.references or node.draws:
        return node
    paths = [each["name"] for each in declared["attributes"] if each["path"] and each["type"] == "string"]
    moved = {name: _moved_path(path, roots) for name in paths if (path := node.attributes[name])}
    if all(node.attributes[name] == path for name, path in moved.items()):
        return node
    return _engine.Node(node.op, node.attributes | moved, [], ("", 0))


def _moved_path(path: str, roots: Mapping[str, str]) -> str:
    for old, new in roots.items():
        within = os.path.join(old, "")
        if path.startswith(within):
            return os.path.join(new, path[len(within) :])
    return path


def _moved_set(node: _engine.Node, given: dict[str, Any]) -> tuple[_engine.Node, Binding] | None:
    """The source of a set in place of the node, where the user gives the folder of its files."""
    call = call_of(node.attributes)
    for name in node.references if call is not None and call.root else ():
        if isinstance(given.get(name), (str, bytes, os.PathLike)):
            assert call is not None
            return made_at(call, file_path(name, given[name], "load"), name, node.attributes)
    return None


def _given_by_user(node: _engine.Node, name: str, value: Any) -> Binding:
    """The binding of a value that a user gives to `headrace.load(references=)` for a node of the graph."""
    kind = node.referenced_by(name)
    if kind == "arrays":
        if not isinstance(value, Mapping):
            raise GraphError(f"the reference {name} needs a dict from column to array, not {type(value).__name__}")
        return bound_columns(value).binding
    if kind == "arrow":
        return ("arrow", arrow_again(value, node.attributes, node.columns))
    if kind == "generator":
        return iterator(value, node.columns).binding
    if kind == "dataset":
        rows_of(value)
        return rows(value, node.columns).binding
    if kind in ("sampler size", "sampler indices"):
        return user_sampler.binding(kind == "sampler size", value)
    if kind in ("batch size", "batch function"):
        return batches.binding(kind == "batch size", value)
    if kind == "parameter":
        return ("parameter", _given_parameter(name, value))
    if not callable(value):
        raise GraphError(f"the reference {name} needs a function, not {type(value).__name__}")
    return function(value, predicate=kind == "predicate", reads=kind == "function")[0].binding


def _given_parameter(name: str, value: Any) -> Parameter | ParameterList:
    # The numbers of a list with parameters in it are part of the graph.
    listed = name.rpartition("#")[0] if "hr.parameter(" in name else ""
    if not listed and isinstance(value, Parameter):
        return value
    if listed and holds_parameter(value):
        made = ParameterList(value, f"the reference {name}")
        if made.name == listed:
            return made
    needed = f"the list {listed}" if listed else "an hr.parameter"
    raise GraphError(f"the reference {name} needs {needed}, not {shown(value) if listed else type(value).__name__}")
