"""`share` and `connect`: one process makes the batches of several others of its host."""

from __future__ import annotations

import contextlib
import os
import tempfile
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._graph.parameters import Parameter
from headrace._runs.tuple_batches import check_form, given_columns
from headrace._share.connection import Connection
from headrace._share.group import Settings
from headrace._share.server import Server
from headrace._share.shared_iterator import Asked, Begin, SharedIterator
from headrace._share.shared_options import Defaults, check_same_options, defaults_of, refuse_without_effect
from headrace._share.shared_parameters import parameters_of
from headrace._share.socket_file import SocketFile, connected, locked
from headrace._share.start import started
from headrace.errors import ClosedError, GraphError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    As = Literal["numpy", "torch", "dlpack", "arrow"]

__all__ = ["SharedDataset", "connect", "serve", "settings_of", "share"]

# A process that ends while this one connects to it is as good as none: others may do so, too.
_MOST_TRIES = 20


def share(
    ds: Dataset,
    socket: str | os.PathLike[str] | None = None,
    *,
    mode: int = 0o600,
    ahead: int = 4,
    slow: Literal["wait", "drop"] = "wait",
    consumers: int = 1,
) -> SharedDataset:
    """Has one process of this host make the batches of a dataset for several: the first that calls this starts it, the
    others use it, and it ends after the last of them. Consumers with the same shard get the same batches, of one pipeline;
    those with others get theirs. Linux only; nothing listens on a network.

        with hr.share(train, "/tmp/train.sock") as shared:
            for batch in shared.connect(shard=(rank, world)):
                ...

    The dataset goes to the other process by pickle; functions of the script need cloudpickle.

    Args:
        ds: The pipeline. Processes that share one socket give the same one, with the same options; but shard, seed, even,
            as_, as_tuple and epoch may differ, as they are the defaults of this `SharedDataset.connect`.
        socket: The path of the socket, at most 107 bytes; None: a new one, in a folder of its own, for `SharedDataset.socket`.
        mode: Of the socket's file, which says who may connect: 0o600, the default, lets only this user.
        ahead: How many batches may wait for a consumer, the one that it has included.
        slow: What a consumer does to others of the same batches if it has not taken `ahead` batches: "wait", it holds
            them; "drop", they go on, and once it is more than `ahead` behind the fastest its next batch is a ClosedError.
        consumers: How many consumers of the same batches must have connected before the first batch is made.
    """
    if not isinstance(ds, Dataset):
        raise GraphError(f"share: ds is {options.shown(ds)}; give a Dataset")
    refuse_without_effect(ds)
    rights = options.whole("mode", mode, of="share", most=0o777)
    settings = settings_of(ahead, slow, consumers)
    path = _new_path() if socket is None else os.path.abspath(options.own_path("socket", socket, "share"))
    try:
        return _shared_at(ds, path, rights, settings, socket is None)
    except BaseException:
        if socket is None:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(path))
        raise


def _shared_at(ds: Dataset, path: str, rights: int, settings: Settings, own_folder: bool) -> SharedDataset:
    for _ in range(_MOST_TRIES):
        with locked(path):
            connection = connected(path)
            if connection is None:
                return _share_anew(ds, path, rights, settings, own_folder)
        with contextlib.suppress(_Ending):
            found = _welcomed(connection, path)
            _check_same(found, ds, settings, rights)
            return SharedDataset(ds, path, found)
    raise ClosedError(f"share: processes at {path} end as soon as they start; see what they print")


def _share_anew(ds: Dataset, path: str, rights: int, settings: Settings, own_folder: bool) -> SharedDataset:
    file = SocketFile.made(path, rights)
    try:
        connection = Connection(started(ds, file, settings, own_folder), path)
    except BaseException:
        file.remove()
        raise
    file.listener.close()
    return SharedDataset(ds, path, connection)


def settings_of(ahead: Any, slow: Any, consumers: Any) -> Settings:
    return Settings(
        options.whole("ahead", ahead, 1, "share", options.MOST_AT_ONCE),
        options.choice("slow", slow, ("wait", "drop"), "share"),
        options.whole("consumers", consumers, 1, "share", options.MOST_AT_ONCE),
    )


def connect(
    socket: str | os.PathLike[str],
    *,
    shard: tuple[int, int] | None = None,
    epoch: int | None = None,
    start: int | None = None,
    state: bytes | None = None,
    seed: int | None = None,
    even: Literal["off", "drop", "pad"] | None = None,
    as_: As | None = None,
    as_tuple: bool | Sequence[str] | None = None,
    group: str = "",
) -> SharedIterator:
    """Takes the batches that another process of this host makes: `headrace share`, or one that `hr.share` started.

    Consumers of the same shard and group get the same batches, of one pipeline: they give the same epoch, start, state,
    seed and even, and connect before the first of them takes a batch, unless `share` has `consumers=`. What differs is an
    error that names both.

    Args:
        socket: The path of the socket.
        shard: (rank, world): the part of the rows; the default is that of the dataset, else all of them.
        epoch: The epoch to run; None: that of the dataset. A later loop over the iterator runs the next one.
        start: How many batches of the epoch to leave out. Not with `state`.
        state: From `state()` of a SharedIterator, or of an Iterator of the same dataset: goes on with the batch after it.
        seed: As `Dataset.iterate`; None: that of the dataset.
        even: As `Dataset.iterate`; None: that of the dataset.
        as_: As `Dataset.iterate`; None: that of the dataset. "arrow" needs pyarrow here and there.
        as_tuple: As `Dataset.iterate`; None: that of the dataset.
        group: The name of the consumers that share a pipeline. Those of another name have another one.
    """
    path = os.path.abspath(options.own_path("socket", socket, "connect"))
    found = _connected(path)
    defaults = Defaults(**found.welcome["defaults"])
    return _iterator(found, defaults, {}, shard, epoch, start, state, seed, even, as_, as_tuple, group)


