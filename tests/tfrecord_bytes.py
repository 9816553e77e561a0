"""TFRecord files and tf.train.Example by hand: a small second implementation of the format."""

import struct
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["crc_of", "example", "frame", "parsed", "payloads_of"]


def _table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = (number >> 1) ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_TABLE = _table()


def crc_of(data: bytes) -> int:
    """The masked CRC-32C."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def frame(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", crc_of(length)) + payload + struct.pack("<I", crc_of(payload))


def payloads_of(data: bytes) -> list[bytes]:
    """Of a file; checks both CRCs."""
    payloads, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        payload = data[at + 12 : at + 12 + length]
        assert frame(payload) == data[at : at + 16 + length]
        payloads.append(payload)
        at += 16 + length
    return payloads


# ---- the wire of protobuf ----


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    written = b""
    while value >= 0x80:
        written += bytes([value & 0x7F | 0x80])
        value >>= 7
    return written + bytes([value])


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _feature(values: Sequence[Any], kind: str, packed: bool) -> bytes:
    if kind == "bytes":
        return _field(1, b"".join(_field(1, value) for value in values))
    if kind == "float32":
        numbers = [struct.pack("<f", value) for value in values]
        tag, number = b"\x0d", 2
    else:
        numbers = [_varint(value) for value in values]
        tag, number = b"\x08", 3
    if not packed:
        return _field(number, b"".join(tag + each for each in numbers))
    return _field(number, _field(1, b"".join(numbers)) if numbers else b"")


def example(features: dict[str, tuple[str, Sequence[Any]]], packed: bool = True) -> bytes:
    """A message of features by name, each of a kind and its values, in the order given."""
    entries = b""
    for name, (kind, values) in features.items():
        entries += _field(1, _field(1, name.encode()) + _field(2, _feature(values, kind, packed)))
    return _field(1, entries)


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and contents: an int of a varint, else bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
            continue
        length = {1: 8, 5: 4}.get(kind) or varint()
        yield tag >> 3, message[at : at + length]
        at += length


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _list_of(kind: int, message: bytes) -> list[Any]:
    values: list[Any] = []
    for _, content in _fields(message):
        if kind == 1:
            values.append(content)
        elif kind == 2:
            values += [value for (value,) in struct.iter_unpack("<f", content)]
        elif isinstance(content, int):
            values.append(_signed(content))
        else:
            # A packed list is a row of varints.
            number = shift = 0
            for byte in content:
                number |= (byte & 0x7F) << shift
                shift = 0 if byte < 0x80 else shift + 7
                if byte < 0x80:
                    values.append(_signed(number))
                    number = 0
    return values


def parsed(message: bytes) -> dict[str, tuple[str, list[Any]]]:
    """The features of an Example in the order of its bytes."""
    found = {}
    for _, features in _fields(message):
        for _, entry in _fields(features):
            parts = dict(_fields(entry))
            ((kind, values),) = _fields(parts[2])
            found[parts[1].decode()] = (("bytes", "float32", "int64")[kind - 1], _list_of(kind, values))
    return found
