"""`Server` makes batches for the consumers that connect to its socket, until it is told to end, or the last one is gone."""

from __future__ import annotations

import array
import contextlib
import os
import resource
import selectors
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from headrace import _engine
from headrace._datasets.dataset import Dataset
from headrace._runs.iterator import Iterator
from headrace._share.group import Begin, Group, Located, Member, Settings, shown_state
from headrace._share.memory import Pool
from headrace._share.packets import (
    RELEASED,
    TAKEN,
    VERSION,
    Packet,
    number_in,
    packed,
    receive,
    unpacked,
)
from headrace._share.sent_errors import sent
from headrace._share.shared_options import defaults_of, makers_options
from headrace._share.shared_parameters import parameters_of, set_here
from headrace._share.socket_file import SocketFile
from headrace._share.stream import Item, Opened, Refused, Stream, as_error
from headrace.errors import ClosedError, Error, ResourceError, UnsupportedError

__all__ = ["Server"]

# Of the dataset's own options: tuples are made where they are taken.
_OWN = {"as_tuple": None, "bytes_as": None, "callbacks": None, "profile_events": None}
# Memory that waits for batches, for each that may be ahead.
_SPARE = 2
_LOCK_PATIENCE_S = 0.2
# Before another consumer is accepted, where one could not be.
_ACCEPT_PAUSE_S = 1.0


class Consumer:
    """A connection. Threads: that of the loop."""

    def __init__(self, connection: socket.socket, changed: Callable[[Consumer], None]) -> None:
        self.connection = connection
        self.member = Member(self.reply, self._deliver)
        self.group: Group | None = None
        # Whether it takes nothing any more, and only keeps batches.
        self.left = False
        # The number of the latest epoch that it asked for.
        self.asked = 0
        self._changed = changed
        self._outgoing: deque[tuple[bytes, int | None]] = deque()
        self.writes = False
        # Why nothing can be sent to it.
        self.broken: OSError | None = None

    def reply(self, head: dict[str, Any], body: bytes = b"", descriptor: int | None = None) -> None:
        try:
            data = packed(head, body)
        except ResourceError as error:
            data = packed({"kind": "refused", "error": sent(error)})
        self._outgoing.append((data, descriptor))
        self.flush()

    def answer(self, number: int, given: dict[str, Any]) -> None:
        """Its number must arrive, whatever is answered: the consumer waits for it."""
        head = {"kind": "answer", "number": number}
        try:
            data = packed({**head, **given})
        except (ResourceError, TypeError, ValueError, RecursionError) as error:
            unsent = UnsupportedError(
                f"the answer does not fit into a message; run the dataset in one process to see it ({error})"
            )
            data = packed({**head, "error": sent(unsent)})
        self._outgoing.append((data, None))
        self.flush()

    def _deliver(self, item: Item, number: int) -> None:
        head: dict[str, Any] = {"next": number, "given": item.after.given, "state": shown_state(item.after.state)}
        if item.last:
            kind = "end" if item.error is None else "failed"
            self.reply({**head, "kind": kind, "error": item.error})
        elif item.slot is None:
            self.reply({**head, "kind": "batch"}, item.body)
        else:
            memory = {"slot": item.slot.number, "bytes": item.bytes}
            self.reply({**head, "kind": "batch", **memory}, b"", item.slot.descriptor)

    def flush(self) -> None:
        """Sends what the socket takes now."""
        while self._outgoing and self.broken is None:
            data, descriptor = self._outgoing[0]
            rights = [] if descriptor is None else [_rights(descriptor)]
            try:
                self.connection.sendmsg([data], rights, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            except BlockingIOError:
                break
            except OSError as error:
                self.broken = error
                self._outgoing.clear()
                break
            self._outgoing.popleft()
        self._changed(self)

    @property
    def pending(self) -> bool:
        return bool(self._outgoing)


def _rights(descriptor: int) -> tuple[int, int, bytes]:
    return socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]).tobytes()


