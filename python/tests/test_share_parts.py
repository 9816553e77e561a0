"""Parts of the sidecar of a host: how far ahead it makes batches, how these lie in memory, and what is said of failures."""

import errno
import os
import select
import selectors
import socket
import threading
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace._runs.torch_tensors import tensor_of
from headrace._share import batch_bytes, packets, sent_errors
from headrace._share.connection import Connection
from headrace._share.group import Begin, Group, Member, Settings
from headrace._share.memory import Mapping, Pool
from headrace._share.server import Server
from headrace._share.shared_iterator import refuse_bfloat16
from headrace._share.stream import Item, Opened, Place, Refused, Stream


class FakeStream:
    """Counts what it may make."""

    def __init__(self) -> None:
        self.allowed = self.made = 0
        self.cancelled = False

    def allow(self, batches: int) -> None:
        self.allowed += batches

    def cancel(self) -> None:
        self.cancelled = True


class Consumer:
    """What a group says to one."""

    def __init__(self, group: Group) -> None:
        self.said: list[str] = []
        self.items: list[int] = []
        self.member = Member(lambda head: self.said.append(head["kind"]), lambda _, number: self.items.append(number))
        self._group = group

    def ask(self, epoch: int = 0, start: int = 0, state: bytes | None = None) -> None:
        self._group.ask(self.member, Begin(epoch, start, state))

    def take(self, number: int) -> None:
        self._group.taken(self.member, number)


class Conductor:
    """A group over streams that make what they may at once."""

    def __init__(self, rows: int = 100, **settings: Any) -> None:
        self.streams: list[FakeStream] = []
        self._rows = rows
        self._pool = Pool(100)
        self.group = Group(Settings(**settings), self._pool, hr.Range(1), {}, self._open)

    def _open(self, begin: Begin) -> Any:
        self.streams.append(FakeStream())
        self._place = Place(begin.epoch, begin.start, b"")
        self._opens = True
        return self.streams[-1]

    def run(self) -> int:
        """How many batches the stream has made once it has made all that it may."""
        stream = self.streams[-1]
        if self._opens:
            self._opens = False
            self.group.take_in(Opened(self._place, ["value"]))
        while stream.made < stream.allowed and self.group.stream is not None:
            stream.made += 1
            last = stream.made > self._rows
            after = Place(self._place.epoch, self._place.given + (not last), b"%d" % stream.made)
            slot = self._pool.take(1 << 15)
            self.group.take_in(Item(self._place, after, slot=slot, last=last))
            self._place = after
        return stream.made

    def consumer(self) -> Consumer:
        return Consumer(self.group)


def test_a_slow_consumer_holds_the_others_at_the_bound():
    conductor = Conductor(ahead=3, consumers=2)
    one, other = conductor.consumer(), conductor.consumer()
    one.ask()
    assert one.said == ["waiting"] and conductor.streams == []
    other.ask()
    assert conductor.run() == 3 and one.items == other.items == [1, 2, 3]
    one.take(3)
    assert conductor.run() == 3
    other.take(1)
    assert conductor.run() == 4
    # When it is gone nobody holds the others.
    conductor.group.leave(other.member)
    assert conductor.run() == 6 and one.items == [1, 2, 3, 4, 5, 6]


def test_a_slow_consumer_is_dropped_at_the_bound():
    conductor = Conductor(ahead=3, consumers=2, slow="drop")
    fast, slow = conductor.consumer(), conductor.consumer()
    fast.ask()
    slow.ask()
    assert conductor.run() == 3
    fast.take(3)
    assert conductor.run() == 6 and slow.said == ["opened"]
    fast.take(4)
    assert slow.said[-1] == "refused" and slow.member not in conductor.group.members
    assert conductor.run() == 7 and slow.items == [1, 2, 3, 4, 5, 6]


