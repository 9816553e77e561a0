"""`ResizeIter` changes the number of batches per epoch."""

from collections.abc import Mapping
from typing import Any, Literal

from headrace._arguments import options
from headrace.errors import StateError
from headrace.mx.io.data_batch import DataBatch
from headrace.mx.io.data_iter import DataIter, GivenBatches
from headrace.mx.io.given_values import check_iterator
from headrace.mx.io.iterators_within import (
    check_around,
    check_batch,
    check_runs_otherwise,
    check_within,
    explain_of,
    run_otherwise,
    state_of,
)

__all__ = ["ResizeIter"]

_USED = ("next", "reset", "batch_size", "provide_data", "provide_label")


class ResizeIter(GivenBatches):
    """Gives `size` batches an epoch, whatever the iterator within gives: it begins anew where it ends before.

    Args:
        data_iter: The iterator within.
        size: Batches an epoch, at least 0.
        reset_internal: Whether `reset()` also resets the iterator within; else it goes on where it was.
        memory: As if data_iter, which must not have begun, had been made with it; None: as it was made.
        on_error: Likewise: "skip" leaves out rows that fail, "raise" does not.
        state: What `state()` gave: the iterator goes on with the batch after it. data_iter must be there already, made with
            `state["data_iter"]` as its own state.

    Raises:
        GraphError: data_iter is no iterator, or size no number of batches; or memory or on_error is given, and data_iter
            has begun, or is of a class of your own.
        StateError: The state is of another iterator, of longer epochs, or data_iter is not where it says.
        UnsupportedError: on_error is "skip", and data_iter cannot leave out rows.
        GraphError: From `next()`: the iterator within gives something else than a batch.
        ValueError: From `next()`: the iterator within gives no batch after `reset()`.
    """

    def __init__(
        self,
        data_iter: DataIter,
        size: int,
        reset_internal: bool = True,
        *,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        check_iterator("data_iter", data_iter, _USED, "ResizeIter")
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = options.whole("size", size, of="ResizeIter")
        run_otherwise({"data_iter": data_iter}, memory, on_error, "ResizeIter")
        self.reset_internal = reset_internal
        self.cur = 0
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key
        if state is not None:
            self._restore(state)

    def reset(self) -> None:
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def has_begun(self) -> bool:
        return self._begun or (isinstance(self.data_iter, GivenBatches) and self.data_iter.has_begun())

    def check_runs_otherwise(self, on_error: Literal["raise", "skip"] | None, name: str, of: str) -> None:
        super().check_runs_otherwise(on_error, name, of)
        check_runs_otherwise(self.data_iter, on_error, f"{name}.data_iter", of)

    def run_otherwise(self, memory: int | str | None, on_error: Literal["raise", "skip"] | None) -> None:
        run_otherwise({"data_iter": self.data_iter}, memory, on_error, "ResizeIter")

    def state(self) -> dict[str, Any]:
        """Where the iterator is, for `state=`: after the batch given last, with the state of the one within. Raises StateError
        if that has none."""
        within = state_of(self.data_iter, "data_iter", "ResizeIter")
        return {"iterator": "ResizeIter", "cur": self.cur, "data_iter": within}

    def explain(self) -> str:
        """How long epochs are, and how the iterator within runs."""
        goes_on = "begins anew with each of them" if self.reset_internal else "goes on from one to the next"
        heading = f"ResizeIter: epochs of {self.size} batches; the iterator within {goes_on}"
        return f"{heading}\n{explain_of(self.data_iter)}"

    def _restore(self, state: Mapping[str, Any]) -> None:
        check_around(state, {"cur": (int,), "data_iter": (object,)}, "ResizeIter")
        if not 0 <= state["cur"] <= self.size:
            raise StateError(
                f"ResizeIter: the state is after batch {state['cur']} of an epoch, and size is {self.size}"
            )
        check_within(self.data_iter, state["data_iter"], "data_iter", '["data_iter"]', "ResizeIter")
        self.cur = state["cur"]

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
        check_batch(batch, ("data", "label"), self.data_iter, "data_iter", "ResizeIter")
        self.cur += 1
        return batch
