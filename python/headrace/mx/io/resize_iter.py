"""Epochs of another length."""

from headrace import options
from headrace.mx.io.data_batch import DataBatch
from headrace.mx.io.data_iter import DataIter, GivenBatches
from headrace.mx.io.given_values import check_iterator

__all__ = ["ResizeIter"]

_USED = ("next", "reset", "batch_size", "provide_data", "provide_label")


class ResizeIter(GivenBatches):
    """Gives `size` batches an epoch, whatever the iterator within gives: it begins anew where it ends before.

    Args:
        data_iter: The iterator within.
        size: Batches an epoch, at least 0.
        reset_internal: Whether `reset()` also resets the iterator within; else it goes on where it was.

    Raises:
        GraphError: data_iter is no iterator, or size no number of batches.
        ValueError: From `next()`: the iterator within gives no batch after `reset()`.
    """

    def __init__(self, data_iter: DataIter, size: int, reset_internal: bool = True) -> None:
        check_iterator("data_iter", data_iter, _USED, "ResizeIter")
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = options.whole("size", size, of="ResizeIter")
        self.reset_internal = reset_internal
        self.cur = 0
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self) -> None:
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def _make(self) -> DataBatch | None:
        if self.cur == self.size:
            return None
        try:
            batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            try:
                batch = self.data_iter.next()
            except StopIteration:
                raise ValueError("the iterator within ResizeIter gives no batch after reset()") from None
        self.cur += 1
        return batch
