"""`NDArrayIter` gives batches of arrays in memory."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

import headrace
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace.errors import GraphError, UnsupportedError
from headrace.mx import nd
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.data_iter import GivenBatches
from headrace.mx.io.device_batches import DeviceBatches
from headrace.mx.io.filled_batch import Columns, filled
from headrace.mx.io.given_values import check_state, flag
from headrace.mx.sparse import CSRNDArray, csr_matrix

__all__ = ["NDArrayIter"]

Arrays: TypeAlias = ArrayLike | list[ArrayLike] | Mapping[str, ArrayLike]
_Array: TypeAlias = nd.NDArray | CSRNDArray
_ROW = "row"
"""The column of the rows' numbers, by which sparse rows are taken."""
_LAST_BATCHES = ("pad", "discard", "roll_over")
_STATE: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("seed", "epoch", "given", "rolled"), (int,)),
    "run": (bytes, type(None)),
}


class _NoSparseTail(UnsupportedError, NotImplementedError):
    """Rows of sparse arrays are left at an epoch's end: also what MXNet raises."""


class NDArrayIter(GivenBatches):
    """Gives batches of arrays, along their first axis, as `mxnet.io.NDArrayIter` does.

    Arrays become float32, as in MXNet, unless they are NDArrays, which keep their type, as `mx.nd.sparse.CSRNDArray` and
    matrices of SciPy do, whose batches are CSRNDArrays.

    Args:
        data: An array; a list of them, called `_0_data`, `_1_data` and so on if there are several; or a dict of them.
        label: Likewise, by `label_name`; None, or an empty list or dict: there are none.
        batch_size: Rows in a batch, from 1 on.
        shuffle: Whether each epoch has an order of its own.
        last_batch_handle: What becomes of the rows left at an epoch's end. "pad": the batch is filled with the first rows
            of the epoch, and `pad` says how many; "discard": they are left out; "roll_over": the next epoch begins with
            them, and the `pad` of its first batch says how many.
        data_name: The name of a single array.
        label_name: The name of a single array of labels.
        seed: Of the order; None: drawn from NumPy's global generator, so that `np.random.seed` decides it.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: Taken as by the other iterators; no row of an array can fail.
        device: Where batches end, as `Dataset.to_device` takes it: "cuda:0", or "cpu:0"; None: in host memory. The arrays of
            a batch there are objects for `from_dlpack` of any library.
        state: What `state()` gave: the iterator goes on with the batch after it.

    Raises:
        GraphError: The arrays differ in their number of rows, or are none of numbers; or an argument is out of its range, or
            "discard" would leave out all rows.
        NotImplementedError: There are sparse arrays, and last_batch_handle is not "discard". An UnsupportedError, too.
        StateError: The state is of other arrays or another iterator.
        UnsupportedError: There are sparse arrays, and a device.
    """

    def __init__(
        self,
        data: Arrays,
        label: Arrays | None = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: Literal["pad", "discard", "roll_over"] = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
        layout: str = "NCHW",
        *,
        seed: int | None = None,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        device: str | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(options.whole("batch_size", batch_size, of="NDArrayIter", least=1))
        options.choice("on_error", on_error, ("raise", "skip"), "NDArrayIter")
        options.choice("last_batch_handle", last_batch_handle, _LAST_BATCHES, "NDArrayIter")
        if not layout.startswith("N"):
            raise GraphError(
                f"NDArrayIter: layout is {layout!r}; rows lie along the first axis, so it must begin with N"
            )
        shuffle = flag("shuffle", shuffle, "NDArrayIter")
        self.data = _named(data, "data", data_name)
        if not self.data:
            raise GraphError("NDArrayIter: there are no arrays; give one, a list or a dict of them")
        self.label = [] if label is None else _named(label, "label", label_name)
        self.num_data = _number_of_rows([*self.data, *self.label])
        if last_batch_handle == "discard" and self.num_data < self.batch_size:
            raise GraphError(
                f"NDArrayIter: there are {self.num_data} rows, fewer than batch_size={self.batch_size}, and rows that fill no "
                'batch are left out; give last_batch_handle="pad" or a smaller batch_size'
            )
        self._sparse = any(isinstance(array, CSRNDArray) for _, array in [*self.data, *self.label])
        if self._sparse:
            _check_sparse(last_batch_handle, device)
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        if state is not None:
            check_state(state, _STATE, "NDArrayIter")
            seed = state["seed"] if seed is None else seed
        self._seed = int(np.random.randint(2**31)) if seed is None else seed
        self._shuffle = shuffle
        self._device = device
        self._state = state
        self._plan(memory)
        self._epoch = 0
        """Of the engine: with "roll_over" one has all epochs between two calls of reset() in mid-epoch."""
        self._given = 0
        """Batches given in the user's epoch."""
        self._rolled = 0
        """Rows that this epoch takes over from the one before."""
        self._passes = 0
        """Passes of the engine's epoch that are over: with "roll_over" those of the user's epochs before this one."""
        self._run: Iterator[dict[str, np.ndarray]] | None = None
        if state is not None:
            self._restore(state)

    def run_otherwise(self, memory: int | str | None, on_error: Literal["raise", "skip"] | None) -> None:
        # No row of an array can fail.
        if memory is None:
            return
        self._plan(memory)
        self._run = None
        if self._state is not None:
            self._restore(self._state)

    @property
    def provide_data(self) -> list[DataDesc]:  # type: ignore[override]
        """Names, shapes and types of the data of a batch."""
        return self._described(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:  # type: ignore[override]
        """Names, shapes and types of the labels of a batch."""
        return self._described(self.label)

    @property
    def idx(self) -> np.ndarray:
        """The numbers of the rows in the order of this epoch, without those left of the one before."""
        rows: Dataset = headrace.Numpy({_ROW: np.arange(self.num_data)}, shuffle=self._shuffle, seed=self._seed)
        if not self._shuffle:
            return np.arange(self.num_data)
        if self.last_batch_handle == "roll_over":
            rows = rows.repeat()
        with rows.batch(self.num_data).iterate(epoch=self._epoch) as passes:
            order: np.ndarray = next(itertools.islice(passes, self._passes, None))[_ROW]
        return order

    def reset(self) -> None:
        """Begins the next epoch: after the last batch with the rows that are left, in mid-epoch at row 0."""
        ended = None if self._sent is None else self._sent.end()
        if ended is None:
            ended = self._given == self._batches_of_epoch()
        if self.last_batch_handle == "roll_over" and ended:
            self._begun = True
            self._rolled = (self._rolled + self.num_data) % self.batch_size
            self._passes += 1
        elif self._given > 0 or self._run is not None:
            self._start_over()
        self._given = 0

    def hard_reset(self) -> None:
        """Begins the next epoch at row 0, without rows left of the one before."""
        if self._sent is not None:
            self._sent.end()
        self._start_over()
        self._given = 0

    def state(self) -> dict[str, Any]:
        """Where the iterator is, for `state=`: after the batch given last."""
        of_loop = None if self._sent is None else self._sent.state()
        return self.state_on_host() if of_loop is None else of_loop

    def make_on_host(self) -> DataBatch | None:
        """The next batch, for a queue to a device."""
        return self._make()

    def interrupt(self) -> None:
        """Ends the run, and with it the making of a batch on another thread."""
        if self._run is not None:
            self._run.close()  # type: ignore[attr-defined]

    def state_on_host(self) -> dict[str, Any]:
        """As `state()`, after the batch made last, which may be ahead of the loop."""
        run = None if self._run is None else self._run.state()  # type: ignore[attr-defined]
        return {
            "seed": self._seed,
            "epoch": self._epoch,
            "given": self._given,
            "rolled": self._rolled,
            "passes": self._passes,
            "run": run,
        }

    def explain(self) -> Any:
        """How the engine runs the iterator."""
        text = self._batches.explain() if self._run is None else self._run.explain()  # type: ignore[attr-defined]
        return text if self._sent is None else f"{text}\n{self._sent.explain()}"

    def _plan(self, memory: int | str | None) -> None:
        self._batches = self._dataset(memory)
        if self._device is not None:
            arrays = len(self.data) + len(self.label)
            self._sent = DeviceBatches(self, arrays, self._device, memory, "NDArrayIter")

    def _dataset(self, memory: int | str | None) -> Dataset:
        columns = {
            _column(kind, i): np.asarray(array)
            for kind, i, array in self._arrays()
            if not isinstance(array, CSRNDArray)
        }
        if self._sparse:
            columns[_ROW] = np.arange(self.num_data)
        rows: Dataset = headrace.Numpy(columns, shuffle=self._shuffle, seed=self._seed)
        if memory is not None:
            rows = rows.options(memory=memory)
        if self.last_batch_handle == "roll_over":
            rows = rows.repeat()
        return rows.batch(self.batch_size, drop_remainder=self.last_batch_handle == "discard")

    def _arrays(self) -> list[tuple[str, int, _Array]]:
        data = [("data", i, array) for i, (_, array) in enumerate(self.data)]
        return data + [("label", i, array) for i, (_, array) in enumerate(self.label)]

    def _described(self, arrays: list[tuple[str, _Array]]) -> list[DataDesc]:
        return [
            DataDesc(name, (self.batch_size, *array.shape[1:]), np.dtype(array.dtype).type, self.layout)
            for name, array in arrays
        ]

    def _batches_of_epoch(self) -> int:
        if self.last_batch_handle == "pad":
            return -(-self.num_data // self.batch_size)
        return (self._rolled + self.num_data) // self.batch_size

    def _start_over(self) -> None:
        self._begun = True
        self._epoch += 1
        self._rolled = 0
        self._passes = 0
        self._run = None

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._epoch, self._given, self._rolled = (state[name] for name in ("epoch", "given", "rolled"))
        self._passes = state.get("passes", 0)
        if state["run"] is not None:
            self._run = self._batches.iterate(state=state["run"])

    def _make(self) -> DataBatch | None:
        if self._given == self._batches_of_epoch():
            return None
        if self._run is None:
            self._batches.epoch = self._epoch
            self._run = iter(self._batches)
        columns = next(self._run)
        rows = len(next(iter(columns.values())))
        pad = self.batch_size - rows
        if pad > 0:
            columns = self._filled(columns, rows)
        elif self.last_batch_handle == "roll_over" and self._given == 0:
            pad = self._rolled
        self._given += 1
        data, label = (
            [_rows_of(array, columns, _column(kind, i)) for i, (_, array) in enumerate(arrays)]
            for kind, arrays in (("data", self.data), ("label", self.label))
        )
        return DataBatch(data, label, pad)

    def _filled(self, columns: Columns, rows: int) -> Columns:
        """The last batch of an epoch, filled with the first rows of the epoch."""
        return filled(columns, columns if self.num_data == rows else self._first_batch(), self.batch_size)

    def _first_batch(self) -> Columns:
        with self._batches.iterate(epoch=self._epoch) as again:
            return next(again)


def _check_sparse(last_batch_handle: str, device: str | None) -> None:
    if last_batch_handle != "discard":
        raise _NoSparseTail(
            f"NDArrayIter: last_batch_handle is {last_batch_handle!r}, and there are sparse arrays, whose batches are not "
            'filled; give "discard", or arrays of all numbers, as by asnumpy()'
        )
    if device is not None:
        raise UnsupportedError(
            f"NDArrayIter: device is {device!r}, and sparse arrays stay in host memory; leave device out, or give arrays of "
            "all numbers, as by asnumpy()"
        )


def _rows_of(array: _Array, columns: Columns, name: str) -> _Array:
    if isinstance(array, CSRNDArray):
        return array.take(columns[_ROW])
    return columns[name].view(nd.NDArray)


def _column(kind: str, number: int) -> str:
    return f"{kind}{number}"


def _named(arrays: Arrays | None, parameter: str, name: str) -> list[tuple[str, _Array]]:
    """Arrays by their names, in the names' order."""
    if isinstance(arrays, tuple):
        raise GraphError(f"NDArrayIter: {parameter} is a tuple; give an array, or a list or a dict of several")
    named: Mapping[str, Any]
    if isinstance(arrays, Mapping):
        named = arrays
    elif isinstance(arrays, list) and len(arrays) != 1:
        named = {f"_{i}_{name}": array for i, array in enumerate(arrays)}
    else:
        named = {name: arrays[0] if isinstance(arrays, list) else arrays}
    for key, each in named.items():
        if each is None:
            which = "" if arrays is None else f"[{key!r}]"
            raise GraphError(f"NDArrayIter: {parameter}{which} is None; it must be an array, a list or a dict of them")
    return [(key, _array(named[key], parameter, key)) for key in sorted(named)]


def _array(given: Any, parameter: str, name: str) -> _Array:
    if isinstance(given, CSRNDArray) or hasattr(given, "tocsr"):
        return csr_matrix(given)
    try:
        return nd.array(given)
    except (TypeError, ValueError) as raised:
        raise GraphError(
            f"NDArrayIter: {parameter} {name!r} is {options.shown(given)}, which becomes no array of float32: {raised}; give "
            "an array of numbers, with rows of one shape"
        ) from None


def _number_of_rows(arrays: list[tuple[str, _Array]]) -> int:
    rows = {name: len(array) if array.ndim > 0 else 0 for name, array in arrays}
    if len(set(rows.values())) > 1:
        listed = ", ".join(f"{name} has {number}" for name, number in rows.items())
        raise GraphError(f"NDArrayIter: arrays differ in their numbers of rows: {listed}")
    number = next(iter(rows.values()))
    if number == 0:
        raise GraphError("NDArrayIter: the arrays have no rows")
    return number
