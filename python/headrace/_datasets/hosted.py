"""Operators that take Python objects: functions, iterators and arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from headrace import _engine
from headrace._arguments.dtype import DType, dtype_name
from headrace._arguments.options import flag, memory_bytes, path, shown, text
from headrace._datasets.fields.csv_fields import csv_attributes as csv_attributes
from headrace._datasets.fields.json_fields import json_attributes as json_attributes
from headrace._graph import reference
from headrace._graph.expression import Expression
from headrace._graph.parameter_uses import bound_steps, note_uses
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import Kernels, StepWriter, Types, names
from headrace._kernels.targets import Target, pictures_and_targets
from headrace._runs.stage_limits import StageLimits, given_limits
from headrace._workers.process_options import ProcessOptions
from headrace.errors import Error, GraphError, ResourceError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset
    from headrace._datasets.methods import Methods

# Names, or names with their types as far as known.
Columns: TypeAlias = str | Sequence[str] | Mapping[str, DType | tuple[DType, Sequence[int | None] | None]]

# Names with their types, of one shape each.
FieldTypes: TypeAlias = Mapping[str, DType | tuple[DType, Sequence[int | None]]]


def numpy_attributes(arrays: Mapping[str, Any] | Any, **attributes: Any) -> dict[str, Any]:
    given = dict(arrays) if isinstance(arrays, Mapping) else {"data": arrays}
    if not given:
        raise GraphError("Numpy: no arrays; give a dict from column to array, or one array")
    columns, types = array_columns(given, "Numpy")
    return {"arrays": reference.arrays(columns), "columns": _engine.Columns(types), **attributes}


def manifest_attributes(
    table: Any, path_column: str, root: str | PathLike[str] | None, **attributes: Any
) -> dict[str, Any]:
    from headrace._datasets.fields.tables import table_columns, with_plain_paths

    paths = text("path_column", path_column, "Manifest")
    given = table_columns(table, paths, "Manifest")
    if paths not in given:
        raise GraphError(f'Manifest: the table has no column "{paths}" (columns: {", ".join(map(str, given))})')
    columns, types = array_columns(given | {paths: with_plain_paths(given[paths])}, "Manifest")
    return {
        "arrays": reference.arrays(columns),
        "types": _engine.Columns(types),
        "path_column": paths,
        "root": "" if root is None else path("root", root, "Manifest"),
        **attributes,
    }


def array_columns(given: Mapping[str, Any], of: str) -> tuple[dict[str, Any], Types]:
    """The columns as arrays of equally many rows, and their types."""
    columns = {}
    for name, array in given.items():
        columns[text("a column's name", name, of)] = _array_of(name, array, of)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise GraphError(f"{of}: columns differ in their number of rows: {listed}")
    return columns, [(name, _column_dtype(name, column, of), column.shape[1:]) for name, column in columns.items()]


def _array_of(name: str, given: Any, of: str) -> Any:
    import numpy as np

    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise GraphError(
            f'{of}: column "{name}" has masked values, and no column holds a mask; give filled(value) of it'
        )
    try:
        column = np.asarray(given)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise GraphError(f'{of}: column "{name}" is {shown(given)}, which is no array: {error}') from error
    except MemoryError as error:
        raise ResourceError(f'{of}: column "{name}" does not fit into memory as an array: {error}') from error
    if column.ndim == 0:
        raise GraphError(f'{of}: column "{name}" is a single value; its first axis must count the rows')
    return column


def _column_dtype(name: str, column: Any, of: str) -> str:
    kind = column.dtype.kind
    if kind == "S":
        return "bytes"
    if kind == "U":
        return "string"
    if kind == "O":
        kinds = {type(value) for value in column.flat}
        if kinds <= {bytes}:
            return "bytes"
        if kinds <= {str}:
            return "string"
        listed = ", ".join(sorted(each.__name__ for each in kinds))
        raise GraphError(
            f'{of}: column "{name}" holds Python objects ({listed}); only bytes alone or str alone can be held'
        )
    known = str(column.dtype.name)
    if known not in _NUMBERS:
        raise GraphError(f'{of}: column "{name}" is {known}; no column can hold that')
    return known


_NUMBERS = {"bool", "float16", "bfloat16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def generator_attributes(function: Any, columns: Columns) -> dict[str, Any]:
    types = column_types(columns)
    return {
        "function": reference.iterator(function, [name for name, _, _ in types]),
        "columns": _engine.Columns(types),
    }


def column_types(columns: Columns, of: str = "Generator") -> Types:
    if not isinstance(columns, Mapping):
        columns = dict.fromkeys(names(columns, "columns", of), "unknown")
    types: Types = []
    for name, given in columns.items():
        name = text("a column's name", name, of)
        dtype, shape = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        try:
            types.append((name, dtype_name(dtype), None if shape is None else tuple(shape)))
        except (TypeError, ValueError):
            raise GraphError(
                f'{of}: the type of column "{name}" is {shown(given)}; give a dtype, or (dtype, shape)'
            ) from None
    if not types:
        raise GraphError(f"{of}: no columns; name at least one")
    return types


def dataset_attributes(
    dataset: Any,
    columns: str | Sequence[str] | None,
    types: Columns | None,
    processes: int,
    worker_init: Callable[[int], Any] | None,
    seed_globals: bool | None,
    **attributes: Any,
) -> dict[str, Any]:
    in_processes = ProcessOptions("from_dataset", processes, worker_init, seed_globals)
    count = rows_of(dataset)
    if columns is None:
        listed = names(_keys_of_first_row(dataset, count), "the keys of row 0", "from_dataset")
    else:
        listed = names(columns, "columns", "from_dataset")
    declared = {} if types is None else {each[0]: each for each in column_types(types, "from_dataset")}
    for name in declared:
        if name not in listed:
            raise GraphError(f'from_dataset: types names "{name}", which is no column (columns: {", ".join(listed)})')
    return {
        "dataset": reference.rows(dataset, listed, in_processes),
        "columns": _engine.Columns([declared.get(name, (name, "unknown", None)) for name in listed]),
        **attributes,
    }


def rows_of(dataset: Any) -> int:
    """The number of rows of an object that can be asked for them by number; GraphError for any other."""
    from headrace._datasets.dataset import Dataset  # Which imports this module.

    kind = type(dataset)
    if isinstance(dataset, type):
        raise GraphError(f"from_dataset: {dataset.__name__} is a class; give an object of it")
    if isinstance(dataset, Dataset):
        raise GraphError(f"from_dataset: this {kind.__name__} is a headrace.Dataset already; use it as it is")
    if isinstance(dataset, (str, PathLike)):
        raise GraphError(
            f"from_dataset: a {kind.__name__} has no rows by number; for a path write the source that reads it, such as "
            "hr.ImageFolder(path)"
        )
    if isinstance(dataset, (Mapping, bytes, bytearray)):
        raise GraphError(
            f"from_dataset: a {kind.__name__} has no rows by number; give a list of rows, or hr.Numpy columns"
        )
    streams = any(each.__name__ == "IterableDataset" for each in kind.__mro__)
    if streams or not hasattr(kind, "__len__") or not hasattr(kind, "__getitem__"):
        lacks = (
            "is read from its start"
            if streams
            else "has no __len__"
            if hasattr(kind, "__getitem__")
            else "has no __getitem__"
        )
        raise GraphError(
            f"from_dataset: {kind.__name__} {lacks}, so its rows cannot be asked for by number; "
            "write hr.Generator(lambda: iter(dataset), columns) to read it from its start in each epoch"
        )
    return len(dataset)


def _keys_of_first_row(dataset: Any, count: int) -> list[str]:
    kind = type(dataset).__name__
    if count == 0:
        raise GraphError(
            f"from_dataset: this {kind} has no rows, so its columns are not known; name them with columns="
        )
    try:
        row = dataset[0]
    except Exception as error:
        raise GraphError(
            f"from_dataset: {kind} raised {type(error).__name__}: {error} for row 0, which is asked for to learn the "
            "columns; name them with columns="
        ) from error
    if isinstance(row, dict):
        return list(row)
    if isinstance(row, (tuple, list)):
        example = ["image", "label"] if len(row) == 2 else [f"column_{number}" for number in range(len(row))]
        what = f"a {type(row).__name__} of {len(row)} values, which have no names"
    else:
        example, what = ["value"], f"a {type(row).__name__}, which has no name"
    raise GraphError(
        f"from_dataset: a row of {kind} is {what}; write from_dataset(dataset, columns={example!r})".replace("'", '"')
    )


def mapped(
    dataset: Methods,
    kernels: Kernels,
    columns: str | Target | Sequence[str | Target],
    output: str | Sequence[str] | None,
    ordered: bool | None,
    types: Columns | None,
    processes: int,
    worker_init: Callable[[int], Any] | None,
    seed_globals: bool | None,
    workers: int | None = None,
    window: int | None = None,
    device: str | None = None,
) -> Dataset:
    if isinstance(kernels, str) or (isinstance(columns, Kernel) or callable(columns)):
        raise GraphError(
            f'map: the kernels come first, and then the columns: map([Decode()], "image"); '
            f"here kernels is {shown(kernels)} and columns is {shown(columns)}"
        )
    followed = pictures_and_targets(columns)
    if followed is not None:
        return _mapped_with_targets(
            dataset, kernels, *followed, output, types, processes, given_limits("map", workers, window, device)
        )
    read = names(columns, "columns", "map")  # type: ignore[arg-type]
    ordered = None if ordered is None else flag("ordered", ordered, "map")
    in_processes = ProcessOptions("map", processes, worker_init, seed_globals)
    writer = StepWriter(ordered, None if types is None else column_types(types, "map"), in_processes)
    writer.write(kernels, read, read if output is None else names(output, "output", "map"))
    limits = given_limits("map", workers, window, device)
    if limits.on_device and writer.bound:
        raise GraphError("map: Python functions run on the host; put them into a map without device=")
    if limits.workers > 0 and writer.bound:
        _check_callers(limits.workers, processes, ordered)
    return _of_steps(dataset, writer.steps, [bound.binding for bound in writer.bound], limits)


def _mapped_with_targets(
    dataset: Methods,
    kernels: Kernels,
    pictures: list[Any],
    targets: list[Target],
    output: str | Sequence[str] | None,
    types: Columns | None,
    processes: int,
    limits: StageLimits,
) -> Dataset:
    from headrace._kernels.target_steps import TargetStepWriter

    if output is not None:
        raise GraphError("map: masks, boxes and keypoints take the place of what they were made of; leave output out")
    if types is not None or processes != 0:
        raise GraphError("map: types and processes are of Python functions, and targets follow kernels alone")
    if limits.on_device:
        raise GraphError("map: masks, boxes and keypoints are moved on the host; leave device= out")
    writer = TargetStepWriter(None, None, ProcessOptions("map", 0, None, None))
    writer.write_targets(kernels, pictures, targets, _images_of(dataset))
    return _of_steps(dataset, writer.steps, [], limits)


def _of_steps(dataset: Methods, steps: Sequence[Any], functions: Sequence[Any], limits: StageLimits) -> Dataset:
    steps, bindings, uses = bound_steps(steps, functions)
    made = dataset._append("map", {}, steps=steps, step_bindings=bindings, limits=limits)
    note_uses(uses)
    return made


def _images_of(dataset: Methods) -> set[str]:
    """The columns that are known to hold images, which are not encoded."""
    from headrace._datasets.dataset import Dataset

    assert isinstance(dataset, Dataset)
    try:
        schema = dataset.schema
    except Error:  # Reported when the dataset is used, with all that is wrong.
        return set()
    return {name for name, (_, shape) in schema.items() if shape is not None and len(shape) > 1}


def _check_callers(workers: int, processes: int, ordered: bool | None) -> None:
    """`workers` of a map that calls Python functions."""
    if processes > 0:
        raise GraphError(
            f"map: processes={processes} says how many calls of the function run at once; leave workers out, or write "
            "kernels in a map of their own"
        )
    if workers > 1 and ordered is not False:
        raise GraphError(
            f"map: the function is called in row order, one row at a time, and workers is {workers}; give ordered=False, "
            f"so that {workers} threads call it, or processes={workers}, or write kernels in a map of their own"
        )


def filtered(
    dataset: Methods, predicate: Expression | Callable[..., Any], columns: str | Sequence[str] | None
) -> Dataset:
    if isinstance(predicate, Expression):
        if columns is not None:
            raise GraphError("filter: an expression names its columns itself; columns= is for Python functions")
        return dataset._append("filter", {"predicate": predicate})
    if isinstance(predicate, Kernel) or not callable(predicate):
        raise GraphError(f"filter: {shown(predicate)} is neither a column expression nor a function")
    chosen = None if columns is None else names(columns, "columns", "filter")
    bound, wants_rng = reference.function(predicate, predicate=True, columns=chosen)
    return dataset._append("filter", {"function": bound, "columns": chosen, "random": wants_rng})


def padding(of: str, pad_value: Any) -> dict[str, Any]:
    """What the method `of` pads with: a number, or numbers by column."""
    if not isinstance(pad_value, Mapping):
        return {"pad_value": pad_value}
    columns = [text("a column of pad_value", name, of) for name in pad_value]
    return {"pad_value": 0, "pad_columns": columns, "pad_values": list(pad_value.values())}


def _joining_attributes(pad: Any, pad_value: Any, ragged: Any) -> dict[str, Any]:
    """`pad=True` and `ragged="pad"` are one; what is said column by column stands apart."""
    attributes: dict[str, Any] = {"pad": pad, **padding("batch", pad_value)}
    if isinstance(ragged, Mapping):
        attributes["ragged_columns"] = {
            text("a column of ragged", name, "batch"): _ragged_form(form) for name, form in ragged.items()
        }
    elif ragged is not None:
        form = _ragged_form(ragged)
        attributes |= {"pad": True} if form == "pad" else {"ragged": form}
    return attributes


def _ragged_form(given: Any) -> str:
    if isinstance(given, str) and given in ("list", "pad", "splits"):
        return given
    raise GraphError(
        f'batch: ragged is {shown(given)}; it must be "list", "pad" or "splits", or a dict from column to one'
    )


def batched(
    dataset: Methods,
    size: Any,
    drop_remainder: bool,
    pad: bool,
    pad_value: float | Mapping[str, float],
    ragged: str | Mapping[str, str] | None,
    function: Callable[..., Any] | None,
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    attributes = {"drop_remainder": drop_remainder, **_joining_attributes(pad, pad_value, ragged)}
    if function is None and (output is not None or types is not None):
        raise GraphError("batch: output and types say what a function gives; give function=, too")
    if function is None and not callable(size):
        return dataset._append("batch", {"size": size, **attributes})
    from headrace._datasets import batches

    if callable(size):
        attributes["choose_size"] = batches.of_sizes(size)
    else:
        attributes["size"] = size
    if function is not None:
        attributes["function"], attributes["random"] = batches.of_batches(function)
        attributes["output"] = None if output is None else names(output, "output", "batch")
        attributes["types"] = None if types is None else _engine.Columns(column_types(types, "batch"))
    return dataset._append("python_batch", attributes)


def grouped(
    dataset: Methods,
    key: str,
    size: int,
    function: Callable[..., Any],
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    from headrace._datasets import batches

    bound, wants_rng = batches.of_batches(function, "group_by_window")
    attributes: dict[str, Any] = {"key": key, "size": size, "function": bound, "random": wants_rng}
    attributes["output"] = None if output is None else names(output, "output", "group_by_window")
    attributes["types"] = None if types is None else _engine.Columns(column_types(types, "group_by_window"))
    return dataset._append("group_by_window", attributes)


def flat_mapped(
    dataset: Methods,
    function: Callable[..., Any],
    columns: str | Sequence[str] | None,
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    from headrace._datasets import children

    return children.made(dataset, "flat_map", function, columns, output, types, {})


def interleaved(
    dataset: Methods,
    function: Callable[..., Any],
    cycle: int,
    block: int,
    columns: str | Sequence[str] | None,
    output: str | Sequence[str] | None,
    types: Columns | None,
) -> Dataset:
    from headrace._datasets import children

    turns = {"cycle": cycle, "block": block}
    return children.made(dataset, "interleave", function, columns, output, types, turns)


def mix(dataset: Dataset, shuffle: Any, window: Any, seed: Any, name: Any) -> None:
    """Puts shuffle(window) on a source that was asked to shuffle. Values that are wrong are left to the operators."""
    # As texts, which arrays and NumPy's numbers have as well.
    if str(shuffle) == "True" and str(window) != "0":
        above = f"{name}/window" if isinstance(name, str) else name
        dataset._become(dataset._copy().shuffle(window, seed=seed, name=above))


def cached(
    dataset: Methods,
    memory: int | str | None,
    directory: str | PathLike[str] | None,
    disk: int | str | None,
    transparent: bool,
) -> Dataset:
    def size(name: str, given: int | str | None) -> int | None:
        return None if given is None else memory_bytes(given, "cache", name, 0)

    folder = None if directory is None else path("directory", directory, "cache")
    attributes = {"memory": size("memory", memory), "directory": folder, "disk": size("disk", disk)}
    return dataset._append("cache", {**attributes, "transparent": transparent})