def _connected(path: str) -> Connection:
    connection = connected(path)
    if connection is None:
        raise NotFoundError(
            f"connect: no process shares batches at {path}: start one by headrace.share(ds, socket), or by "
            "`headrace share GRAPH --socket …`"
        )
    try:
        return _welcomed(connection, path)
    except _Ending:
        raise ClosedError(
            f"connect: the process at {path} is ending, as its last consumer is gone; share it again"
        ) from None


class SharedDataset:
    """A process that shares a dataset, which goes on until this is closed and no consumer is connected. Made by `hr.share`."""

    def __init__(self, ds: Dataset, socket: str, connection: Connection) -> None:
        self._dataset, self._parameters = ds, parameters_of(ds)
        self._socket = socket
        self._connection: Connection | None = connection
        self._pid: int = connection.welcome["pid"]

    @property
    def socket(self) -> str:
        """The path of its socket, for `headrace.connect` in other processes."""
        return self._socket

    @property
    def pid(self) -> int:
        """The process that makes the batches."""
        return self._pid

    def connect(
        self,
        *,
        shard: tuple[int, int] | None = None,
        epoch: int | None = None,
        start: int | None = None,
        state: bytes | None = None,
        seed: int | None = None,
        even: Literal["off", "drop", "pad"] | None = None,
        as_: As | None = None,
        as_tuple: bool | Sequence[str] | None = None,
        group: str = "",
    ) -> SharedIterator:
        """As `headrace.connect` with its socket. What is None is that of the dataset that was given to `hr.share` here."""
        found, defaults = _connected(self._socket), defaults_of(self._dataset)
        return _iterator(
            found, defaults, self._parameters, shard, epoch, start, state, seed, even, as_, as_tuple, group
        )

    def close(self) -> None:
        """Keeps the process no longer: it ends once no consumer is connected. Closing again does nothing."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a SharedDataset is not pickled: give the other process its socket, and call headrace.connect(socket) there"
        )

    def __repr__(self) -> str:
        return f"<headrace.SharedDataset at {self._socket}: process {self._pid}>"


def serve(ds: Dataset, socket: str, mode: int, settings: Settings, began: Any) -> None:
    """Shares a dataset from this process until it is told to end. `began`: called once consumers can connect."""
    refuse_without_effect(ds)
    path = os.path.abspath(options.own_path("--socket", socket, "share"))
    with locked(path):
        connection = connected(path)
        if connection is not None:
            with contextlib.suppress(_Ending):
                pid = _welcomed(connection, path).welcome["pid"]
                raise GraphError(f"share: process {pid} shares at {path} already: give another socket, or end it")
        file = SocketFile.made(path, mode)
        server = Server(ds, file, settings, stays=True)
    began(path)
    server.run()


class _Ending(Exception):
    """The process at the socket ended while this one connected."""


def _welcomed(connection: Any, path: str) -> Connection:
    try:
        return Connection(connection, path)
    except ClosedError:
        raise _Ending from None


def _check_same(found: Connection, ds: Dataset, settings: Settings, rights: int) -> None:
    """GraphError if the process shares something else."""
    welcome = found.welcome
    here = ds._graph().hash
    if welcome["hash"] != here:
        raise GraphError(
            f"share: process {welcome['pid']} shares another pipeline at {found.shown}: give another socket, or the same "
            f"pipeline (graph {welcome['hash']} there, {here} here)"
        )
    for name, value in vars(settings).items():
        if welcome["settings"][name] != value:
            raise GraphError(
                f"share: {name} is {value!r}, and process {welcome['pid']} at {found.shown} was started with "
                f"{welcome['settings'][name]!r}: give the same"
            )
    if welcome["mode"] != rights:
        raise GraphError(
            f"share: mode is {rights:#o}, and process {welcome['pid']} at {found.shown} was started with "
            f"{welcome['mode']:#o}: give the same"
        )
    check_same_options(ds, welcome["options"], f"process {welcome['pid']} at {found.shown}")


def _iterator(
    found: Connection,
    defaults: Defaults,
    parameters: Mapping[str, Parameter],
    shard: Any,
    epoch: Any,
    start: Any,
    state: Any,
    seed: Any,
    even: Any,
    as_: Any,
    as_tuple: Any,
    group: Any,
) -> SharedIterator:
    of = "connect"
    options.check_beginning(start, state, of)
    if state is not None and not isinstance(state, (bytes, bytearray, memoryview)):
        raise GraphError("connect: state must be the bytes that state() gave")
    form = defaults.as_ if as_ is None else options.choice("as_", as_, ("numpy", "torch", "dlpack", "arrow"), of)
    tuples = defaults.as_tuple if as_tuple is None else given_columns("as_tuple", as_tuple, of)
    check_form(tuples, form, of)
    asked = Asked(
        defaults.shard if shard is None else options.shard(shard, of),
        options.text("group", group, of),
        defaults.seed if seed is None else options.whole("seed", seed, of=of),
        defaults.even if even is None else options.choice("even", even, ("off", "drop", "pad"), of),
        form,
        tuple(tuples) if isinstance(tuples, list) else tuples,
    )
    begin = Begin(
        None if epoch is None else options.epoch(epoch, of),
        0 if start is None else options.whole("start", start, of=of),
        None if state is None else bytes(state),
    )
    return SharedIterator(found, asked, begin, defaults.epoch, parameters)


def _new_path() -> str:
    return os.path.join(tempfile.mkdtemp(prefix="headrace-share-"), "socket")
