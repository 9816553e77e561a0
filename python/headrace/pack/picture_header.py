"""Format and size of an encoded picture, read from its first bytes: nothing is decoded."""

import struct
from typing import NamedTuple

__all__ = ["PictureHeader", "picture_header"]

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_HEADER = struct.Struct(">I4sII")
_JPEG_FRAME = struct.Struct(">xHH")
# Start of frame: all but the tables (C4), the extension (C8) and the conditioning (CC) in that range.
_JPEG_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}


class PictureHeader(NamedTuple):
    format: str
    """JPEG or PNG."""
    width: int
    height: int


def picture_header(data: bytes | memoryview) -> PictureHeader | None:
    """None: it is no JPEG or PNG, or its header is cut off."""
    start = bytes(data[:8])
    if start == _PNG:
        return _of_png(bytes(data[8:24]))
    return _of_jpeg(data) if start[:3] == b"\xff\xd8\xff" else None


def _of_png(chunk: bytes) -> PictureHeader | None:
    if len(chunk) < _PNG_HEADER.size:
        return None
    _, name, width, height = _PNG_HEADER.unpack(chunk)
    return PictureHeader("PNG", width, height) if name == b"IHDR" else None


def _of_jpeg(data: bytes | memoryview) -> PictureHeader | None:
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # fill
            at += 1
        elif marker in _JPEG_WITHOUT_LENGTH:
            at += 2
        elif marker in _JPEG_FRAMES:
            frame = bytes(data[at + 4 : at + 4 + _JPEG_FRAME.size])
            if len(frame) < _JPEG_FRAME.size:
                return None
            height, width = _JPEG_FRAME.unpack(frame)
            return PictureHeader("JPEG", width, height)
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