def test_memory_is_free_once_all_have_let_go():
    conductor = Conductor(ahead=2, consumers=2)
    one, other = conductor.consumer(), conductor.consumer()
    one.ask()
    other.ask()
    conductor.run()
    (number, (slot, _)), _ = one.member.held.items()
    # The group's own, and that of each consumer.
    assert slot.holders == 3
    conductor.group.released(one.member, number)
    conductor.group.released(one.member, number)
    assert slot.holders == 2
    one.take(1)
    other.take(1)
    assert slot.holders == 1
    conductor.group.released_after(other.member, 1)
    assert slot.holders == 1
    conductor.group.released_after(other.member, 0)
    assert slot.holders == 0 and conductor._pool.take(1 << 15) is slot


def test_who_is_first_begins_the_next_epoch_and_the_others_follow():
    conductor = Conductor(rows=2, ahead=2, consumers=2)
    one, other = conductor.consumer(), conductor.consumer()
    one.ask()
    other.ask()
    conductor.run()
    one.take(2)
    other.take(1)
    assert conductor.run() == 3 and one.items == [1, 2, 3]
    one.take(3)
    one.ask(1)
    # Of the next epoch nothing goes to a consumer that has not asked for it, and it holds the others.
    assert conductor.run() == 0
    other.take(3)
    assert conductor.run() == 2 and one.items == [1, 2, 3, 4, 5] and other.items == [1, 2, 3]
    other.ask(2)
    assert other.said[-1] == "refused" and one.said.count("refused") == 0


def test_the_last_to_leave_ends_the_run():
    conductor = Conductor()
    one, other = conductor.consumer(), conductor.consumer()
    one.ask()
    other.ask()
    conductor.run()
    conductor.group.leave(one.member)
    assert not conductor.streams[-1].cancelled
    conductor.group.leave(other.member)
    assert conductor.streams[-1].cancelled and len(conductor.streams) == 1
    conductor.group.leave(other.member)


@pytest.mark.parametrize("asked", [{"epoch": 3, "start": 5}, {"state": b"another"}])
def test_who_waits_does_not_run_what_one_that_is_gone_asked_for(asked):
    conductor = Conductor(consumers=2)
    gone, other = conductor.consumer(), conductor.consumer()
    gone.ask()
    other.ask(**asked)
    conductor.group.leave(gone.member)
    conductor.run()
    assert other.said == ["refused"] and other.items == []


def test_a_run_that_cannot_be_opened_is_refused_to_all_that_wait():
    conductor = Conductor(consumers=2)
    one, other = conductor.consumer(), conductor.consumer()
    one.ask()
    other.ask()
    conductor.group.take_in(Refused(hr.GraphError("no")))
    assert one.said[-1] == other.said[-1] == "refused" and conductor.group.members == []


# ---- streams ----


class FailingAt:
    """A run whose state cannot be taken from a call on."""

    epoch = 0

    def __init__(self, rows: list[Any], states: int) -> None:
        self._engine = self
        self._rows, self._states = iter(rows), states
        self.delivered = 0

    def schema(self) -> list[tuple[str, str, Any]]:
        return [("x", "int64", None)]

    def state(self) -> bytes:
        self._states -= 1
        if self._states < 0:
            raise MemoryError("none is left")
        return b"after %d" % self.delivered

    def __next__(self) -> Any:
        row = next(self._rows)
        self.delivered += 1
        return row

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def said_by_stream(rows: list[Any], states: int, pool: Pool | None = None) -> list[Any]:
    said: list[Any] = []

    def opened() -> Any:
        return FailingAt(rows, states)

    stream = Stream(opened, pool or Pool(1), lambda _, given: said.append(given))
    stream.allow(100)
    stream.run()
    return said


def test_a_batch_that_cannot_be_written_is_not_left_out_by_its_state():
    _, one, failed = said_by_stream([{"x": np.arange(3)}, {"x": {"no": "column"}}, {"x": np.arange(3)}], 100)
    assert one.after == Place(0, 1, b"after 1")
    assert failed.last and failed.error["kind"] == "UnsupportedError" and failed.after == one.after


@pytest.mark.parametrize("states", [0, 1, 2])
def test_a_state_that_cannot_be_taken_is_an_error_in_its_place(states):
    opened, one, end = said_by_stream([{"x": np.arange(3)}], states)
    there = [opened.place.state, one.after.state, end.after.state]
    assert [isinstance(each, bytes) for each in there] == [number < states for number in range(3)]
    assert "none is left" in there[-1]["args"][0] and end.last and end.error is None


