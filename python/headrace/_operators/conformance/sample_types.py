"""Finds the types that a kernel takes by asking its infer(), because no declaration names them."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from headrace._operators.conformance.declared_operator import DeclaredKernel
from headrace._operators.conformance.host_functions import Failure
from headrace._operators.conformance.interface import NUMBER_OF_DTYPE
from headrace._operators.conformance.plugin_host import PluginHost
from headrace._operators.conformance.values import ColumnType, Types

# What checks that take one type prefer stands first.
_DTYPES = tuple(dict.fromkeys(("float32", "uint8", "int64", *NUMBER_OF_DTYPE)))
_SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((5, 7, 3), (5, 7, 1), (3, 5, 7), (5, 7, 4), (6, 6, 6)),
    ((5, 7), (6, 6), (5, 4), (5, 3), (5, 2)),
    ((7,), (1,), (2,), (3,), (4,)),
    ((),),
    ((2, 5, 7, 3), (2, 3, 5, 7)),
)
_ROWS = 6
# As many combinations are used at most: a kernel of several inputs may take thousands.
_MOST = 40


def probed(host: PluginHost, kernel: DeclaredKernel, given: Mapping[str, Any]) -> tuple[list[Types], Types | None]:
    """The types that it takes, of each dtype and rank one, and one that it refuses."""
    taken: dict[Any, Types] = {}
    refused = None
    for types in _candidates(kernel):
        kind = tuple((column.dtype, len(column.shape or ())) for column in types)
        if kind in taken or len(taken) >= _MOST:
            continue
        made = host.infer(kernel, given, types)
        if isinstance(made, Failure):
            refused = refused or types
        else:
            taken[kind] = types
    return list(taken.values()), refused


def _candidates(kernel: DeclaredKernel) -> Iterator[Types]:
    least, most = max(kernel.raw.least_inputs, 1), kernel.raw.most_inputs
    alike = [ColumnType(dtype, shape) for shapes in _SHAPES for dtype in _DTYPES for shape in _of(kernel, shapes)]
    for column in alike:
        yield (column,) * least
        if most > least:
            yield (column,) * (least + 1)
    if least > 1:
        firsts = [ColumnType(dtype, _of(kernel, shapes)[0]) for shapes in _SHAPES for dtype in _DTYPES]
        for one, other in itertools.permutations(firsts, 2):
            yield (one, *(other,) * (least - 1))


def _of(kernel: DeclaredKernel, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    return tuple((_ROWS, *shape) for shape in shapes) if kernel.by_batch else shapes


def resized(host: PluginHost, kernel: DeclaredKernel, given: Mapping[str, Any], types: Types, to: int) -> list[Types]:
    """The types with one axis of all columns, or with length 0 or 1 every axis, of another length, where the kernel takes them."""
    most_axes = max(len(column.shape or ()) for column in types)
    changed = [tuple(_with_axis(column, {axis}, to) for column in types) for axis in range(most_axes)]
    # Of few elements.
    if to <= 1:
        changed.append(tuple(_with_axis(column, set(range(most_axes)), to) for column in types))
    new = [each for each in dict.fromkeys(changed) if each != types]
    return [each for each in new if not isinstance(host.infer(kernel, given, each), Failure)]


def _with_axis(column: ColumnType, axes: set[int], to: int) -> ColumnType:
    shape = tuple(to if axis in axes else length for axis, length in enumerate(column.shape or ()))
    return ColumnType(column.dtype, shape)


def partly_known(types: Types) -> list[Types]:
    """What may be known before rows are there: neither dtypes nor shapes, no shapes, no lengths, all lengths but one."""
    made: list[Types] = [
        tuple(ColumnType("", None) for _ in types),
        tuple(ColumnType("", column.shape) for column in types),
        tuple(ColumnType(column.dtype, None) for column in types),
        tuple(ColumnType(column.dtype, tuple(-1 for _ in column.shape or ())) for column in types),
    ]
    for axis in range(max(len(column.shape or ()) for column in types)):
        made.append(tuple(_with_axis(column, {axis}, -1) for column in types))
    return made
