"""Lines of journals: JSON with its own CRC in front, so that a line counts only if it is whole."""

import json
import zlib
from typing import Any

__all__ = ["JOURNAL", "checked_line", "fields_of", "is_count", "parsed"]

JOURNAL = ".journal"
"""The ending of a journal's name, after the file's."""
# Of positions, rows and bytes.
_MOST = 1 << 62


def checked_line(fields: dict[str, Any]) -> bytes:
    text = json.dumps(fields).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def fields_of(line: bytes) -> dict[str, Any]:
    """Of a line without its end; empty: it was damaged. Anyone can compute a CRC: what is in it is checked before use."""
    crc, _, text = line.partition(b" ")
    return parsed(text) if crc == b"%08x" % zlib.crc32(text) else {}


def parsed(text: bytes) -> dict[str, Any]:
    """Empty: it is no JSON, or no dict."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST
