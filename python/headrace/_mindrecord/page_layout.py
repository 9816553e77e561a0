"""How rows lie in the pages of a MindRecord file.

The rows of one blob page are a row group, whose scalars lie in one raw page. Pages come in the order in which a stream
can write them: a raw page after the blob pages of its groups, when the next group does not fit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headrace.errors import GraphError

__all__ = [
    "LEAST_HEADER",
    "LEAST_PAGE",
    "MOST_HEADER",
    "MOST_PAGE",
    "Page",
    "header_size_for",
    "lay_out",
    "page_size_for",
]

LEAST_HEADER, MOST_HEADER = 16 << 10, 128 << 20
LEAST_PAGE, MOST_PAGE = 32 << 10, 256 << 20
_USUAL_PAGE = 32 << 20
# Pages of a file that is not small, about.
_PAGES = 256
_ALIGNMENT = 4096


@dataclass
class Page:
    """Rows are counted within the file."""

    is_raw: bool
    first: int
    end: int
    bytes: int
    # The number of a blob page's row group.
    group: int = 0
    # Of a raw page, each with the byte where it begins.
    groups: list[tuple[int, int]] = field(default_factory=list)

    def as_dict(self, number: int, file: int, raw_before: int) -> dict[str, Any]:
        """As headers have it; a raw page counts those before it."""
        groups = self.groups if self.is_raw else [(0, 0)]
        return {
            "end_row_id": 0 if self.is_raw else self.end,
            "page_id": number,
            "page_size": self.bytes,
            "page_type": "RAW_DATA" if self.is_raw else "BLOB_DATA",
            "page_type_id": raw_before if self.is_raw else self.group,
            "row_group_ids": [{"id": group, "offset": offset} for group, offset in groups],
            "shard_id": file,
            "start_row_id": 0 if self.is_raw else self.first,
        }


def lay_out(scalars: "np.ndarray[Any, Any]", blobs: "np.ndarray[Any, Any]", page_size: int) -> list[Page]:
    """Of rows of these lengths, none of which is longer than a page."""
    scalar_ends, blob_ends = np.cumsum(scalars), np.cumsum(blobs)
    pages: list[Page] = []
    raw = Page(True, 0, 0, 0)
    first = group = 0
    while first < len(scalars):
        scalar_begin = int(scalar_ends[first - 1]) if first else 0
        blob_begin = int(blob_ends[first - 1]) if first else 0
        end = int(
            min(
                np.searchsorted(scalar_ends, scalar_begin + page_size, "right"),
                np.searchsorted(blob_ends, blob_begin + page_size, "right"),
            )
        )
        scalar_bytes = int(scalar_ends[end - 1]) - scalar_begin
        if raw.bytes + scalar_bytes > page_size:
            pages.append(raw)
            raw = Page(True, first, first, 0)
        pages.append(Page(False, first, end, int(blob_ends[end - 1]) - blob_begin, group))
        raw.groups.append((group, raw.bytes))
        raw.bytes += scalar_bytes
        raw.end = first = end
        group += 1
    return [*pages, raw] if len(scalars) else []


def page_size_for(longest: int, most_bytes: int) -> int:
    """As small as the longest row allows, and large enough that a file of so many bytes has few pages."""
    size = LEAST_PAGE
    while size < _USUAL_PAGE and most_bytes > _PAGES * size:
        size *= 2
    return max(size, -(-longest // _ALIGNMENT) * _ALIGNMENT)


def header_size_for(texts: Sequence[bytes], of: str) -> int:
    """Twice what the longest header takes, so that rows can be appended."""
    needed = 8 + max(len(text) for text in texts)
    if needed > MOST_HEADER:
        raise GraphError(
            f"{of}: the list of pages takes {needed:,} bytes, and headers have at most {MOST_HEADER:,}: write more files"
        )
    size = LEAST_HEADER
    while size < min(2 * needed, MOST_HEADER):
        size *= 2
    return size
