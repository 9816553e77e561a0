"""`gzip_members` and `zstd_frames` make the bytes of compressed files for tests: the contents in several pieces, one
after the other. Python 3.11 has no zstd, so the frames hold their contents as they are."""

import gzip
import struct

# The most that a block of zstd holds.
_MOST = 128 << 10


def gzip_members(contents: bytes, pieces: int = 2) -> bytes:
    return b"".join(gzip.compress(piece, mtime=0) for piece in _cut(contents, pieces))


def zstd_frames(contents: bytes, pieces: int = 2) -> bytes:
    """With a skippable frame in front, as pzstd writes it."""
    skippable = struct.pack("<II", 0x184D2A50, 4) + b"head"
    return skippable + b"".join(_frame(piece) for piece in _cut(contents, pieces))


def _cut(contents: bytes, pieces: int) -> list[bytes]:
    size = len(contents) // pieces + 1
    return [contents[at : at + size] for at in range(0, max(1, len(contents)), size)]


def _frame(contents: bytes) -> bytes:
    # No checksum, no size, and a window of 128 KiB.
    header = struct.pack("<IBB", 0xFD2FB528, 0, 7 << 3)
    blocks = [contents[at : at + _MOST] for at in range(0, max(1, len(contents)), _MOST)]
    lasts = [False] * (len(blocks) - 1) + [True]
    return header + b"".join(
        struct.pack("<I", last | len(block) << 3)[:3] + block for block, last in zip(blocks, lasts, strict=True)
    )
