"""Inspects a RecordIO file in one pass over its records: the headers of images are read, and nothing is decoded."""

import collections
from dataclasses import dataclass, field

from headrace._records.encoded_header import EncodedHeader, encoded_header
from headrace._records.image_payload import ImagePayload, image_payload
from headrace.pack.record_scan import LostBytes, RecordScan

__all__ = ["Inspection", "inspect_records"]


@dataclass
class Inspection:
    """Sums over the records of a file."""

    path: str
    file_bytes: int
    records: int = 0
    payload_bytes: int = 0
    smallest: int = 0
    largest: int = 0
    images: collections.Counter[str] = field(default_factory=collections.Counter)
    """Records by the format of their image."""
    widths: collections.Counter[int] = field(default_factory=collections.Counter)
    heights: collections.Counter[int] = field(default_factory=collections.Counter)
    shorter_edges: collections.Counter[int] = field(default_factory=collections.Counter)
    label_counts: collections.Counter[int] = field(default_factory=collections.Counter)
    """Image records by their number of labels."""
    labels: collections.Counter[float] = field(default_factory=collections.Counter)
    """Image records by their first label."""
    without_image: int = 0
    """Records of other bytes, or whose image is of no format that is decoded, or has no header that can be read."""
    offsets: list[int] = field(default_factory=list)
    """Of the records' heads."""
    lost: list[LostBytes] = field(default_factory=list)

    @property
    def has_images(self) -> bool:
        return sum(self.images.values()) > 0


def inspect_records(path: str) -> Inspection:
    """Goes on after damage, which it lists. NotFoundError if there is no such file."""
    scan = RecordScan(path)
    found = Inspection(path, scan.file_bytes)
    for record in scan:
        size = len(record.payload)
        found.smallest = size if found.records == 0 else min(found.smallest, size)
        found.largest = max(found.largest, size)
        found.records += 1
        found.payload_bytes += size
        found.offsets.append(record.offset)
        _count(found, record.payload)
    found.lost = scan.lost
    return found


def _count(found: Inspection, payload: memoryview) -> None:
    image = image_payload(payload)
    header = None if image is None else encoded_header(image.encoded)
    if image is None or header is None:
        found.without_image += 1
        return
    _count_image(found, image, header)


def _count_image(found: Inspection, image: ImagePayload, header: EncodedHeader) -> None:
    found.images[header.format] += 1
    found.widths[header.width] += 1
    found.heights[header.height] += 1
    found.shorter_edges[min(header.width, header.height)] += 1
    found.label_counts[len(image.labels)] += 1
    found.labels[image.labels[0]] += 1
