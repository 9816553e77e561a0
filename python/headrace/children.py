"""Functions that make several rows of one: `Dataset.flat_map` and `Dataset.interleave`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from headrace.errors import GraphError
from headrace.function_adapter import FunctionAdapter
from headrace.kernel import Kernel
from headrace.mapping import names
from headrace.options import shown
from headrace.stacking import stacked

if TYPE_CHECKING:
    from headrace.dataset import Dataset
    from headrace.methods import Methods

__all__ = ["flat_mapped", "interleaved"]


def flat_mapped(
    dataset: Dataset, function: Any, columns: str | Sequence[str], output: str | Sequence[str] | None
) -> Dataset:
    return _joined(dataset, "flat_map", function, columns, output).unbatch()


def interleaved(
    dataset: Methods,
    function: Any,
    columns: str | Sequence[str],
    output: str | Sequence[str] | None,
    cycle: int,
    block: int,
) -> Dataset:
    joined = _joined(dataset, "interleave", function, columns, output)
    return joined._append("interleave", {"cycle": cycle, "block": block})


def _joined(
    dataset: Methods, of: str, function: Any, columns: str | Sequence[str], output: str | Sequence[str] | None
) -> Dataset:
    """The rows that the function gives for each row, along a new first axis."""
    if isinstance(function, Kernel) or not callable(function):
        raise GraphError(f"{of}: {shown(function)} is no function; it must take a row and give rows")
    read = names(columns, "columns", of)
    made = read if output is None else names(output, "output", of)
    return dataset.map(_Children(of, function, made), read, made).project(made)


class _Children(FunctionAdapter):
    """Joins the rows that a function gives, along a new first axis."""

    def __init__(self, of: str, function: Callable[..., Any], output: list[str]) -> None:
        super().__init__(function)
        self._of = of
        self._output = output

    def __call__(self, *values: Any, **named: Any) -> Any:
        given = self._function(*values, **named)
        alone = isinstance(given, (str, bytes, dict)) or getattr(given, "ndim", 1) == 0
        if alone or not isinstance(given, Iterable):
            raise TypeError(
                f"{self._of}: the function gave {shown(given)}; it must give rows, as a list or a generator"
            )
        rows = [self._row(number, row) for number, row in enumerate(given)]
        joined = [stacked(self._of, name, [row[at] for row in rows]) for at, name in enumerate(self._output)]
        return joined[0] if len(joined) == 1 else tuple(joined)

    def _row(self, number: int, row: Any) -> list[Any]:
        if isinstance(row, dict):
            if set(row) != set(self._output):
                raise ValueError(f"{self._of}: row {number} has {_listed(row)}; it must have {_listed(self._output)}")
            return [row[name] for name in self._output]
        if len(self._output) == 1:
            return [row]
        if not isinstance(row, (tuple, list)) or len(row) != len(self._output):
            raise ValueError(f"{self._of}: row {number} is {shown(row)}; it must have {_listed(self._output)}")
        return list(row)


def _listed(names: Iterable[Any]) -> str:
    return "the columns " + ", ".join(map(str, names))
