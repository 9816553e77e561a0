"""`SharedIterator`: batches that another process of this host makes."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from headrace._arguments import options
from headrace._arguments.import_folder import import_late
from headrace._graph.parameters import Parameter, number_of
from headrace._runs.explanation import Explanation
from headrace._runs.iterator import torch_or_error
from headrace._runs.loop_target import refuse_names
from headrace._runs.torch_tensors import tensor_of
from headrace._runs.tuple_batches import TupleMaking
from headrace._share import batch_bytes
from headrace._share.connection import Connection
from headrace._share.sent_errors import remade
from headrace._share.shared_parameters import values_set
from headrace.errors import ClosedError, Error, StateError, UnsupportedError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Asked", "Begin", "SharedIterator", "refuse_bfloat16"]


# Of parameters, in one message.
_MOST_VALUES = 500


class Asked(NamedTuple):
    """What batches are asked for, and in which form they are given."""

    shard: tuple[int, int] | None
    group: str
    seed: int
    even: str | None
    as_: str
    as_tuple: bool | tuple[str, ...]


class Begin(NamedTuple):
    """Where to begin. Without an epoch: that of the state, or of the dataset."""

    epoch: int | None
    start: int
    state: bytes | None


class Position(NamedTuple):
    """After a batch, or before the first.

    Attributes:
        given: The batches of the epoch up to here.
        next: The number of the item that comes next, as the server counts them.
        state: As it came.
    """

    given: int
    next: int
    state: Any


class SharedIterator:
    """Iterates over the batches that another process of this host makes. Made by `hr.connect` and `share.connect(…)`.

    It is an iterator of an epoch as `Dataset.iterate` gives, with the same batches, errors and states. At the end of its
    epoch a new loop over it takes the next epoch; a loop that was left in mid-epoch goes on where it was. It ends with
    `close()`, with the end of a `with` block, or when it is no longer referenced. Its arrays stay valid after its end.
    Arrays may be written to: what is written stays in this process.
    """

    def __init__(
        self, connection: Connection, asked: Asked, begin: Begin, epoch: int, parameters: Mapping[str, Parameter]
    ) -> None:
        """`epoch`: where `begin` names none. `parameters`: of the dataset in this process, whose values go to the one that makes the batches."""
        self._connection: Connection | None = connection
        self._parameters = parameters
        self._sent: set[tuple[str, int]] = set()
        self._asked = asked
        self._shown = connection.shown
        self._lock = threading.RLock()
        self._torch = torch_or_error() if asked.as_ == "torch" else None
        if asked.as_ == "arrow":
            _pyarrow_or_error()
        self._tuples: TupleMaking | None = None
        self._position: Position | None = None
        # Why there is no batch any more: the epoch is over, it was closed, or it failed.
        self._over = False
        self._error: Error | None = None
        self._asked_for = 0
        self._ask(epoch if begin.epoch is None else begin.epoch, begin)

    @property
    def epoch(self) -> int:
        """The epoch that it runs."""
        return self._epoch

    @property
    def pad(self) -> Any:
        """With `as_tuple`: the column `_pad` of the last batch given, as that of `Iterator`."""
        return None if self._tuples is None else self._tuples.pad

    # ---- batches ----

    def __iter__(self) -> Self:
        if not self._asked.as_tuple and self._asked.as_ != "arrow":
            refuse_names()
        with self._lock:
            if self._over and self._error is None and self._connection is not None:
                self._ask(self._epoch + 1, Begin(None, 0, None))
        return self

    def __next__(self) -> Any:
        with self._lock:
            row, position = self._taken()
        # Without a call after it, where a signal could take the batch on its way to the loop.
        self._position = position
        return row

    def _taken(self) -> tuple[Any, Position]:
        connection = self._open()
        if self._error is not None:
            raise self._again()
        if self._over:
            raise StopIteration
        before = self._opened()
        head = self._packet().head
        if head["next"] <= before.next:
            # The one that was given last.
            connection.drop_first()
            connection.take(before.next)
            head = self._packet().head
        position = Position(head["given"], head["next"], head["state"])
        if head["kind"] == "batch":
            return self._made(batch_bytes.read(connection.memory_of_first())), position
        error = remade(head["error"]) if head["kind"] == "failed" else None
        connection.take(position.next)
        self._position, self._over, self._error = position, True, error
        connection.drop_first()
        if error is not None:
            raise error
        raise StopIteration

    def _made(self, row: Any) -> Any:
        if self._torch is not None:
            row = {name: tensor_of(self._torch, value) for name, value in row.items()}
        elif self._asked.as_ == "dlpack":
            refuse_bfloat16(row)
        return row if self._tuples is None else self._tuples.made(row)

    # ---- the server ----

    def _ask(self, epoch: int, begin: Begin) -> None:
        """Asks for an epoch, and waits until it has begun, unless other consumers must come."""
        self._begin, self._epoch = begin, epoch
        self._position, self._over = None, False
        self._asked_for, self._is_asked = self._asked_for + 1, False
        self._send_ask()
        if self._packet().head["kind"] != "waiting":
            self._opened()

    def _send_ask(self) -> None:
        """Where a signal comes before the end, it is sent again, and the server knows it by its number."""
        self._send_parameters()
        asked, state = self._asked, self._begin.state
        self._open().ask(
            kind="ask",
            number=self._asked_for,
            epoch=self._epoch,
            start=self._begin.start,
            state=None if state is None else state.hex(),
            shard=asked.shard,
            group=asked.group,
            seed=asked.seed,
            even=asked.even,
            # Tensors are made of arrays here.
            as_="arrow" if asked.as_ == "arrow" else "numpy",
        )
        self._is_asked = True

    def _send_parameters(self) -> None:
        """What is set in this process by now."""
        new = [
            (name, epoch, value)
            for name, parameter in self._parameters.items()
            for epoch, value in values_set(parameter).items()
            if (name, epoch) not in self._sent
        ]
        for begin in range(0, len(new), _MOST_VALUES):
            self._open().answer("set", values=new[begin : begin + _MOST_VALUES])
        self._sent |= {(name, epoch) for name, epoch, _ in new}

    def _opened(self) -> Position:
        """Where it is; waits until the server has begun the epoch."""
        if self._position is not None:
            return self._position
        if not self._is_asked:
            self._send_ask()
        head = self._packet().head
        # An epoch's end may be left where a signal came.
        while head["kind"] != "opened":
            self._open().drop_first()
            head = self._packet().head
        if self._begin.state is not None and self._begin.epoch not in (None, head["epoch"]):
            self._error = StateError(
                f"the state was taken in epoch {head['epoch']}, not {self._begin.epoch}; leave the epoch out"
            )
            raise self._error
        self._epoch = head["epoch"]
        if self._asked.as_tuple:
            self._tuples = TupleMaking(self._asked.as_tuple, head["columns"])
        self._position = Position(head["given"], head["number"], head["state"])
        self._open().drop_first()
        return self._position

    def _packet(self) -> Any:
        """The next one. Raises what the server refuses, and that it is gone."""
        try:
            packet = self._open().first()
        except Error as error:
            self._error = error
            raise
        if packet.head["kind"] == "refused":
            self._error = remade(packet.head["error"])
            raise self._error
        return packet

    def _open(self) -> Connection:
        if self._connection is None:
            raise ClosedError("the iterator was closed; connect again with headrace.connect(…)")
        return self._connection

    def _again(self) -> Error:
        """Without traceback and cause, which would keep what they refer to."""
        assert self._error is not None
        return self._error._remade(self._error.args, self._error.__dict__)

    def state(self) -> bytes:
        """The position after the last batch given, as `Iterator.state()` in one process gives it:
        `ds.iterate(shard=…, state=…)` and `headrace.connect(…, state=…)` go on with the next batch."""
        with self._lock:
            position = self._position or self._opened()
        if isinstance(position.state, str):
            return bytes.fromhex(position.state)
        raise remade(position.state)

    # ---- parameters and reports ----

    def set_parameter(self, name: str, value: float | Sequence[float], epoch: int) -> None:
        """As `Parameter.set`, for the pipeline of the process that makes the batches: for all of its consumers. Consumers
        of `SharedDataset.connect` need not call it: what they set by `Parameter.set` is sent when a loop asks for an epoch.

        Args:
            name: Of the parameter.
            value: A finite number, or several.
            epoch: The first one for which it holds.
        """
        given = options.text("name", name, "set_parameter")
        number = number_of(value, f'hr.parameter("{given}").set: value')
        at = options.epoch(epoch, "set_parameter")
        with self._lock:
            self._open().answer("set", values=[(given, at, number)])

    def __len__(self) -> int:
        """The number of batches of the epoch that it runs, as `len` of the dataset under this shard. TypeError if it is
        known only after a run."""
        # list() asks for it first, so why the server ended is to be told here, too.
        with self._lock:
            found = self._answer(self._open(), "length")
        if "unknown" in found:
            raise TypeError(found["unknown"])
        length: int = found["rows"]
        return length

    def __bool__(self) -> bool:
        return True

    def explain(self) -> str:
        """The plan of the process that makes the batches, with times, waits and the bottleneck."""
        return Explanation(self._answer(self._beside(), "explain"))

    def report(self) -> dict[str, Any]:
        """The figures behind `explain()`."""
        found: dict[str, Any] = self._answer(self._beside(), "report")
        return found

    def _beside(self) -> Connection:
        """As another thread may wait for a batch on the one that it has: where a stall is looked into."""
        return self._open().beside()

    def _answer(self, connection: Connection, kind: str) -> Any:
        asked = self._asked
        return connection.answer(kind, epoch=self._epoch, shard=asked.shard, group=asked.group)

    # ---- its end ----

    def close(self) -> None:
        """Takes no more batches: others of the same batches go on without it. Another thread that waits for a batch gets a
        ClosedError. Closing again does nothing."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close(0 if self._position is None else self._position.next)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a SharedIterator cannot be copied or pickled, for it is one run: connect in the other process, "
            "headrace.connect(…, state=it.state()) goes on from the same position"
        )

    def __repr__(self) -> str:
        given = 0 if self._position is None else self._position.given
        ended = "failed" if self._error is not None else "ended" if self._over else "open"
        ended = "closed" if self._connection is None else ended
        return f"<headrace.SharedIterator of epoch {self._epoch} at {self._shown}: {given} given, {ended}>"


def _pyarrow_or_error() -> None:
    try:
        import_late("pyarrow")
    except ImportError:
        raise UnsupportedError("as_='arrow' needs PyArrow, which is not installed here: pip install pyarrow") from None


def refuse_bfloat16(row: Any) -> None:
    for name, value in row.items():
        if getattr(getattr(value, "dtype", None), "name", "") == "bfloat16":
            raise UnsupportedError(
                f"connect: NumPy hands no bfloat16 on by DLPack: give as_='torch', or convert column \"{name}\" to float32"
            )
