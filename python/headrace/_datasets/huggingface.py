"""`from_huggingface`: the source of the datasets of Hugging Face's library, whose tables are read as Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import flag, shown
from headrace._datasets.base import Base
from headrace._graph.adapters import adapted
from headrace._parquet.fixed_shapes import with_stated_shapes
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["from_huggingface"]

_OF = "from_huggingface"
# Of a stream.
_ROWS_AT_ONCE = 1000


def from_huggingface(
    dataset: Any,
    columns: str | Sequence[str] | None = None,
    *,
    classes: Sequence[str] | Mapping[str, Sequence[str] | None] | None = None,
    missing: Mapping[str, Any] | None = None,
    shuffle: bool = False,
    seed: int | None = None,
    name: str | None = None,
) -> Dataset:
    """Gives the rows of a dataset of Hugging Face's library `datasets`.

    A `datasets.Dataset` has rows by number, in the order that its `select`, `shuffle` and `filter` gave it. Its table is
    read where it lies, in memory or in a mapped file, without making objects of Python. A `datasets.IterableDataset` is a
    stream, whose rows come once.

    Image and Audio give the bytes of the files as they are encoded, for V.Decode(); ClassLabel gives int64, with the names
    in `classes`; other features give what `Arrow` gives for their types. What set_transform and with_format would make of
    the rows is left out, but for the choice of columns.

    Errors: GraphError for a DatasetDict, whose splits are datasets of their own, and for other objects.

    Args:
        dataset: A `datasets.Dataset` or a `datasets.IterableDataset`.
        columns: The columns to give, in this order; None: all.
        classes: Names of classes, in the order of their numbers, of columns of texts; see `Arrow`.
        missing: Values for what is missing, by column: {"age": -1}.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely. Not for streams.
        seed: This operator's own seed; None: the pipeline's.
        name: Names this operator's random numbers, so that they stay the same when operators of its kind are added or
            removed; unique in the pipeline.

    Example:
        hr.from_huggingface(datasets.load_dataset("parquet", data_files="train.parquet", split="train"), shuffle=True)
    """
    shuffle = flag("shuffle", shuffle, _OF)
    kinds = {each.__name__ for each in type(dataset).__mro__ if each.__module__.partition(".")[0] == "datasets"}
    if kinds & {"DatasetDict", "IterableDatasetDict"}:
        raise GraphError(
            f"{_OF}: this {type(dataset).__name__} holds several splits ({', '.join(map(str, dataset))}); give one of them, "
            f'such as dataset["{next(iter(dataset), "train")}"]'
        )
    if "IterableDataset" in kinds:
        given, numbers = _batches(dataset), None
    elif "Dataset" in kinds:
        given, numbers = _table(dataset), _numbers(dataset)
    else:
        raise GraphError(
            f"{_OF}: dataset is {shown(dataset)}, of the class {type(dataset).__name__}; give a datasets.Dataset or a "
            "datasets.IterableDataset, and for other objects write hr.Arrow, or hr.from_dataset"
        )
    if columns is None and "Dataset" in kinds:
        columns = _chosen(dataset)
    source: Dataset = object.__new__(Base._made)
    adapted(
        "Arrow",
        source,
        data=given,
        columns=columns,
        classes=classes,
        missing=missing,
        root=None,
        shuffle=shuffle,
        seed=seed,
        name=name,
    )
    if "Dataset" in kinds:
        held = source._bindings[0]
        assert held is not None
        # Of a mapped table the library pickles the path.
        held[1].stands_for(_PickledTable(dataset))
    return source if numbers is None else source.select(numbers)


class _PickledTable:
    """The table of a dataset, pickled as that is."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __reduce__(self) -> tuple[Any, ...]:
        return _table, (self._dataset,)


def _table(dataset: Any) -> Any:
    """The table of all rows, whose metadata names the features."""
    table = dataset.data.table
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **dataset.features.arrow_schema.metadata})


def _numbers(dataset: Any) -> Any:
    """Which rows of the table the dataset has, in its order; None: all."""
    indices = dataset._indices
    return None if indices is None else indices.table.column(0).to_numpy()


def _chosen(dataset: Any) -> list[str] | None:
    chosen: list[str] = dataset.format["columns"]
    return None if chosen == dataset.column_names else chosen


def _batches(dataset: Any) -> Iterator[Any]:
    first = 0
    for table in dataset.with_format("arrow").iter(batch_size=_ROWS_AT_ONCE):
        if dataset.features is not None:
            table = table.replace_schema_metadata(dataset.features.arrow_schema.metadata)
        yield from with_stated_shapes(table, first).to_batches()
        first += len(table)
