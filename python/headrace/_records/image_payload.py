"""The payload of an image record: 24 bytes of header, labels, and the image, as MXNet's readers expect them."""

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["ImagePayload", "image_header", "image_payload", "is_rounded"]

_HEADER = struct.Struct("<IfQQ")
_LABEL = struct.Struct("<f")
# More labels than any list has; a larger number is not a header.
_MOST_LABELS = 1 << 20


class ImagePayload(NamedTuple):
    """A parsed payload; the image is a view of it."""

    key: int
    labels: tuple[float, ...]
    encoded: memoryview


def is_rounded(label: float) -> bool:
    """Whether it is a whole number that float32 does not hold: of two classes it would make one."""
    if abs(label) <= 1 << 24 or not math.isfinite(label) or label != int(label):
        return False
    # Beyond 64 bits a float is a size, not a class.
    if isinstance(label, float) and abs(label) >= 1 << 64:
        return False
    try:
        return bool(_LABEL.unpack(_LABEL.pack(label))[0] != label)
    except (OverflowError, struct.error):
        return True


def image_header(key: int, labels: Sequence[float], packs_all: bool, first_in_header: bool) -> bytes:
    """What stands in front of the image.

    With `packs_all` all labels follow the header as float32; otherwise the first is the header's. `first_in_header` has
    it there in either case, as the C++ packer does.
    """
    if not packs_all:
        return _HEADER.pack(0, labels[0], key, 0)
    first = labels[0] if first_in_header else 0.0
    return _HEADER.pack(len(labels), first, key, 0) + struct.pack(f"<{len(labels)}f", *labels)


def image_payload(payload: bytes | memoryview) -> ImagePayload | None:
    """None: it is shorter than its header, or than the labels that the header claims."""
    if len(payload) < _HEADER.size:
        return None
    flag, label, key, _ = _HEADER.unpack_from(payload)
    begin = _HEADER.size + 4 * flag
    if flag > _MOST_LABELS or len(payload) < begin:
        return None
    labels = struct.unpack_from(f"<{flag}f", payload, _HEADER.size) if flag else (label,)
    return ImagePayload(key, labels, memoryview(payload)[begin:])
