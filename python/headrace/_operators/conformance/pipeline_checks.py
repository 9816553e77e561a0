"""Checks of kernels in the engine's own pipelines: what is refused, and the same rows whatever runs them."""

import dataclasses
import json
import math
from typing import Any

import numpy as np

from headrace import _engine
from headrace._datasets.dataset import Dataset
from headrace._kernels.kernel import Kernel
from headrace._operators.conformance.declared_operator import listed
from headrace._operators.conformance.subject import CheckFailed, KernelSubject
from headrace._operators.conformance.values import ColumnType, Types, Value, is_text, shown
from headrace.errors import Error, GraphError
from headrace.sources import Numpy

_ROWS = 48
RUNS: dict[str, dict[str, Any]] = {
    "again": {"executor": "pull"},
    "on one thread of the pool": {"workers": 1},
    "on eight threads at once": {"workers": 8},
    "on eight threads, a second time": {"workers": 8},
    "one row at a time": {"window": 1},
    "without the optimizer": {"optimize": False},
}


@dataclasses.dataclass
class _Target:
    """The kernel as the engine knows it."""

    subject: KernelSubject
    made: type[Kernel]
    declared: dict[str, Any]

    @property
    def by_batch(self) -> bool:
        return bool(self.declared["traits"]["by_batch"])

    def kernel(self, **changed: Any) -> Kernel:
        return self.made(**(self.subject.given | changed))


def _target(subject: KernelSubject) -> _Target:
    made = subject.in_engine()
    declared = json.loads(_engine.declarations())["operators"]
    return _Target(subject, made, next(op for op in declared if op["name"] == made._operator))


def refusals(subject: KernelSubject) -> None:
    """Values beyond declared bounds, and types that infer() refuses, are errors that name what is wrong."""
    target = _target(subject)
    types = next((each for each in subject.types if _fits_numpy(target, each)), None)
    if types is not None:
        for attribute in target.declared["attributes"]:
            for value in _beyond(attribute):
                _refuse_attribute(target, types, attribute["name"], value)
    if subject.refused is not None and _fits_numpy(target, subject.refused):
        _refuse_types(target, subject.refused)


def _beyond(attribute: dict[str, Any]) -> list[Any]:
    whole = attribute["type"] in ("int", "ints")
    values: list[Any] = []
    least, most = attribute["minimum"], attribute["maximum"]
    if least is not None and not (attribute["exclusive_minimum"] and not whole):
        values.append(int(least) - 1 if whole else math.nextafter(least, -math.inf))
    elif least is not None:
        values.append(least)
    if most is not None:
        values.append(int(most) + 1 if whole else math.nextafter(most, math.inf))
    if attribute["choices"]:
        values.append("no such choice")
    if attribute["type"] in ("ints", "floats"):
        return [(value,) * (attribute["lengths"] or [1])[0] for value in values]
    return values


def _refuse_attribute(target: _Target, types: Types, name: str, value: Any) -> None:
    given = listed({name: value})
    target.subject.note("a pipeline", given)
    try:
        rows = list(_over(target, types, target.kernel(**{name: value}), rows=1).iterate(executor="pull"))
    except GraphError as error:
        if name in str(error):
            return
        raise CheckFailed(given, f"an error that does not name {name}: {line(error)}", f"name {name}") from error
    raise CheckFailed(given, f"{len(rows)} rows and no error", f"refuse it, or declare other bounds of {name}")


def _refuse_types(target: _Target, types: Types) -> None:
    target.subject.note("a pipeline", shown(types))
    try:
        list(_over(target, types, target.kernel(), rows=6).iterate(executor="pull"))
    except GraphError as error:
        if target.made._operator not in str(error):
            came = f"an error that does not name the operator: {line(error)}"
            raise CheckFailed(shown(types), came, "name it") from error
    except Error as error:
        came = f"{type(error).__name__}: {line(error)}"
        raise CheckFailed(shown(types), came, "refuse types in infer(), by HEADRACE_GRAPH_ERROR") from error


def line(error: Error) -> str:
    return " ".join(str(error).split())


def pipelines(subject: KernelSubject) -> None:
    """Every row is the same whatever the executor, the threads and the order of rows, and from views of arrays."""
    target = _target(subject)
    for types in [each for each in subject.types if _fits_numpy(target, each)][:3]:
        _check_runs(target, types)


