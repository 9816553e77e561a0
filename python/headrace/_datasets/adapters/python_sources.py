"""`Generator` and `from_dataset`: sources whose rows an object of Python gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._datasets.column_types import Columns, column_types
from headrace._datasets.row_objects import keys_of_first_row, rows_of
from headrace._graph import reference
from headrace._graph.adapters import adapts
from headrace._kernels.mapping import names
from headrace._workers.process_options import ProcessOptions
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("Generator")
def generator(source: Dataset, /, function: Any, columns: Columns) -> None:
    types = column_types(columns, "Generator")
    called = reference.iterator(function, [name for name, _, _ in types])
    source._begin("Generator", {"function": called, "columns": _engine.Columns(types)})


@adapts("from_dataset")
def from_dataset(
    source: Dataset,
    /,
    dataset: Any,
    columns: str | Sequence[str] | None,
    types: Columns | None,
    processes: int,
    worker_init: Callable[[int], Any] | None,
    seed_globals: bool | None,
    **attributes: Any,
) -> None:
    in_processes = ProcessOptions("from_dataset", processes, worker_init, seed_globals)
    count = rows_of(dataset)
    if columns is None:
        listed = names(keys_of_first_row(dataset, count), "the keys of row 0", "from_dataset")
    else:
        listed = names(columns, "columns", "from_dataset")
    declared = {} if types is None else {each[0]: each for each in column_types(types, "from_dataset")}
    for name in declared:
        if name not in listed:
            raise GraphError(f'from_dataset: types names "{name}", not a column (columns: {", ".join(listed)})')
    found = {
        "dataset": reference.rows(dataset, listed, in_processes),
        "columns": _engine.Columns([declared.get(name, (name, "unknown", None)) for name in listed]),
    }
    source._begin("from_dataset", {**found, **attributes})
