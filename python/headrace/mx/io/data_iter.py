"""The base of iterators over batches, as in `mxnet.io`: users derive their own from it."""

from typing import TYPE_CHECKING, Any, Literal

from headrace.errors import GraphError
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.device_batches import DeviceBatches

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DataIter"]


class DataIter:
    """Gives batches until the epoch ends; `reset()` begins the next one.

    A class derived from it defines `provide_data`, `provide_label` and either `next()`, or `iter_next()`, which moves to
    the next batch and returns whether there is one, and `getdata()`, `getlabel()`, `getpad()` and `getindex()`.

    Args:
        batch_size: The number of rows in a batch.
    """

    provide_data: list[DataDesc]
    provide_label: list[DataDesc]

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> "Self":
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Begins the next epoch."""

    def next(self) -> DataBatch:
        """The next batch. Raises StopIteration at the end of the epoch."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def iter_next(self) -> bool:
        """Moves to the next batch; whether there is one."""
        return False

    def getdata(self) -> Any:
        """The data of the batch."""

    def getlabel(self) -> Any:
        """The labels of the batch."""

    def getindex(self) -> Any:
        """The numbers of the rows of the batch; None: not known."""

    def getpad(self) -> int | None:
        """How many of the last rows repeat others."""
        return None


class GivenBatches(DataIter):
    """An iterator whose `next()` makes whole batches: the other methods look at the one made last."""

    def __init__(self, batch_size: int = 0) -> None:
        super().__init__(batch_size)
        self.current_batch: DataBatch | None = None
        self._sent: DeviceBatches | None = None
        """Sends the batches to a device; None: they stay in host memory."""
        self._begun = False
        """Whether it was asked for a batch, or for another epoch, so that it cannot be run otherwise any more."""

    def has_begun(self) -> bool:
        """Whether a batch was asked for, or another epoch, since it was made."""
        return self._begun

    def check_runs_otherwise(self, on_error: Literal["raise", "skip"] | None, name: str, of: str) -> None:
        """Raises the error with which `run_otherwise` cannot be, which names this iterator as `name`, that of another one
        called `of`."""
        if self.has_begun():
            raise GraphError(
                f"{of}: {name}, a {type(self).__name__}, has begun, and memory= and on_error= hold from an iterator's first "
                f"batch on; make {of} before that, or give them where {name} is made"
            )

    def run_otherwise(self, memory: int | str | None, on_error: Literal["raise", "skip"] | None) -> None:
        """Runs as if it had been made with these; None: as it was. Nothing of it has begun, and both are good."""
        raise NotImplementedError

    def _make(self) -> DataBatch | None:
        """The next batch, in host memory; None: the epoch is over."""
        raise NotImplementedError

    def iter_next(self) -> bool:
        self._begun = True
        self.current_batch = self._make() if self._sent is None else self._sent.next()
        return self.current_batch is not None

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self._batch()

    def _batch(self) -> DataBatch:
        if self.current_batch is None:
            raise ValueError("there is no batch: iter_next() moves to one, and reset() begins the next epoch")
        return self.current_batch

    def getdata(self) -> Any:
        return self._batch().data

    def getlabel(self) -> Any:
        return self._batch().label

    def getindex(self) -> Any:
        return self._batch().index

    def getpad(self) -> int | None:
        return self._batch().pad