def test_memory_of_a_batch_that_cannot_be_written_is_given_back(monkeypatch):
    def fail(*_: Any) -> None:
        raise MemoryError

    pool = Pool(1)
    slot = pool.take(1 << 16)
    pool.give(slot)
    monkeypatch.setattr(batch_bytes.Measured, "write", fail)
    *_, failed = said_by_stream([{"x": np.zeros(1 << 13)}], 100, pool)
    assert failed.error["kind"] == "ResourceError" and failed.slot is None and pool.take(1 << 16) is slot


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError


def test_a_run_ends_with_a_message_though_its_error_has_no_text():
    def fail() -> Any:
        raise Unspeakable

    said: list[Any] = []
    Stream(fail, Pool(1), lambda _, given: said.append(given)).run()
    assert "Unspeakable" in str(said[0].error)


# ---- errors ----


@pytest.mark.parametrize("character", ["x", "é", "\U0001f600", "\n", "\udc80"])
@pytest.mark.parametrize("count", [1, 2000, 5000, 30000, 1 << 20])
def test_long_errors_fit_into_a_message_beside_a_state(character, count):
    error = hr.FunctionError("first words")
    error.args = ("first words" + character * count + "last words",)
    error.row, error.file = f"row {character * count}", character * count
    error.operator = error.location = error._file = character * count
    error.__cause__ = ValueError(character * count + "of the user")
    sent = sent_errors.sent(error)
    packets.packed({"kind": "failed", "error": sent, "state": "0" * 2 * packets.MOST_STATE})
    again = sent_errors.remade(sent)
    assert isinstance(again, hr.FunctionError) and str(again).startswith("first words")
    assert str(again).endswith("last words") and "of the user" in str(again.__cause__)
    assert again.row is not None and again.row.startswith("row ")
    if count < 300:
        assert str(again) == str(error)


# ---- the server and connections ----


class NoFile:
    """The socket's file of a server that does not run."""

    shown, mode = "here", 0o600

    def __init__(self, listener: Any = None) -> None:
        self.listener = listener

    def remove(self) -> None:
        pass


def pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def served(server: Server, connection: socket.socket) -> Any:
    """The server's consumer of a connection, which has its welcome."""
    server._add(connection)
    return server._consumers[connection]


def run_posted(server: Server) -> None:
    """What another thread posts, once it does."""
    assert select.select([server._woken], [], [], 30)[0]
    server._hear(server._woken, 0)
    server._run_posted()


def next_head(connection: socket.socket) -> Any:
    packet = packets.unpacked(connection.recvmsg(1 << 18, 64))
    return None if packet is None else packet.head


def test_accepting_pauses_where_descriptors_are_out(capfd):
    class Full:
        def __init__(self) -> None:
            self.inner, self.fails = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET), True

        def fileno(self) -> int:
            return self.inner.fileno()

        def accept(self) -> Any:
            raise OSError(errno.EMFILE, "too many") if self.fails else BlockingIOError

    listener = Full()
    file: Any = NoFile(listener)
    server = Server(hr.Range(3), file, Settings(), stays=True)
    server._selector.register(file.listener, selectors.EVENT_READ, server._accept)
    for _ in range(3):
        assert not server._accept_one()
        assert listener not in [key.fileobj for key in server._selector.get_map().values()]
        # It is not waited for without end, and not said again and again.
        assert server._patience() is not None
        server._resume_accepting()
        assert server._resumes_at is not None
        server._resumes_at = 0
        server._resume_accepting()
        assert listener in [key.fileobj for key in server._selector.get_map().values()]
    assert capfd.readouterr().err.count("no consumer can connect") == 1
    listener.inner.close()