def _check_runs(target: _Target, types: Types) -> None:
    dataset = _over(target, types, target.kernel())
    expected = _rows(target, types, dataset, {"executor": "pull"})
    _check_schema(dataset, expected, types)
    traits = target.declared["traits"]
    if not traits["deterministic"]:
        return
    for when, options in RUNS.items():
        _check_equal(types, expected, _rows(target, types, dataset, options), when)
    views = _over(target, types, target.kernel(), views=True)
    _check_equal(types, expected, _rows(target, types, views, {}), "from views of arrays")
    if not traits["random"] and not target.by_batch:
        backwards = _rows(target, types, _over(target, types, target.kernel(), backwards=True), {"workers": 1})
        _check_equal(types, expected, backwards[::-1], "in reversed order")


def _rows(target: _Target, types: Types, dataset: Dataset, options: dict[str, Any]) -> list[dict[str, Any]] | str:
    """The rows, or what kind of error came instead."""
    target.subject.note("a pipeline", f"{shown(types)}, iterate({listed(options)})")
    try:
        return [dict(row) for row in dataset.iterate(seed=target.subject.seed, **options)]
    except Error as error:
        if "a fault of the plugin" in str(error) or " threw " in str(error):
            raise CheckFailed(shown(types), line(error), "keep to the rules of headrace_plugin.h") from error
        return type(error).__name__


def _check_schema(dataset: Dataset, rows: list[dict[str, Any]] | str, types: Types) -> None:
    schema = dataset.schema
    for row in rows if isinstance(rows, list) else []:
        for name, value in row.items():
            said = schema[name]
            if not isinstance(value, np.ndarray) or value.dtype == object or said.shape is None:
                continue
            fits = len(said.shape) == value.ndim and all(
                a in (None, b) for a, b in zip(said.shape, value.shape, strict=True)
            )
            if not fits:
                raise CheckFailed(
                    shown(types), f"a row of shape {value.shape}, where {said} was said", "make infer() right"
                )


def _check_equal(types: Types, expected: Any, other: Any, when: str) -> None:
    advice = "let results depend on inputs, attributes and the row's random numbers alone, and change no state"
    if isinstance(expected, str) or isinstance(other, str):
        if type(expected) is not type(other):
            raise CheckFailed(shown(types), f"an error in one run and rows in another, {when}", advice)
        return
    for number, (one, same) in enumerate(zip(expected, other, strict=True)):
        if any(_bytes(one[name]) != _bytes(same[name]) for name in one if name.startswith("made")):
            raise CheckFailed(shown(types), f"row {number} has other bytes {when}", advice)


def _bytes(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype, value.shape, value.tobytes()
    return value.tolist() if isinstance(value, np.ndarray) else value


def _over(
    target: _Target, types: Types, kernel: Kernel, rows: int = _ROWS, views: bool = False, backwards: bool = False
) -> Dataset:
    drawn = [target.subject.values(_row_types(target, types), seed=row) for row in range(rows)]
    columns = {f"in{at}": _stacked([row[at] for row in drawn], views) for at in range(len(types))}
    if backwards:
        columns = {name: column[::-1] for name, column in columns.items()}
    dataset: Dataset = Numpy(columns)
    if target.by_batch:
        dataset = dataset.batch((types[0].shape or (1,))[0])
    return dataset.map(kernel, list(columns), output=[f"made{at}" for at in range(target.made._outputs or 1)])


def _row_types(target: _Target, types: Types) -> Types:
    if not target.by_batch:
        return types
    return tuple(ColumnType(column.dtype, (column.shape or (1,))[1:]) for column in types)


def _stacked(values: list[Value], views: bool) -> np.ndarray:
    if values[0].array is None:
        text = values[0].type.dtype == "string"
        column = np.empty(len(values), object)
        column[:] = [each.strings[0].decode() if text else each.strings[0] for each in values]
        return column
    stacked = np.stack([value.array for value in values if value.array is not None])
    if not views or stacked.ndim < 2:
        return stacked
    # Every second element of an array of twice the length, so that rows have gaps.
    spread = np.zeros((*stacked.shape[:-1], 2 * stacked.shape[-1]), stacked.dtype)
    spread[..., ::2] = stacked
    return spread[..., ::2]


def _fits_numpy(target: _Target, types: Types) -> bool:
    """Whether a NumPy source can hold rows of these types."""
    rows = _row_types(target, types)
    return all(column.dtype != "bfloat16" and not (is_text(column.dtype) and column.shape) for column in rows)
