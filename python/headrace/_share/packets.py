"""`Packet`: what the process that shares batches and its consumers send each other, each in one message of a Unix socket.

The sockets are of SOCK_SEQPACKET, so a message arrives whole or not at all, and several threads may send."""

from __future__ import annotations

import array
import json
import socket
import struct
from typing import Any, NamedTuple

from headrace.errors import ResourceError

__all__ = [
    "MOST_INLINE",
    "MOST_STATE",
    "VERSION",
    "Packet",
    "RELEASED",
    "TAKEN",
    "number_in",
    "numbered",
    "packed",
    "receive",
    "unpacked",
]

# Of the packets' form; both sides must have the same.
VERSION = 2
# A body that is larger travels in shared memory: a socket takes about 200 KiB at once.
MOST_INLINE = 16 << 10
# Of a pipeline, which is in the head of each batch.
MOST_STATE = 32 << 10
_MOST_BYTES = 160 << 10
_ANCILLARY = socket.CMSG_SPACE(array.array("i").itemsize)

# What consumers say most often: the number of the batch that they ask for next, and the memory that they let go of.
TAKEN = b"T"
RELEASED = b"R"
_NUMBER = struct.Struct("<cQ")
_LENGTH = struct.Struct("<I")


class Packet(NamedTuple):
    head: dict[str, Any]
    body: memoryview
    descriptor: int | None


def packed(head: dict[str, Any], body: bytes = b"") -> bytes:
    """ResourceError where it does not fit into a message."""
    text = json.dumps(head).encode()
    if len(text) + len(body) + _LENGTH.size > _MOST_BYTES:
        raise ResourceError(
            f"share: a message would have {len(text) + len(body):,} bytes, and there is room for {_MOST_BYTES:,}: give fewer "
            "or shorter names of columns, and a smaller state"
        )
    return _LENGTH.pack(len(text)) + text + body


def numbered(kind: bytes, number: int) -> bytes:
    return _NUMBER.pack(kind, number)


def number_in(data: bytes) -> tuple[bytes, int] | None:
    """The kind and the number of what `numbered` made; None for other packets."""
    if len(data) != _NUMBER.size or data[:1] not in (TAKEN, RELEASED):
        return None
    kind, number = _NUMBER.unpack(data)
    return kind, number


def receive(connection: socket.socket, into: Any) -> None:
    """Appends the next message to a deque, in one call of C: a signal cannot take it away in between."""
    into.extend(map(connection.recvmsg, [_MOST_BYTES], [_ANCILLARY], [socket.MSG_CMSG_CLOEXEC]))


def unpacked(message: tuple[bytes, list[tuple[int, int, bytes]], int, Any]) -> Packet | None:
    """None: the other side has closed its socket. ValueError for what is not a packet."""
    data, ancillary, flags, _ = message
    descriptor = _descriptor_in(ancillary)
    if not data:
        return None
    if flags & socket.MSG_CTRUNC:
        raise ResourceError(
            "share: no file descriptor is left for the memory of a batch; close files, or raise the limit (ulimit -n)"
        )
    if len(data) < _LENGTH.size:
        raise ValueError("a packet is cut off")
    (length,) = _LENGTH.unpack_from(data)
    end = _LENGTH.size + length
    head = json.loads(data[_LENGTH.size : end])
    if not isinstance(head, dict):
        raise ValueError("a packet's head is not an object")
    return Packet(head, memoryview(data)[end:], descriptor)


def _descriptor_in(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS and len(data) >= array.array("i").itemsize:
            return array.array("i", data[: array.array("i").itemsize])[0]
    return None
