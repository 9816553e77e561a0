"""Checks of kernels in the engine's own pipelines: what is refused, and the same rows whatever runs them."""

import functools
import json
import math
from typing import Any

import numpy as np

from headrace import _engine, load_plugin
from headrace.conformance.declared_kernel import listed
from headrace.conformance.subject import CheckFailed, Subject
from headrace.conformance.values import Types, Value, is_text, shown
from headrace.dataset import Dataset
from headrace.errors import Error, GraphError
from headrace.kernel import Kernel
from headrace.sources import Numpy

_ROWS = 48
_RUNS: dict[str, dict[str, Any]] = {
    "again": {"executor": "pull"},
    "on one thread of the pool": {"workers": 1},
    "on eight threads at once": {"workers": 8},
    "on eight threads, a second time": {"workers": 8},
    "one row at a time": {"window": 1},
    "without the optimizer": {"optimize": False},
}


def refusals(subject: Subject) -> None:
    """Values beyond declared bounds, and types that infer() refuses, are errors that name what is wrong."""
    declared = _declaration(subject)
    types = next((each for each in subject.types if _fits_numpy(subject, each)), None)
    if types is not None:
        for attribute in declared["attributes"]:
            for value in _beyond(attribute):
                _refuse_attribute(subject, types, attribute, value)
    if subject.refused is not None and _fits_numpy(subject, subject.refused):
        _refuse_types(subject, subject.refused)


def _declaration(subject: Subject) -> dict[str, Any]:
    return _declaration_of(_class_of(subject)._operator)


@functools.cache
def _declaration_of(name: str) -> dict[str, Any]:
    return next(op for op in json.loads(_engine.declarations())["operators"] if op["name"] == name)


def _class_of(subject: Subject) -> type[Kernel]:
    made: type[Kernel] = getattr(load_plugin(subject.path), subject.name)
    return made


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


def _refuse_attribute(subject: Subject, types: Types, attribute: dict[str, Any], value: Any) -> None:
    name = attribute["name"]
    given = listed({name: value})
    subject.note("a pipeline", given)
    try:
        kernel = _class_of(subject)(**(subject.given | {name: value}))
        rows = list(_over(subject, types, kernel, rows=1).iterate(executor="pull"))
    except GraphError as error:
        if name in str(error):
            return
        raise CheckFailed(given, f"an error that does not name {name}: {_line(error)}", f"name {name}") from error
    raise CheckFailed(given, f"{len(rows)} rows and no error", f"refuse it, or declare other bounds of {name}")


def _refuse_types(subject: Subject, types: Types) -> None:
    subject.note("a pipeline", shown(types))
    try:
        list(_over(subject, types, _kernel(subject), rows=6).iterate(executor="pull"))
    except GraphError as error:
        if _class_of(subject)._operator not in str(error):
            raise CheckFailed(
                shown(types), f"an error that does not name the operator: {_line(error)}", "name it"
            ) from error
    except Error as error:
        came = f"{type(error).__name__}: {_line(error)}"
        raise CheckFailed(shown(types), came, "refuse types in infer(), by HEADRACE_GRAPH_ERROR") from error


def _line(error: Error) -> str:
    return " ".join(str(error).split())


def pipelines(subject: Subject) -> None:
    """Every row is the same whatever the executor, the threads and the order of rows, and from views of arrays."""
    deterministic = _declaration(subject)["traits"]["deterministic"]
    for types in [each for each in subject.types if _fits_numpy(subject, each)][:3]:
        _check_runs(subject, types, deterministic)


def _check_runs(subject: Subject, types: Types, deterministic: bool) -> None:
    dataset = _over(subject, types, _kernel(subject))
    expected = _rows(subject, types, dataset, {"executor": "pull"})
    _check_schema(dataset, expected, types)
    if not deterministic:
        return
    for when, options in _RUNS.items():
        _check_equal(types, expected, _rows(subject, types, dataset, options), when)
    _check_equal(
        types,
        expected,
        _rows(subject, types, _over(subject, types, _kernel(subject), views=True), {}),
        "from views of arrays",
    )
    if not _declaration(subject)["traits"]["random"] and not _declaration(subject)["traits"]["by_batch"]:
        reversed_rows = _rows(subject, types, _over(subject, types, _kernel(subject), backwards=True), {"workers": 1})
        _check_equal(
            types,
            expected,
            reversed_rows[::-1] if isinstance(reversed_rows, list) else reversed_rows,
            "in reversed order",
        )


def _rows(subject: Subject, types: Types, dataset: Dataset, options: dict[str, Any]) -> list[dict[str, Any]] | str:
    """The rows, or what kind of error came instead."""
    subject.note(
        "a pipeline", f"{shown(types)}, iterate({', '.join(f'{name}={value!r}' for name, value in options.items())})"
    )
    try:
        return [dict(row) for row in dataset.iterate(seed=subject.seed, **options)]
    except Error as error:
        if "a fault of the plugin" in str(error) or " threw " in str(error):
            raise CheckFailed(shown(types), _line(error), "keep to the rules of headrace_plugin.h") from error
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


def _kernel(subject: Subject) -> Kernel:
    return _class_of(subject)(**subject.given)


def _over(
    subject: Subject, types: Types, kernel: Kernel, rows: int = _ROWS, views: bool = False, backwards: bool = False
) -> Dataset:
    by_batch = _declaration(subject)["traits"]["by_batch"]
    drawn = [subject.values(_row_types(types, by_batch), seed=row) for row in range(rows)]
    columns = {f"in{at}": _stacked([row[at] for row in drawn], views) for at in range(len(types))}
    if backwards:
        columns = {name: column[::-1] for name, column in columns.items()}
    dataset: Dataset = Numpy(columns)
    if by_batch:
        dataset = dataset.batch((types[0].shape or (1,))[0])
    return dataset.map(kernel, list(columns), output=[f"made{at}" for at in range(subject.outputs)])


def _row_types(types: Types, by_batch: bool) -> Types:
    if not by_batch:
        return types
    return tuple(type(column)(column.dtype, (column.shape or (1,))[1:]) for column in types)


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


def _fits_numpy(subject: Subject, types: Types) -> bool:
    """Whether a NumPy source can hold rows of these types."""
    rows = _row_types(types, _declaration(subject)["traits"]["by_batch"])
    return all(column.dtype != "bfloat16" and not (is_text(column.dtype) and column.shape) for column in rows)
