"""Batches of several iterators side by side, made on threads of their own."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.data_iter import DataIter, GivenBatches
from headrace.mx.io.given_values import check_iterator

__all__ = ["PrefetchingIter"]

_USED = ("next", "reset", "provide_data", "provide_label")


class PrefetchingIter(GivenBatches):
    """Joins the batches of iterators, each of which makes its next batch while the loop uses the last one.

    Iterators of Headrace read ahead by themselves; this is for those of the user's own, and to join several.

    Args:
        iters: One iterator, or a list of them that end their epochs together.
        rename_data: For each iterator, new names by old ones; None: names stay.
        rename_label: Likewise for labels.

    Raises:
        GraphError: One of them is no iterator.
        ValueError: From `next()`: the iterators give different numbers of batches, or batches of different `pad`.
    """

    def __init__(
        self,
        iters: DataIter | Sequence[DataIter],
        rename_data: Sequence[Mapping[str, str]] | None = None,
        rename_label: Sequence[Mapping[str, str]] | None = None,
    ) -> None:
        self.iters = list(iters) if isinstance(iters, Sequence) else [iters]
        if not self.iters:
            raise ValueError("there are no iterators; give at least one")
        for each in self.iters:
            check_iterator("iters", each, _USED, "PrefetchingIter")
        self.n_iter = len(self.iters)
        self.rename_data = rename_data
        self.rename_label = rename_label
        super().__init__(self.provide_data[0].shape[0])
        self._threads = ThreadPoolExecutor(self.n_iter, "prefetching-iter")
        self._coming: list[Future[DataBatch | None]] = []

    def __del__(self) -> None:
        if hasattr(self, "_threads"):
            self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def provide_data(self) -> list[DataDesc]:  # type: ignore[override]
        """What the iterators provide, one behind the other."""
        return _renamed([each.provide_data for each in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:  # type: ignore[override]
        """The labels that the iterators provide, one behind the other."""
        return _renamed([each.provide_label for each in self.iters], self.rename_label)

    def reset(self) -> None:
        for each in self._coming:
            # What it fails with belongs to the epoch that ends.
            each.exception()
        self._coming = []
        for iterator in self.iters:
            iterator.reset()

    def _make(self) -> DataBatch | None:
        if not self._coming:
            self._ask()
        made = [each.result() for each in self._coming]
        batches = [batch for batch in made if batch is not None]
        if not batches:
            return None
        if len(batches) < len(made):
            raise ValueError("an iterator ended before the others: all must give equally many batches")
        if len({batch.pad for batch in batches}) > 1:
            raise ValueError(f"the iterators pad differently: {[batch.pad for batch in batches]}")
        self._ask()
        return DataBatch(
            [array for batch in batches for array in batch.data or []],
            [array for batch in batches for array in batch.label or []],
            batches[0].pad,
            batches[0].index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )

    def _ask(self) -> None:
        self._coming = [self._threads.submit(_next_of, each) for each in self.iters]


def _next_of(iterator: DataIter) -> DataBatch | None:
    try:
        return iterator.next()
    except StopIteration:
        return None


def _renamed(provided: list[list[DataDesc]], names: Sequence[Mapping[str, str]] | None) -> list[DataDesc]:
    described = [[each if isinstance(each, DataDesc) else DataDesc(*each) for each in group] for group in provided]
    if names is None:
        return [each for group in described for each in group]
    return [
        DataDesc(new.get(each.name, each.name), each.shape, each.dtype, each.layout)
        for group, new in zip(described, names, strict=True)
        for each in group
    ]
