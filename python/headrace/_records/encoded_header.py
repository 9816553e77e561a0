"""Format and size of an encoded image, as the engine reads them from its header: nothing is decoded."""

from typing import NamedTuple

from headrace import _engine

__all__ = ["EncodedHeader", "file_ending", "encoded_header"]

# As much as shows the format.
_START = 64


class EncodedHeader(NamedTuple):
    format: str
    """JPEG, PNG, WebP, GIF, TIFF, BMP or PNM."""
    width: int
    height: int


def encoded_header(data: bytes | memoryview) -> EncodedHeader | None:
    """None: it is of no format that is decoded, or its header cannot be read."""
    whole = bytes(data)
    known = _engine.encoded_format(whole)
    size = None if known is None else _engine.encoded_size(whole)
    if known is None or size is None:
        return None
    height, width = size
    return EncodedHeader(known[0], width, height)


def file_ending(data: bytes | memoryview) -> str:
    """Of a file of this format: .jpg, .png and so on; .bin for bytes of none that is decoded."""
    known = _engine.encoded_format(bytes(data[:_START]))
    return ".bin" if known is None else known[1]