def test_a_consumer_that_nothing_can_be_sent_to_is_left(capfd):
    class NoDescriptors:
        """A socket that takes no descriptors, as where too many are under way."""

        def __init__(self, inner: socket.socket) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        def sendmsg(self, data: Any, rights: Any, flags: int) -> int:
            if rights:
                raise OSError(errno.ETOOMANYREFS, os.strerror(errno.ETOOMANYREFS))
            return self._inner.sendmsg(data, rights, flags)

    file: Any = NoFile()
    server = Server(hr.Range(3), file, Settings(), stays=True)
    here, there = pair()
    connection: Any = NoDescriptors(there)
    consumer = served(server, connection)
    assert next_head(here)["kind"] == "welcome"
    consumer.reply({"kind": "batch"}, b"", 0)
    run_posted(server)
    assert server._consumers == {} and there.fileno() == -1
    refused = next_head(here)
    assert refused["kind"] == "refused" and "raise the limit of open files" in refused["error"]["args"][0]
    assert next_head(here) is None and "a consumer is left" in capfd.readouterr().err
    here.close()


@pytest.mark.parametrize("value", ["x" * (1 << 18), {1, 2}, {"x": object()}])
def test_an_answer_that_cannot_be_sent_is_an_error_of_that_call(value):
    file: Any = NoFile()
    server = Server(hr.Range(3), file, Settings(), stays=True)
    here, there = pair()
    consumer = served(server, there)
    connection = Connection(here, "here")
    connection._asked = 6
    consumer.answer(7, {"value": value})
    with pytest.raises(hr.UnsupportedError, match="does not fit into a message"):
        connection.answer("explain")
    # Nothing of it is left for whoever takes batches.
    consumer.reply({"kind": "batch"})
    assert connection.first().head["kind"] == "batch"


def test_a_message_that_fails_does_not_end_the_server(capfd):
    file: Any = NoFile()
    server = Server(hr.Range(3), file, Settings(), stays=True)
    done: list[bool] = []
    for each in (lambda: 1 // 0, lambda: done.append(True)):
        server._post(each)
    server._run_posted()
    assert done and "ZeroDivisionError" in capfd.readouterr().err


def test_why_a_server_ended_arrives_though_it_left_messages_unread():
    file: Any = NoFile()
    server = Server(hr.Range(3), file, Settings(), stays=True)
    here, there = pair()
    served(server, there)
    for number in range(3):
        here.send(packets.numbered(packets.TAKEN, number))
    server._end()
    assert [next_head(here)["kind"] for _ in range(2)] == ["welcome", "refused"] and next_head(here) is None
    with pytest.raises(BrokenPipeError):
        here.send(b"more")
    here.close()


def test_finding_a_state_leaves_the_epoch_of_the_group():
    dataset = hr.Range(8).batch(2)
    with dataset.iterate(epoch=5) as rows:
        next(rows)
        state = rows.state()
    file: Any = NoFile()
    server = Server(dataset, file, Settings(), stays=True)
    located: list[Any] = []

    class Located(Group):
        def ask(self, member: Member, begin: Begin, located_at: Any = None) -> bool:
            located.append(located_at)
            return True

    opened: Any = None
    group = Located(Settings(), Pool(1), hr.Range(8).batch(2), {}, opened)
    here, there = pair()
    server._locate(served(server, there), group, Begin(0, 0, state))
    run_posted(server)
    if not located:
        run_posted(server)
    assert located == [(5, 1)] and group.dataset.epoch == 0
    here.close()


def test_leaving_is_said_though_the_socket_is_full():
    file: Any = NoFile()
    here, there = pair()
    served(Server(hr.Range(3), file, Settings(), stays=True), there)
    connection = Connection(here, "here")
    sent = 0
    with pytest.raises(BlockingIOError):
        while True:
            here.send(packets.numbered(packets.TAKEN, 1), socket.MSG_DONTWAIT)
            sent += 1
    connection._let_go(5)
    leaving = threading.Thread(target=connection.close, args=(3,))
    leaving.start()
    there.settimeout(30)
    for _ in range(sent):
        assert packets.number_in(there.recv(1 << 10)) == (packets.TAKEN, 1)
    assert packets.number_in(there.recv(1 << 10)) == (packets.RELEASED, 5)
    assert next_head(there) == {"kind": "leave", "next": 3}
    leaving.join()


# ---- memory ----


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"x": np.zeros((0, 3))},
        {"x": np.arange(24).reshape(2, 3, 4)[:, ::2].transpose(2, 0, 1)},
        {"x": np.array(3.5), "y": np.array([True, False])},
        {"x": np.array(["", "é", "a\0b"], object), "y": np.array([[b"", b"\0"], [b"x", b"yy"]], object)},
        {"x": "text", "y": b"bytes", "z": ""},
        {"x": [np.arange(2), np.arange(0), np.array(["a"], object)], "y": []},
        {"x": np.array([], object)},
    ],
)
def test_rows_are_as_they_were(row):
    measured = batch_bytes.Measured(row)
    memory = np.zeros(measured.bytes, np.uint8)
    measured.write(memory)
    assert repr(batch_bytes.read(memory)) == repr(row)


