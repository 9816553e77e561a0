"""`state_at` moves the state of an epoch's start to a later position of the epoch.

The engine goes on exactly from a state that another number of ranks took, if a batch's number says which rows it has;
otherwise it refuses such a state and names the operator that is why. So the moved state is one of another number of
ranks, all of which have used up the same number of rows. Its fields are those of `engine/exec/state.proto`."""

import struct

__all__ = ["state_at"]

# Of SealedState.
_CHECKSUM, _STATE = 2, 3
# Of State.
_DELIVERED, _RANK, _WORLD, _BASE = 6, 9, 10, 11
_VARINT, _BYTES, _FIXED32 = 0, 2, 5
# The engine counts rows up to this many.
_MOST_ROWS = 1 << 62


def state_at(start: bytes, batches: int, rows: int, world: int) -> bytes | None:
    """The state after `batches` of `rows` rows on each of `world` ranks, from that before the first; None: there are
    never so many rows."""
    if batches * rows * world >= _MOST_ROWS:
        return None
    moved = _state_in(start)
    # A field that comes again replaces the earlier value.
    for field, value in ((_DELIVERED, batches), (_RANK, 0), (_WORLD, world + 1), (_BASE, batches * rows * world)):
        moved += _varint(field << 3 | _VARINT) + _varint(value)
    head = start[: start.index(bytes([_CHECKSUM << 3 | _FIXED32]))]
    checksum = bytes([_CHECKSUM << 3 | _FIXED32]) + struct.pack("<I", _crc32c(moved))
    return head + checksum + bytes([_STATE << 3 | _BYTES]) + _varint(len(moved)) + moved


def _state_in(sealed: bytes) -> bytes:
    at = sealed.index(bytes([_CHECKSUM << 3 | _FIXED32])) + 5
    assert sealed[at] == _STATE << 3 | _BYTES
    at += 1
    # The length, whose last byte has no mark.
    while sealed[at] & 0x80:
        at += 1
    return sealed[at + 1 :]


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _crc32c(data: bytes) -> int:
    checksum = 0xFFFFFFFF
    for byte in data:
        checksum ^= byte
        for _ in range(8):
            checksum = checksum >> 1 ^ (0x82F63B78 if checksum & 1 else 0)
    return checksum ^ 0xFFFFFFFF
