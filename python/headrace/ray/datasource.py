"""`datasource` gives a pipeline's batches to Ray Data, as blocks of Arrow that its tasks make on any nodes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace._arguments import options as checks
from headrace._parquet.pyarrow import check_pyarrow, pyarrow
from headrace.errors import GraphError
from headrace.ray.batch_ranges import SentRanges, range_here, sent_ranges
from headrace.ray.installed import ray_data_or_error, started_ray
from headrace.ray.setting_up import check_setup, set_up

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["datasource"]

_OF = "headrace.ray.datasource"
# Whatever the dataset keeps for its own loops.
_OF_LOOPS = ("as_", "as_tuple", "device", "callbacks", "profile")


def datasource(
    dataset: Dataset, *, epoch: int | None = None, setup: Callable[[], Any] | None = None, **options: Any
) -> Any:
    """A `ray.data.Datasource` whose rows are those of an epoch of the dataset, whose last step is `batch`.

    A task of Ray Data makes a run of batches by their numbers and gives each as an Arrow table, so a task that runs again, on
    whatever node, gives the same blocks. Ray Data hands blocks out as they come; in the order of the batches with
    `preserve_order`.

        ray.data.DataContext.get_current().execution_options.preserve_order = True
        rows = ray.data.read_datasource(hr.ray.datasource(train.batch(256), seed=1))

    Raises UnsupportedError where rows are not joined by `batch`, where a batch cannot be made by its number, as above a
    filter or a shuffle(window), which it names, and without Ray or pyarrow; and the errors of the first batch. Two
    batches are made here, which show schema and size. Errors of rows come out of Ray Data, with their message.

    Args:
        dataset: The batches. Paths in it are those of the nodes, so give absolute ones.
        epoch: Which epoch; None: `dataset.epoch`.
        setup: A function without arguments that each task calls first, as to register file systems, and this process for
            the two batches. If it returns a context manager, such as `hr.storage(…)`, the batches are made within it.
        options: Those of `iterate` that decide about rows and their making, such as `seed` and `shard`. `workers` is by
            default 1, as Ray Data runs a task on each CPU.
    """
    data = ray_data_or_error(_OF)
    check_pyarrow(_OF)
    for name in _OF_LOOPS:
        if options.get(name) is not None:
            raise GraphError(
                f"{_OF}: {name} is for a loop in this process; leave it out, as Ray Data takes the batches"
            )
    check_setup(setup, _OF)
    given = {"workers": 1, **options, **dict.fromkeys(_OF_LOOPS), "as_": "arrow"}
    batches = dataset.options(**given)
    chosen = checks.epoch(dataset.epoch if epoch is None else epoch, _OF)
    return _datasource_class(data)(_Epoch.measured(batches, chosen, setup))


@dataclass(frozen=True)
class _Epoch:
    """What is known of the batches before they are made."""

    sent: SentRanges
    setup: Callable[[], Any] | None
    count: int
    rows: int
    """Of each batch but the last one."""
    last_rows: int
    bytes: int
    """Of each batch, by the first one."""
    schema: Any

    @classmethod
    def measured(cls, batches: Dataset, epoch: int, setup: Callable[[], Any] | None) -> _Epoch:
        with set_up(setup):
            count = batches._finite_count(_OF)
            sent = sent_ranges(batches, epoch, _OF)
            if not count:
                return cls(sent, setup, 0, 0, 0, 0, None)
            with batches._batch_ranges(epoch=epoch) as ranges:
                first = next(ranges.make(0, 1))
                last = first if count == 1 else next(ranges.make(count - 1, count))
        return cls(sent, setup, count, first.num_rows, last.num_rows, first.nbytes, first.schema)

    def rows_of(self, start: int, stop: int) -> int:
        whole = (stop - start) * self.rows
        return whole if stop < self.count else whole - self.rows + self.last_rows


def _tables(held: Any, setup: Callable[[], Any] | None, start: int, stop: int) -> Iterator[Any]:
    """What a task of Ray Data runs."""
    sent: SentRanges = started_ray(_OF).get(held)
    with set_up(setup), range_here(sent, start, stop) as batches:
        for batch in batches:
            yield pyarrow().Table.from_batches([batch])


def _datasource_class(data: Any) -> Any:
    """Made where Ray is there to be inherited from."""

    class HeadraceDatasource(data.Datasource):  # type: ignore[misc, unused-ignore]
        def __init__(self, epoch: _Epoch) -> None:
            super().__init__()
            self._epoch = epoch

        def estimate_inmemory_data_size(self) -> int:
            return self._epoch.count * self._epoch.bytes

        def get_read_tasks(
            self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
        ) -> list[Any]:
            epoch = self._epoch
            tasks = min(parallelism, epoch.count)
            # Once on each node, not once a task.
            held = started_ray(_OF).put(epoch.sent) if tasks else None
            borders = [number * epoch.count // tasks for number in range(tasks + 1)] if tasks else []
            return [
                self._read_task(held, start, stop, per_task_row_limit)
                for start, stop in zip(borders, borders[1:], strict=False)
            ]

        def _read_task(self, held: Any, start: int, stop: int, limit: int | None) -> Any:
            epoch = self._epoch
            metadata = data.block.BlockMetadata(
                num_rows=epoch.rows_of(start, stop),
                size_bytes=(stop - start) * epoch.bytes,
                exec_stats=None,
                input_files=None,
            )
            read = functools.partial(_tables, held, epoch.setup, start, stop)
            return data.ReadTask(read, metadata, epoch.schema, per_task_row_limit=limit)

    return HeadraceDatasource