class Server:
    """Threads: `run` on the main thread; what streams and reports say comes by `_post`."""

    def __init__(self, dataset: Dataset, file: SocketFile, settings: Settings, stays: bool) -> None:
        self._dataset, self._file, self._settings, self._stays = dataset, file, settings, stays
        self._selector = selectors.DefaultSelector()
        self._consumers: dict[socket.socket, Consumer] = {}
        self._groups: dict[Any, Group] = {}
        self._pool = Pool(settings.ahead + _SPARE)
        self._posted: deque[Callable[[], None]] = deque()
        self._wakes, self._woken = socket.socketpair()
        for each in (self._wakes, self._woken):
            each.setblocking(False)
        self._ends_by: str | None = None
        # When consumers are accepted again, where that is paused; and whether that was said.
        self._resumes_at: float | None = None
        self._warned = False
        self._hash = dataset._graph().hash
        self._parameters = parameters_of(dataset)
        self._defaults = defaults_of(dataset)._asdict()
        self._options = makers_options(dataset)

    def run(self, first: socket.socket | None = None) -> None:
        """`first`: that of the process which started this one."""
        _allow_descriptors()
        with self._handling_signals():
            self._selector.register(self._file.listener, selectors.EVENT_READ, self._accept)
            self._selector.register(self._woken, selectors.EVENT_READ, self._hear)
            if first is not None:
                self._add(first)
            while self._ends_by is None and not self._is_done():
                for key, events in self._selector.select(self._patience()):
                    key.data(key.fileobj, events)
                self._run_posted()
                self._resume_accepting()
            self._end()

    @contextlib.contextmanager
    def _handling_signals(self) -> Any:
        def handle(number: int, frame: Any) -> None:
            self._ends_by = signal.Signals(number).name

        before = [(each, signal.signal(each, handle)) for each in (signal.SIGTERM, signal.SIGINT)]
        before_wake = signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before_wake)
            for number, handler in before:
                signal.signal(number, handler)

    def _is_idle(self) -> bool:
        return not self._stays and all(each.left for each in self._consumers.values())

    def _patience(self) -> float | None:
        """Who holds the lock where nobody else is connected comes, or dies before that."""
        if self._is_idle():
            return _LOCK_PATIENCE_S
        return None if self._resumes_at is None else _ACCEPT_PAUSE_S

    def _is_done(self) -> bool:
        if not self._is_idle():
            return False
        return self._file.withdraw(self._accept_one)

    def _end(self) -> None:
        error = ClosedError(
            f"the process that shares {self._file.shown} was ended"
            + (f" by {self._ends_by}" if self._ends_by else "")
            + "; share it again, and go on with connect(…, state=it.state())"
        )
        self._file.remove()
        for consumer in self._consumers.values():
            consumer.reply({"kind": "refused", "error": sent(error)})
        for group in self._groups.values():
            group.end()
        for each in self._consumers:
            _close(each)

    # ---- what comes from other threads ----

    def _post(self, function: Callable[[], None]) -> None:
        self._posted.append(function)
        with contextlib.suppress(BlockingIOError):
            self._wakes.send(b"\0")

    def _hear(self, woken: Any, events: int) -> None:
        with contextlib.suppress(BlockingIOError):
            while woken.recv(4096):
                pass

    def _run_posted(self) -> None:
        while self._posted:
            try:
                self._posted.popleft()()
            except Exception as error:
                _warn(f"a message is left: {type(error).__name__}: {error}")

    # ---- connections ----

    def _accept(self, listener: Any, events: int) -> None:
        self._accept_one()

    def _accept_one(self) -> bool:
        try:
            connection, _ = self._file.listener.accept()
        except BlockingIOError:
            return False
        except OSError as error:
            self._pause_accepting(error)
            return False
        self._warned = False
        self._add(connection)
        return True

    def _pause_accepting(self, error: OSError) -> None:
        """Who connects waits, and the listener stays readable, so it is not looked at for a while."""
        if not self._warned:
            _warn(f"no consumer can connect until descriptors are free: {error}")
        self._warned = True
        self._resumes_at = time.monotonic() + _ACCEPT_PAUSE_S
        with contextlib.suppress(KeyError):
            self._selector.unregister(self._file.listener)

    def _resume_accepting(self) -> None:
        if self._resumes_at is not None and time.monotonic() >= self._resumes_at:
            self._resumes_at = None
            self._selector.register(self._file.listener, selectors.EVENT_READ, self._accept)

    def _add(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        consumer = Consumer(connection, self._watch)
        self._consumers[connection] = consumer
        self._selector.register(connection, selectors.EVENT_READ, self._serve)
        consumer.reply(
            {
                "kind": "welcome",
                "version": VERSION,
                "pid": os.getpid(),
                "hash": self._hash,
                "defaults": self._defaults,
                "options": self._options,
                "settings": vars(self._settings),
                "mode": self._file.mode,
            }
        )

    def _watch(self, consumer: Consumer) -> None:
        """Writes as soon as the socket takes more. Who takes nothing any more is left later, as this may be in the middle of
        a walk over all."""
        if consumer.broken is not None:
            self._post(lambda: self._lose_broken(consumer))
            return
        wants = consumer.pending
        if wants == consumer.writes or consumer.connection not in self._consumers:
            return
        consumer.writes = wants
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if wants else 0)
        self._selector.modify(consumer.connection, events, self._serve)

    def _serve(self, connection: Any, events: int) -> None:
        consumer = self._consumers.get(connection)
        if consumer is None:
            return
        if events & selectors.EVENT_WRITE:
            consumer.flush()
        if not events & selectors.EVENT_READ:
            return
        try:
            self._read_all(consumer)
        except (OSError, Error, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            if not isinstance(error, ConnectionError):
                _warn(f"a consumer is left: {error}")
            self._lose(consumer)

    def _read_all(self, consumer: Consumer) -> None:
        messages: deque[Any] = deque()
        while consumer.connection in self._consumers:
            try:
                receive(consumer.connection, messages)
            except BlockingIOError:
                return
            message = messages.popleft()
            number = number_in(message[0])
            if number is not None:
                self._note(consumer, *number)
                continue
            packet = unpacked(message)
            if packet is None:
                self._lose(consumer)
                return
            if packet.descriptor is not None:
                os.close(packet.descriptor)
            self._answer(consumer, packet)

    def _note(self, consumer: Consumer, kind: bytes, number: int) -> None:
        if consumer.group is None:
            return
        if kind == TAKEN:
            consumer.group.taken(consumer.member, number)
        elif kind == RELEASED:
            consumer.group.released(consumer.member, number)

    def _lose(self, consumer: Consumer) -> None:
        self._selector.unregister(consumer.connection)
        del self._consumers[consumer.connection]
        self._leave(consumer)
        if consumer.group is not None:
            consumer.group.released_after(consumer.member, 0)
        _close(consumer.connection)

    def _lose_broken(self, consumer: Consumer) -> None:
        if consumer.connection not in self._consumers:
            return
        error = consumer.broken
        if not isinstance(error, ConnectionError):
            _warn(f"a consumer is left: {error}")
            why = ResourceError(
                f"no batch can be sent to this consumer: {error}; let go of batches, raise the limit of open files "
                "(ulimit -n), and go on with connect(…, state=it.state())"
            )
            with contextlib.suppress(OSError):
                consumer.connection.send(packed({"kind": "refused", "error": sent(why)}), socket.MSG_NOSIGNAL)
        self._lose(consumer)

    def _leave(self, consumer: Consumer) -> None:
        group = consumer.group
        if group is None:
            return
        group.leave(consumer.member)
        if not group.members:
            self._groups = {key: each for key, each in self._groups.items() if each is not group}
            self._size_pool()

    def _size_pool(self) -> None:
        self._pool.trim(max(1, len(self._groups)) * (self._settings.ahead + _SPARE))

    # ---- what consumers ask ----

    def _answer(self, consumer: Consumer, packet: Packet) -> None:
        head = packet.head
        kind = head["kind"]
        if kind == "ask":
            self._ask(consumer, head)
        elif kind == "leave":
            consumer.left = True
            self._leave(consumer)
            if consumer.group is not None:
                consumer.group.released_after(consumer.member, head["next"])
            # Another thread of the consumer may wait for a batch.
            closed = ClosedError("the iterator was closed; connect again with headrace.connect(…)")
            consumer.reply({"kind": "refused", "error": sent(closed)})
        elif kind == "set":
            self._set(consumer, head)
        elif kind in ("explain", "report", "length"):
            self._in_thread(consumer, head["kind"], head)
        else:
            raise ValueError(f"it asks for {kind!r}")

    def _ask(self, consumer: Consumer, head: dict[str, Any]) -> None:
        # A signal may have let it ask twice.
        if head["number"] <= consumer.asked or consumer.left:
            return
        consumer.asked = head["number"]
        state = head["state"]
        begin = Begin(head["epoch"], head["start"], None if state is None else bytes.fromhex(state))
        try:
            group = consumer.group or self._group(head)
        except Error as error:
            consumer.reply({"kind": "refused", "error": sent(error)})
            return
        consumer.group = group
        if not group.ask(consumer.member, begin):
            self._locate(consumer, group, begin)

    def _group(self, head: dict[str, Any]) -> Group:
        """That of its key, made where there is none."""
        key = _key(head)
        options = {name: head[name] for name in ("seed", "even", "as_")}
        known = self._groups.get(key)
        # Where all were refused nobody is left to agree with.
        if known is not None and known.members:
            error = known.disagreement(options)
            if error is not None:
                raise error
            return known
        dataset = self._dataset.options()
        dataset._options = self._dataset._options.changed({**_OWN, **options, "shard": key[0]}, "connect")

        def open_run(begin: Begin) -> Stream:
            stream = Stream(lambda: _open(dataset, begin), self._pool, self._take_in)
            stream.start()
            return stream

        group = Group(self._settings, self._pool, dataset, options, open_run)
        self._groups[key] = group
        self._size_pool()
        return group

    def _take_in(self, stream: Stream, given: Opened | Refused | Item) -> None:
        self._post(lambda: self._give_on(stream, given))

    def _give_on(self, stream: Stream, given: Opened | Refused | Item) -> None:
        for group in list(self._groups.values()):
            if group.stream is stream:
                group.take_in(given)
                return
        # Nobody is there any more.
        if isinstance(given, Item) and given.slot is not None:
            self._pool.give(given.slot)

    def _locate(self, consumer: Consumer, group: Group, begin: Begin) -> None:
        """Finds out where a state is, which only a pipeline can read."""

        # A copy, as this sets its epoch while a stream begins one of the group's.
        dataset = group.dataset.options()

        def find() -> Located:
            with _open(dataset, begin) as rows:
                assert rows._engine is not None
                return rows.epoch, rows._engine.delivered

        def found(located: Located | Error) -> None:
            if consumer.connection not in self._consumers or consumer.left:
                return
            if isinstance(located, Error):
                consumer.reply({"kind": "refused", "error": sent(located)})
                self._leave(consumer)
            else:
                group.ask(consumer.member, begin, located)

        self._later(find, found)

    def _set(self, consumer: Consumer, head: dict[str, Any]) -> None:
        given: dict[str, Any] = {"value": None}
        try:
            for name, epoch, value in head["values"]:
                set_here(self._parameters, name, value, epoch)
        except Error as error:
            given["error"] = sent(error)
        consumer.answer(head["number"], given)

    def _in_thread(self, consumer: Consumer, kind: str, head: dict[str, Any]) -> None:
        group = self._groups.get(_key(head))
        dataset = self._dataset if group is None else group.dataset
        rows = None if group is None or group.latest is None else group.latest.rows

        def find() -> Any:
            if kind == "length":
                return _length(dataset.options(), head["epoch"])
            if kind == "report":
                return {} if rows is None else rows.report()
            text = dataset.explain() if rows is None else rows.explain()
            return self._explained(group) + text

        def found(value: Any) -> None:
            if consumer.connection not in self._consumers:
                return
            consumer.answer(head["number"], {"error": sent(value)} if isinstance(value, Error) else {"value": value})

        self._later(find, found)

    def _explained(self, group: Group | None) -> str:
        consumers = 0 if group is None else len(group.members)
        settings = self._settings
        return (
            f"Shared: {self._file.shown}, process {os.getpid()}, consumers of these batches: {consumers}; ahead={settings.ahead}, "
            f'slow="{settings.slow}"\n'
        )

    def _later(self, find: Callable[[], Any], found: Callable[[Any], None]) -> None:
        def run() -> None:
            try:
                value = find()
            except BaseException as error:
                value = as_error(error)
            self._post(lambda: found(value))

        threading.Thread(target=run, name="headrace-share", daemon=True).start()


def _key(head: dict[str, Any]) -> tuple[Any, str]:
    """Of the consumers which get the same batches."""
    shard = head["shard"]
    return None if shard is None else tuple(shard), head["group"]


def _close(connection: socket.socket) -> None:
    """Reads what is left: else the other side would get an error before what was sent to it last."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RD)
        while connection.recv(1):
            pass
    connection.close()


def _allow_descriptors() -> None:
    """As many as it may have: one for each batch that consumers keep."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _open(dataset: Dataset, begin: Begin) -> Iterator:
    if begin.state is not None:
        return dataset.iterate(state=begin.state)
    if begin.start > 0:
        return dataset.iterate(epoch=begin.epoch, start=begin.start)
    # A loop over the dataset keeps the pipeline for the epoch after it.
    dataset.epoch = begin.epoch
    return iter(dataset)


def _length(dataset: Dataset, epoch: int) -> dict[str, Any]:
    """`dataset`: a copy, as a run has set the epoch of the other."""
    dataset.epoch = epoch
    try:
        return {"rows": len(dataset)}
    except TypeError as error:
        return {"unknown": str(error)}


def _warn(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        os.write(2, _engine.printable(f"headrace share: {text}").encode("utf-8", "replace") + b"\n")
