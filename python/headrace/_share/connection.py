"""`Connection`: a consumer's side of the socket, with the memory of batches that it has.

Threads: one at a time, but `let_go`, which is called where a batch is freed; a forked child cannot use it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy

from headrace import _engine
from headrace._share.memory import Mapping
from headrace._share.packets import RELEASED, TAKEN, VERSION, Packet, numbered, packed, receive, unpacked
from headrace._share.sent_errors import remade
from headrace._share.socket_file import connected
from headrace.errors import ClosedError, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Connection"]

_open: weakref.WeakSet[Connection] = weakref.WeakSet()


def _close_in_child() -> None:
    """Else the server would not see that the parent has ended."""
    for each in list(_open):
        each.socket.close()


os.register_at_fork(after_in_child=_close_in_child)


class Received:
    """A packet, with its memory once that is mapped."""

    def __init__(self, packet: Packet | None) -> None:
        self.packet = packet
        self.descriptor = None if packet is None else packet.descriptor
        self.mapping: Mapping | None = None


class Connection:
    """A signal may come between any two steps here, so a packet stays the first until who has handled it drops it.

    Attributes:
        welcome: What the server said first.
    """

    def __init__(self, connection: socket.socket, path: str) -> None:
        self.socket = connection
        self.path = path
        self.shown = _engine.printable(path)
        self._process = os.getpid()
        # As they came, or as Received; and what was let go of while the socket took nothing.
        self._messages: deque[Any] = deque()
        self._unsent: deque[bytes] = deque()
        self._asked = 0
        self.welcome: dict[str, Any] = {}
        _open.add(self)
        self.welcome = self.first().head
        self.drop_first()
        if self.welcome["kind"] == "refused":
            raise remade(self.welcome["error"])
        if self.welcome["version"] != VERSION:
            raise UnsupportedError(
                f"connect: the process at {self.shown} has another version of Headrace: give both the same (packets of "
                f"version {self.welcome['version']}, and {VERSION} here)"
            )

    def ask(self, **head: Any) -> None:
        self._send(packed(head))

    def take(self, number: int) -> None:
        """All before this number; said twice, it means the same."""
        self._send(numbered(TAKEN, number))

    def first(self) -> Packet:
        """Waits for it. ClosedError if the server is gone."""
        self._check_process()
        self._send_unsent()
        while True:
            while not self._messages:
                self._wait()
            packet = self._parsed(0).packet
            if packet is None:
                raise self._gone()
            # One that a signal kept from who asked for it.
            if packet.head["kind"] != "answer":
                return packet
            self.drop_first()

    def drop_first(self) -> None:
        self._messages.popleft()

    def answer(self, kind: str, **given: Any) -> Any:
        """What the server answers, before the batches that have come. Raises its error."""
        self._check_process()
        self._asked += 1
        self.ask(kind=kind, number=self._asked, **given)
        seen = 0
        while True:
            while seen == len(self._messages):
                self._wait()
            received = self._parsed(seen)
            head = {} if received.packet is None else received.packet.head
            if received.packet is None or head["kind"] == "refused":
                raise self._gone() if received.packet is None else remade(head["error"])
            if head["kind"] == "answer" and head["number"] == self._asked:
                del self._messages[seen]
                return _value_in(head)
            seen += 1

    def beside(self) -> Connection:
        """Another one to the same server, for questions on a thread that must not wait for batches."""
        self._check_process()
        found = connected(self.path)
        other = None if found is None else Connection(found, self.path)
        if other is None or other.welcome["pid"] != self.welcome["pid"]:
            raise self._gone()
        return other

    def _wait(self) -> None:
        select.select([self.socket], [], [])
        try:
            receive(self.socket, self._messages)
        except ConnectionError:
            raise self._gone() from None

    def _parsed(self, at: int) -> Received:
        if not isinstance(self._messages[at], Received):
            self._messages[at] = Received(unpacked(self._messages[at]))
        received: Received = self._messages[at]
        return received

    def memory_of_first(self) -> NDArray[numpy.uint8]:
        """That of a batch, which it keeps until its last array is gone."""
        received: Received = self._messages[0]
        packet = received.packet
        assert packet is not None
        if packet.descriptor is None:
            return numpy.frombuffer(bytearray(packet.body), numpy.uint8)
        if received.mapping is None:
            slot = packet.head["slot"]
            received.mapping = Mapping(packet.descriptor, packet.head["bytes"], True)
            received.mapping.on_release = lambda: self._let_go(slot)
        descriptor, received.descriptor = received.descriptor, None
        if descriptor is not None:
            os.close(descriptor)
        return numpy.asarray(received.mapping)

    def _let_go(self, slot: int) -> None:
        """May be called anywhere, even within a call of this object, so it neither waits nor raises."""
        self._unsent.append(numbered(RELEASED, slot))
        self._send_unsent(socket.MSG_DONTWAIT)

    def _send_unsent(self, flags: int = 0) -> None:
        # Another call of this may come between any two steps, and takes what is left.
        with contextlib.suppress(IndexError):
            while True:
                data = self._unsent.popleft()
                try:
                    self.socket.send(data, flags | socket.MSG_NOSIGNAL)
                except BlockingIOError:
                    self._unsent.appendleft(data)
                    return
                except OSError:
                    pass  # The server is gone.

    def _send(self, data: bytes) -> None:
        self._check_process()
        # Where the server is gone, why stands in what it sent last.
        with contextlib.suppress(OSError):
            self.socket.send(data, socket.MSG_NOSIGNAL)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise ClosedError("this process was forked from the one that connected: connect here, too")

    def _gone(self) -> ClosedError:
        pid = self.welcome.get("pid")
        named = "the process that was to share batches" if pid is None else f"process {pid}, which shared batches"
        return ClosedError(
            f"connect: {named} at {self.shown} is gone: share the dataset again, and go on with "
            "connect(…, state=it.state())"
        )

    def close(self, given: int) -> None:
        """Tells the server that it takes nothing more after the item before number `given`. The socket is closed when the
        last batch is gone, too. Waits until the server has room for that: else others would be held where batches are
        kept."""
        if os.getpid() == self._process:
            self._send_unsent()
            self.ask(kind="leave", next=given)

    def __del__(self) -> None:
        self.socket.close()
        # Of batches that nobody took.
        for each in self._messages:
            received = each if isinstance(each, Received) else Received(unpacked(each))
            if received.descriptor is not None:
                os.close(received.descriptor)


def _value_in(head: dict[str, Any]) -> Any:
    if "error" in head:
        raise remade(head["error"])
    return head["value"]