@pytest.mark.torch
def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    torch = pytest.importorskip("torch")
    row = {"x": np.arange(4).astype(ml_dtypes.bfloat16)}
    measured = batch_bytes.Measured(row)
    memory = np.zeros(measured.bytes, np.uint8)
    measured.write(memory)
    again = batch_bytes.read(memory)
    assert again["x"].dtype == row["x"].dtype and again["x"].tolist() == [0, 1, 2, 3]
    tensor = tensor_of(torch, again["x"])
    assert tensor.dtype == torch.bfloat16 and tensor.tolist() == [0, 1, 2, 3]
    with pytest.raises(hr.UnsupportedError, match="as_='torch'"):
        refuse_bfloat16(again)


def test_damaged_memory_is_an_error_or_another_row():
    measured = batch_bytes.Measured({"x": np.arange(5), "y": np.array(["a", "bb"], object), "z": [np.zeros(2)]})
    memory = np.zeros(measured.bytes, np.uint8)
    measured.write(memory)
    refused = 0
    for at in range(memory.size):
        damaged = memory.copy()
        damaged[at] ^= 0x15
        try:
            batch_bytes.read(damaged)
        except hr.DataError:
            refused += 1
    assert refused > 50


def test_values_that_cannot_be_shared_are_named():
    for value in (np.array([1, "a"], object), {"a": 1}, np.array([None], object)):
        with pytest.raises(hr.UnsupportedError, match='column "x" has values of'):
            batch_bytes.Measured({"x": value})


def test_others_cannot_write_to_memory_or_cut_it():
    slot = Pool(1).take(100)
    slot.memory[:3] = [1, 2, 3]
    seen = np.asarray(Mapping(slot.descriptor, slot.size, True))
    seen[0] = 9
    assert slot.memory[0] == 1 and seen[1] == 2
    with pytest.raises(PermissionError):
        os.ftruncate(slot.descriptor, 0)
    with pytest.raises(hr.ResourceError, match="no room to map"):
        Mapping(slot.descriptor, slot.size, False)


def test_a_pool_keeps_what_it_may_and_gives_what_fits():
    pool = Pool(2)
    small, large, other = pool.take(10), pool.take(1 << 20), pool.take(10)
    for each in (large, small, other):
        pool.give(each)
    # The oldest is gone.
    assert large.descriptor == -1
    assert pool.take(1 << 20) not in (small, other)
    assert pool.take(5000 - 4096) is small
    pool.trim(0)
    assert other.descriptor == -1


def test_a_kernel_that_cannot_seal_memory_is_named(monkeypatch):
    def fail(*_: Any) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr("fcntl.fcntl", fail)
    with pytest.raises(hr.UnsupportedError, match=r"needs Linux 5\.1 or a later one.* \(Linux .*Invalid argument"):
        Pool(1).take(1 << 20)
    assert len(os.listdir("/proc/self/fd")) == before


def test_memory_that_is_not_there_is_an_error(monkeypatch):
    def fail(descriptor: int, offset: int, size: int) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "posix_fallocate", fail)
    with pytest.raises(hr.ResourceError, match=r"no memory for a batch of .* let go of batches"):
        Pool(1).take(1 << 20)
    assert len(os.listdir("/proc/self/fd")) == before
